import { useRef, useState } from 'react';
import type { CombinedError } from 'urql';
import type { LiveKind } from '../../live/live-context.tsx';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { freshClient } from './fresh-client.ts';
import { EARLIER_MESSAGES, type OpenThread, THREAD, type ThreadMessage } from './thread-documents.ts';

/** Messages per page. */
const MESSAGES = 50;

const KINDS: LiveKind[] = [
  'EMAIL_THREADED',
  'EMAIL_READ',
  'EMAIL_UNREAD',
  'EMAIL_ARCHIVED',
  'EMAIL_UNARCHIVED',
  'EMAIL_SENT',
  'EMAIL_DELIVERED',
  'EMAIL_DELAYED',
  'EMAIL_BOUNCED',
  'EMAIL_FAILED',
  'EMAIL_COMPLAINED',
  'EMAIL_REPROCESSED',
  'THREAD_MERGED',
  'THREAD_RENUMBERED',
  'THREAD_SPLIT',
  'THREAD_MOVED',
  'THREAD_READ',
  'THREAD_UNREAD',
  'THREAD_ARCHIVED',
  'THREAD_UNARCHIVED',
  'THREAD_LABELLED',
];

/** A thread, updated live. */
export interface ThreadInSight {
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
  const shown = useRef<{ id: string; messages: ThreadMessage[] }>({ id, messages: [] });
  const { data, error, refresh } = useLiveQuery({
    query: THREAD,
    variables: { id, last: MESSAGES },
    kinds: KINDS,
    types: ['Thread'],
    concerns: ({ threadId, emailId }) =>
      threadId === id ||
      threadId === shown.current.id ||
      shown.current.messages.some((message) => message.id === emailId),
  });
  const [earlier, setEarlier] = useState<ThreadMessage[]>([]);
  const [before, setBefore] = useState<string | null>(null);
  const [isReadingEarlier, setReading] = useState(false);
  const thread = data?.thread;
  const newest = (thread?.messages.edges ?? []).map(({ node }) => node);

  // Messages that are no longer among the newest stay visible. Those that left the thread do not.
  const known = new Map([...earlier, ...newest].map((message) => [message.id, message]));
  const messages = [...known.values()]
    .sort((one, other) => placeOf(one) - placeOf(other))
    .slice(-(thread?.messageCount ?? 1));
  shown.current = { id: thread?.id ?? id, messages };

  const showEarlier = async () => {
    const cursor = before ?? thread?.messages.pageInfo.startCursor ?? null;
    if (cursor === null) return;
    setReading(true);
    const answer = await freshClient.query(EARLIER_MESSAGES, { id, before: cursor, last: MESSAGES }).toPromise();
    setReading(false);
    const page = answer.data?.thread?.messages;
    if (page === undefined) return;
    setBefore(page.pageInfo.startCursor ?? cursor);
    setEarlier((now) => [...page.edges.map(({ node }) => node), ...now]);
  };
  return {
    thread,
    messages,
    earlierCount: Math.max(0, (thread?.messageCount ?? 0) - messages.length),
    error,
    refresh,
    showEarlier,
    isReadingEarlier,
  };
}

function placeOf({ threadPosition, createdAt }: ThreadMessage): number {
  return threadPosition ?? Date.parse(createdAt);
}
