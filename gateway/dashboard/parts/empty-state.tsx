import { Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Empty state of a page: the reason and the next step. */
export function EmptyState({
  icon: Icon,
  title,
  about,
  children,
}: {
  icon: typeof IconInbox;
  title: string;
  about: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Paper withBorder p="xl" radius="md" bg="var(--postroom-raised)">
      <Stack align="center" gap="sm" maw={640} mx="auto" py="lg">
        <ThemeIcon variant="light" size={56} radius="xl" aria-hidden>
          <Icon size={28} stroke={1.5} />
        </ThemeIcon>
        <Title order={2} ta="center">
          {title}
        </Title>
        <Text c="dimmed" ta="center">
          {about}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
