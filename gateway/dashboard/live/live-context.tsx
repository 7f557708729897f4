import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useState } from 'react';
import { type LiveEvent, type LiveEvents, type LiveState, openLiveEvents } from './live-events.ts';

const LiveContext = createContext<LiveEvents | null>(null);

/** Gives the parts inside it the events of one user; anew when `round` is another. */
export function LiveProvider({
  userId,
  start,
  round = 0,
  children,
}: {
  userId: string;
  start: string | null;
  round?: number;
  children: ReactNode;
}) {
  const [live, setLive] = useState<LiveEvents | null>(null);
  useEffect(() => {
    const opened = openLiveEvents(userId, start);
    setLive(opened);
    return () => opened.close();
  }, [userId, start, round]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** The kinds of events, as `EMAIL_RECEIVED`. */
export type LiveKind = LiveEvent['kind'];

/**
 * Calls back on each event of these kinds (`all`: of any), and, with null, when events may have been missed. The callback may change from
 * one rendering to the next.
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

/** Whether events come as they happen. */
export function useLiveState(): LiveState {
  const live = useContext(LiveContext);
  const [state, setState] = useState<LiveState>('connecting');
  useEffect(() => live?.watchState(setState), [live]);
  return state;
}
