import { type ReactNode, useEffectEvent, useLayoutEffect } from 'react';
import { ThreadView } from './thread-view.tsx';
import type { Inbox } from './use-inbox.ts';
import { useThread } from './use-thread.ts';

/** The open conversation. */
export function Reading({ inbox, threadId, waiting }: { inbox: Inbox; threadId: string; waiting: ReactNode }) {
  const { view, go, pathOf, acts } = inbox;
  const inSight = useThread(threadId);
  const { thread, messages } = inSight;
  const answeredId = (messages.findLast(({ type }) => type === 'RECEIVED') ?? messages.at(-1))?.id ?? null;
  const report = useEffectEvent(() => {
    if (thread !== undefined) inbox.reportOpened({ threadId, thread, answeredId });
  });
  useLayoutEffect(() => report(), [thread, answeredId]);
  return (
    <ThreadView
      inSight={inSight}
      waiting={waiting}
      labels={inbox.frame?.labels ?? []}
      acts={acts}
      isLabelling={inbox.isLabelling && inbox.selected.length === 0}
      setLabelling={inbox.setLabelling}
      isSnoozing={inbox.isSnoozing && inbox.selected.length === 0}
      setSnoozing={inbox.setSnoozing}
      back={inbox.back}
      backHref={pathOf({ threadId: null })}
      compose={(composing) => go({ compose: composing })}
      opened={(id) => go({ threadId: id })}
      isAnswering={view.compose !== null && view.compose.mode !== 'new'}
    />
  );
}
