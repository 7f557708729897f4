import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useState } from 'react';
import { type LiveEvent, type LiveEvents, type LiveState, openLiveEvents } from './live-events.ts';

const LiveContext = createContext<LiveEvents | null>(null);

interface LiveProviderProps {
  workspaceId: string;
  start: string | null;
  hasOwnMarks: boolean;
  round?: number;
  children: ReactNode;
}

/** Provides the live events of one user, and with `hasOwnMarks` what the person marks as read elsewhere. A new `round` restarts the feed. */
export function LiveProvider({ workspaceId, start, hasOwnMarks, round = 0, children }: LiveProviderProps) {
  const [live, setLive] = useState<LiveEvents | null>(null);
  useEffect(() => {
    const opened = openLiveEvents(workspaceId, start, hasOwnMarks);
    setLive(opened);
    return () => opened.close();
  }, [workspaceId, start, hasOwnMarks, round]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** Event kinds, such as `EMAIL_RECEIVED`. */
export type LiveKind = LiveEvent['kind'];

/** Kinds of events about conversations and their messages, by what changes. */
export const CHANGES = {
  read: ['EMAIL_READ', 'EMAIL_UNREAD', 'THREAD_READ', 'THREAD_UNREAD'],
  archived: ['EMAIL_ARCHIVED', 'EMAIL_UNARCHIVED', 'THREAD_ARCHIVED', 'THREAD_UNARCHIVED'],
  grouped: ['THREAD_MERGED', 'THREAD_SPLIT', 'THREAD_MOVED'],
  trashed: ['THREAD_TRASHED', 'THREAD_RESTORED'],
  snoozed: ['THREAD_SNOOZED', 'THREAD_RETURNED'],
  held: ['EMAIL_BLOCKED', 'EMAIL_HELD', 'EMAIL_RELEASED'],
  delivered: ['EMAIL_DELIVERED', 'EMAIL_DELAYED', 'EMAIL_BOUNCED', 'EMAIL_FAILED', 'EMAIL_COMPLAINED'],
} as const satisfies Record<string, readonly LiveKind[]>;

/**
 * Calls the callback for each event of these kinds (`all`: every event), and with null if events may have been missed. The callback may change
 * between renders.
 */
export function useLive(kinds: readonly LiveKind[] | 'all', onEvent: (event: LiveEvent | null) => void): void {
  const live = useContext(LiveContext);
  const tell = useEffectEvent((event: LiveEvent | null) => {
    if (event === null || kinds === 'all' || kinds.includes(event.kind)) onEvent(event);
  });
  useEffect(() => {
    if (live === null) return;
    const ends = [live.listen((event) => tell(event)), live.listenForGap(() => tell(null))];
    return () => {
      for (const end of ends) end();
    };
  }, [live]);
}

/** Returns the state of the event connection. */
export function useLiveState(): LiveState {
  const live = useContext(LiveContext);
  const [state, setState] = useState<LiveState>('connecting');
  useEffect(() => live?.watchState(setState), [live]);
  return state;
}
