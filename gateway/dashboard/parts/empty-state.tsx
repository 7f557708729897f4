import { Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { IconType } from './icons.ts';

/** Empty state of a page: the reason and the next step. */
export function EmptyState({
  icon: Icon,
  title,
  about,
  children,
}: {
  icon: IconType;
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
