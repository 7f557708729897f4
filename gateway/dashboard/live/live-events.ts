import { createClient } from 'graphql-sse';
import { endSession, GRAPHQL_URL } from '../client.ts';
import { graphql, type ResultOf } from '../graphql.ts';

const EVENTS = graphql(`
  subscription DashboardEvents($after: String) {
    events(after: $after) { cursor kind at emailId threadId deliveryId endpointId domainId data }
  }
`);

/** The text is what is sent; the parsed document is for types. */
const EVENTS_TEXT = `subscription DashboardEvents($after: String) {
  events(after: $after) { cursor kind at emailId threadId deliveryId endpointId domainId data }
}`;

/** Something that happened, with the ids of what it happened to. */
export type LiveEvent = ResultOf<typeof EVENTS>['events'];

/** `live`: events come as they happen; `waiting`: the connection is gone and is tried again. */
export type LiveState = 'connecting' | 'live' | 'waiting';

type Message = { kind: 'event'; event: LiveEvent } | { kind: 'state'; state: LiveState } | { kind: 'ask' };

/** Waits between tries; the last one is repeated. Milliseconds. */
const BACKOFF_MS = [250, 1_000, 2_000, 5_000, 10_000];
const UNAUTHORIZED = 401;

/** The events of one user in this tab. */
export interface LiveEvents {
  listen(listener: (event: LiveEvent) => void): () => void;
  /** told at once and on each change */
  watchState(listener: (state: LiveState) => void): () => void;
  /** told when events may have been missed, so that what is shown has to be read again */
  listenForGap(listener: () => void): () => void;
  close(): void;
}

/**
 * Opens the feed behind the cursor `start` (null: with what happens next). Of all tabs of this user one holds the subscription and hands its events to the others, because a browser opens six
 * connections to a server at most. When that tab goes, another takes over behind the last event that it saw, so that none is missed.
 * Browsers give out locks on https and on localhost only; elsewhere each tab has a subscription of its own.
 */
export function openLiveEvents(userId: string, start: string | null): LiveEvents {
  const name = `postroom-events-${userId}`;
  const channel = new BroadcastChannel(name);
  const listeners = new Set<(event: LiveEvent) => void>();
  const watchers = new Set<(state: LiveState) => void>();
  const ending = new AbortController();
  const gapListeners = new Set<() => void>();
  let cursor = start;
  let state: LiveState = 'connecting';
  let isLeader = false;

  const setState = (next: LiveState) => {
    if (next !== state) for (const watcher of watchers) watcher(next);
    state = next;
    if (isLeader) channel.postMessage({ kind: 'state', state } satisfies Message);
  };
  // Without a cursor to begin at, something may have happened before the subscription stood.
  const tellGap = () => {
    if (cursor === null) for (const listener of gapListeners) listener();
  };
  const receive = (event: LiveEvent) => {
    cursor = event.cursor;
    for (const listener of listeners) listener(event);
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'event') receive(data.event);
    else if (data.kind === 'ask' && isLeader) channel.postMessage({ kind: 'state', state } satisfies Message);
    else if (data.kind === 'state' && !isLeader) {
      const isNews = data.state === 'live' && state !== 'live';
      setState(data.state);
      if (isNews) tellGap();
    }
  });
  channel.postMessage({ kind: 'ask' } satisfies Message);

  const opened = () => {
    setState('live');
    tellGap();
  };
  const lead = async () => {
    isLeader = true;
    for (let failures = 0; !ending.signal.aborted; ) {
      try {
        for await (const event of subscribe(cursor, ending.signal, opened)) {
          failures = 0;
          channel.postMessage({ kind: 'event', event } satisfies Message);
          receive(event);
        }
      } catch (error) {
        if (isUnauthorized(error)) return endSession();
      }
      if (ending.signal.aborted) return;
      setState('waiting');
      await pause(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)] ?? 0, ending.signal);
    }
  };
  if (navigator.locks === undefined) void lead();
  else navigator.locks.request(name, { signal: ending.signal }, lead).catch(() => undefined);

  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    watchState(watcher) {
      watcher(state);
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    listenForGap(listener) {
      gapListeners.add(listener);
      return () => void gapListeners.delete(listener);
    },
    close() {
      ending.abort();
      channel.close();
    },
  };
}

/** One subscription, until it ends or fails. Throws the response's error. */
async function* subscribe(after: string | null, signal: AbortSignal, onOpen: () => void): AsyncGenerator<LiveEvent> {
  const sse = createClient({ url: GRAPHQL_URL, credentials: 'same-origin', retryAttempts: 0 });
  const results = sse.iterate<{ events: LiveEvent }>(
    { query: EVENTS_TEXT, variables: { after } },
    { connected: onOpen },
  );
  const stop = () => void results.return?.();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const result of results) {
      // The last answer of a stream that the service ends: it is asked again, behind the cursor.
      if (result.errors !== undefined && result.errors.length > 0) return;
      if (result.data) yield result.data.events;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    sse.dispose();
  }
}

function isUnauthorized(error: unknown): boolean {
  return (error as { response?: { status?: number } } | null)?.response?.status === UNAUTHORIZED;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      window.removeEventListener('online', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
    // Back on the net: no reason to wait.
    window.addEventListener('online', end);
  });
}
