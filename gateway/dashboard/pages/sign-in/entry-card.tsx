import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import classes from './entry-card.module.css';

/** Layout of the pages before sign-in: the name of the service, and one card. */
export function EntryCard({
  title,
  about,
  children,
  below,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
  /** links below the card */
  below?: ReactNode;
}) {
  useDocumentTitle(`${title} · Postroom`);
  return (
    <main className={classes.page}>
      <Group gap="sm">
        <img src="/postroom.svg" alt="" width={40} height={40} />
        <Text fw={700} fz={24} lts="-0.01em">
          Postroom
        </Text>
      </Group>
      <Paper className={classes.card} withBorder shadow="md" radius="lg" p={{ base: 'lg', xs: 'xl' }}>
        <Stack gap="md">
          <Stack gap={4}>
            <Title order={1} className="postroom-wrap">
              {title}
            </Title>
            {about !== undefined && (
              <Text c="dimmed" size="sm" component="div" role="status" className="postroom-wrap">
                {about}
              </Text>
            )}
          </Stack>
          {children}
        </Stack>
      </Paper>
      {below !== undefined && (
        <Text size="sm" c="dimmed" ta="center" component="div">
          {below}
        </Text>
      )}
    </main>
  );
}
