import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** One section of the settings, with its actions to the right of the heading. */
export function Section({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Paper withBorder p="lg" bg="var(--postroom-raised)" component="section" aria-label={title}>
      <Stack>
        <Group justify="space-between" align="flex-start" gap="sm">
          <Stack gap={2} flex="1 1 16rem">
            <Title order={2}>{title}</Title>
            {about !== undefined && (
              <Text size="sm" c="dimmed">
                {about}
              </Text>
            )}
          </Stack>
          {actions}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
