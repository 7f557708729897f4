import { Group, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of a page with a heading; `aside` is shown to the right of the heading. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <Paper component="section" aria-label={title} withBorder p="md" bg="var(--postroom-raised)">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2}>{title}</Title>
          {aside}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
