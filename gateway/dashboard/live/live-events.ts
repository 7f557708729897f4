import { createClient } from 'graphql-sse';
import { GRAPHQL_URL, reportSession, workspaceHeaders } from '../client.ts';
import { graphql, type ResultOf } from '../graphql.ts';

const EVENTS = `subscription DashboardEvents($after: String) {
  events(after: $after) { cursor kind at emailId threadId deliveryId endpointId domainId data }
}`;
const MARKS = 'subscription DashboardMarks { readByMe { threadIds isRead } }';

/** The texts are sent; the parsed documents provide the types. */
const PARSED = { events: graphql(EVENTS), marks: graphql(MARKS) };

/** An event with the ids of its objects. */
export type LiveEvent = ResultOf<(typeof PARSED)['events']>['events'];

/** What the person marked as read or unread in any session; null: all threads. */
type OwnMark = ResultOf<(typeof PARSED)['marks']>['readByMe'];
const EVERYTHING: OwnMark = { threadIds: null, isRead: true };
/** Some thread may have been marked, which one is not known. */
const SOMETHING = 'something';

/** `live`: connected; `waiting`: the connection was lost and is retried. */
export type LiveState = 'connecting' | 'live' | 'waiting';

type Message =
  | { kind: 'event'; event: LiveEvent }
  | { kind: 'mark'; mark: OwnMark | typeof SOMETHING }
  | { kind: 'state'; state: LiveState }
  | { kind: 'ask' };

/** Delays between connection attempts; the last one repeats. Milliseconds. */
const BACKOFF_MS = [250, 1_000, 2_000, 5_000, 10_000];

/** Event feed of one user in this tab. */
export interface LiveEvents {
  listen(listener: (event: LiveEvent) => void): () => void;
  /** called at once and on each change */
  watchState(listener: (state: LiveState) => void): () => void;
  /** called when events may have been missed, so that shown data must be reloaded */
  listenForGap(listener: () => void): () => void;
  close(): void;
}

/**
 * Opens the feed after the cursor `start` (null: with new events). One tab of the user subscribes and passes events to the other tabs, because browsers open at most six
 * connections per server. When that tab closes, another one continues after the last event it saw, so that no event is missed.
 * Browsers support locks only on https and localhost; elsewhere each tab subscribes. With `hasOwnMarks`, what the person marks as read in other
 * sessions is told as events of these threads, without a cursor.
 */
export function openLiveEvents(workspaceId: string, start: string | null, hasOwnMarks: boolean): LiveEvents {
  const name = `postroom-events-${workspaceId}`;
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
  // Without a start cursor, events before the subscription may have been missed.
  const tellGap = () => {
    if (cursor === null) for (const listener of gapListeners) listener();
  };
  const receive = (event: LiveEvent) => {
    cursor = event.cursor;
    for (const listener of listeners) listener(event);
  };
  const receiveMark = (mark: OwnMark | typeof SOMETHING) => {
    const { threadIds, isRead } = mark === SOMETHING ? { threadIds: [null], isRead: false } : mark;
    if (threadIds === null) for (const listener of gapListeners) listener();
    for (const threadId of threadIds ?? []) {
      const event = eventOfMark(threadId, isRead);
      for (const listener of listeners) listener(event);
    }
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'event') receive(data.event);
    else if (data.kind === 'mark') receiveMark(data.mark);
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
  /** Subscribes to the own marks, and again when the subscription is lost. What was marked before is read again with everything. */
  const followMarks = async () => {
    for (let failures = 0, missed: Parameters<typeof receiveMark>[0] = SOMETHING; !ending.signal.aborted; ) {
      try {
        const marks = subscribe<{ readByMe: OwnMark }>({ query: MARKS }, ending.signal, () => {
          failures = 0;
          // Marks have no cursor: those between the load of the page, or the loss, and now are told to no one.
          channel.postMessage({ kind: 'mark', mark: missed } satisfies Message);
          receiveMark(missed);
          missed = EVERYTHING;
        });
        for await (const { readByMe: mark } of marks) {
          channel.postMessage({ kind: 'mark', mark } satisfies Message);
          receiveMark(mark);
        }
      } catch {
        // The feed of events tells that the session ended.
      }
      await pause(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)] ?? 0, ending.signal);
    }
  };
  const lead = async () => {
    isLeader = true;
    if (hasOwnMarks) void followMarks();
    for (let failures = 0; !ending.signal.aborted; ) {
      try {
        const events = subscribe<{ events: LiveEvent }>(
          { query: EVENTS, variables: { after: cursor } },
          ending.signal,
          opened,
        );
        for await (const { events: event } of events) {
          failures = 0;
          channel.postMessage({ kind: 'event', event } satisfies Message);
          receive(event);
        }
      } catch (error) {
        // It begins again when the page goes on.
        if (await tellsOfSession(error)) return;
      }
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- may be aborted while events are read
      if (ending.signal.aborted) return;
      setState('waiting');
      await pause(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)] ?? 0, ending.signal);
    }
  };
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- missing where the page is not from a secure origin
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

/** Returns the own mark of a thread as an event of it; null: of any. */
function eventOfMark(threadId: string | null, isRead: boolean): LiveEvent {
  return {
    kind: isRead ? 'THREAD_READ' : 'THREAD_UNREAD',
    threadId,
    cursor: '',
    at: new Date().toISOString(),
    emailId: null,
    deliveryId: null,
    endpointId: null,
    domainId: null,
    data: {},
  };
}

/** Yields the results of one subscription until it ends or fails. Throws the error of the response. */
export async function* subscribe<Data extends Record<string, unknown>>(
  request: { query: string; variables?: Record<string, unknown> },
  signal: AbortSignal,
  onOpen: () => void = () => undefined,
): AsyncGenerator<Data> {
  const sse = createClient({
    url: GRAPHQL_URL,
    credentials: 'same-origin',
    headers: workspaceHeaders,
    retryAttempts: 0,
  });
  const results = sse.iterate<Data>(request, { connected: onOpen });
  const stop = () => void results.return?.();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const result of results) {
      // The service ended the stream. Subscribe again after the cursor.
      if (result.errors !== undefined && result.errors.length > 0) return;
      if (result.data) yield result.data;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    sse.dispose();
  }
}

/** Reports what the response to a subscription tells about the session. Returns whether that serves the page no more. */
async function tellsOfSession(error: unknown): Promise<boolean> {
  const { response } = error as { response?: Response };
  if (response === undefined) return false;
  const body = (await response.json().catch(() => null)) as { errors?: { extensions?: { reason?: string } }[] } | null;
  return reportSession(
    response.status,
    body?.errors?.map(({ extensions }) => extensions?.reason),
  );
}

/** Resolves after a time, when the browser is online again, or when the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      window.removeEventListener('online', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
    // The browser is online again, so retry now.
    window.addEventListener('online', end);
  });
}
