import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { setPageTitle } from './tab-title.ts';

/** Heading of a page, also used as the tab title. `children` are the actions at its right. */
export function PageHeader({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  useEffect(() => setPageTitle(title), [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      <Stack gap={2}>
        <Title order={1} className="postroom-wrap">
          {title}
        </Title>
        {about !== undefined && (
          <Text c="dimmed" size="sm" maw="65ch">
            {about}
          </Text>
        )}
      </Stack>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
