import { Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { IconMail } from '../../parts/icons.ts';
import style from './inbox.module.css';
import type { Inbox } from './use-inbox.ts';

// The list is shown before the code of a conversation is loaded.
const Reading = lazy(async () => ({ default: (await import('./reading.tsx')).Reading }));

/** The open conversation, or a hint to open one. */
export function ReadingPane({ inbox }: { inbox: Inbox }) {
  const { threadId } = inbox.view;
  return (
    <section
      className={`${style['pane']} ${style['reading']}`}
      aria-label="Conversation"
      data-reading={threadId !== null || undefined}
    >
      {threadId === null ? (
        <NothingOpen />
      ) : (
        <Suspense fallback={<div aria-busy />}>
          <Reading key={threadId} inbox={inbox} threadId={threadId} />
        </Suspense>
      )}
    </section>
  );
}

function NothingOpen() {
  return (
    <Stack align="center" justify="center" gap="xs" h="100%" p="md">
      <IconMail size={36} stroke={1.3} aria-hidden />
      <Text fw={600}>No conversation selected</Text>
      <Text size="sm" c="dimmed" ta="center">
        Choose a conversation from the list. Press ? to see the keyboard shortcuts.
      </Text>
    </Stack>
  );
}
