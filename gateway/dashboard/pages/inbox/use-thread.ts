import { useRef, useState } from 'react';
import type { CombinedError } from 'urql';
import { freshClient } from '../../client.ts';
import { CHANGES, type LiveKind } from '../../live/live-context.tsx';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { type MessageEdge, withEarlierMessages, withNewestMessages } from './message-pages.ts';
import { useReadEarly } from './read-early.ts';
import { EARLIER_MESSAGES, MESSAGES, type OpenThread, THREAD, type ThreadMessage } from './thread-documents.ts';

const KINDS: LiveKind[] = [
  ...Object.values(CHANGES).flat(),
  'EMAIL_THREADED',
  'EMAIL_SENT',
  'EMAIL_REPROCESSED',
  'THREAD_RENUMBERED',
  'THREAD_LABELLED',
  'THREAD_DELETED',
  'THREAD_ASSIGNED',
  'THREAD_CLAIMED',
  'THREAD_RELEASED',
];

/** A thread, updated live. */
interface ThreadInSight {
  /** null: it does not exist; undefined: loading */
  thread: OpenThread | null | undefined;
  /** loaded messages, oldest first */
  messages: ThreadMessage[];
  /** number of messages before the loaded ones */
  earlierCount: number;
  error: CombinedError | undefined;
  refresh: () => void;
  showEarlier: () => Promise<void>;
  isReadingEarlier: boolean;
}

/** Reads a thread by its id, or by the id of a thread that was merged into it, and again after its events. */
export function useThread(id: string): ThreadInSight {
  const shown = useRef<{ id: string; edges: MessageEdge[] }>({ id, edges: [] });
  const { data, error, refresh } = useLiveQuery({
    query: THREAD,
    variables: { id, last: MESSAGES },
    kinds: KINDS,
    // A person who reads a conversation in a team marks it twice: for the person, and for the workspace.
    joins: CHANGES.read,
    isFresh: useReadEarly(id),
    types: ['Thread'],
    concerns: ({ threadId, emailId }) =>
      (threadId === null && emailId === null) ||
      threadId === id ||
      threadId === shown.current.id ||
      shown.current.edges.some(({ node }) => node.id === emailId),
  });
  const [isReadingEarlier, setReading] = useState(false);
  const thread = data?.thread;
  shown.current = {
    id: thread?.id ?? id,
    edges: withNewestMessages(shown.current.edges, thread?.messages.edges ?? []),
  };
  const { edges } = shown.current;

  const showEarlier = async () => {
    const before = shown.current.edges[0]?.cursor;
    if (before === undefined) return;
    setReading(true);
    const result = await freshClient.query(EARLIER_MESSAGES, { id, before, last: MESSAGES }).toPromise();
    const earlier = result.data?.thread?.messages.edges ?? [];
    shown.current.edges = withEarlierMessages(shown.current.edges, before, earlier);
    setReading(false);
  };
  return {
    thread,
    messages: edges.map(({ node }) => node),
    earlierCount: Math.max(0, (thread?.messageCount ?? 0) - edges.length),
    error,
    refresh,
    showEarlier,
    isReadingEarlier,
  };
}
