import { encodeEventCursor } from '../../core/events/event-cursor.ts';
import type { EventKind } from '../../core/events/event-kinds.ts';
import { isTransient } from '../../db/errors.ts';
import type { EventsAhead, EventsRequest, FeedEvent } from '../../db/queries/events/event-list.ts';
import type { Caller } from '../caller.ts';

/**
 * Why a stream ends without being closed by its reader: the reader is slower than the events, the process is stopping, or its key or
 * session is no longer valid. In the first two cases the reader may reconnect with the cursor.
 */
export type StreamEnd = 'TOO_FAR_BEHIND' | 'GOING_AWAY' | 'UNAUTHORIZED';

/** Result of a pull; `cursor` is the reader's position afterwards. */
type Pulled =
  | { kind: 'events'; events: FeedEvent[]; cursor: string }
  /** no event arrived within the waiting time */
  | { kind: 'nothing'; cursor: string }
  | { kind: 'ended'; reason: StreamEnd; cursor: string }
  /** the reader was closed */
  | { kind: 'closed' };

/** A position in a user's feed that advances. Events are not buffered: what the reader has not pulled stays in the database. */
export interface EventReader {
  /**
   * Returns the next events, at most one page; waits until there are some, or for `waitMs` milliseconds. Pull once at a time. Throws when
   * events cannot be read.
   */
  pull(waitMs?: number): Promise<Pulled>;
  /** Returns the position: after the last event that was returned or skipped because of its kind. */
  cursor(): string;
  /** Closes the reader; a running pull returns `closed`. */
  close(): void;
}

export interface ReaderOptions {
  /** the number of the event after which it starts */
  afterSeq: number;
  /** null: every kind */
  kinds: readonly EventKind[] | null;
  caller: Caller;
}

/** The feed of one user, shared by its readers in a process. */
export interface WatchedFeed {
  workspaceId: string;
  /** number of the newest known event; 0 while unknown */
  lastSeq: number;
  /** incremented with each announcement */
  version: number;
  /** Resolves when the version changes, and when the reader is nudged or leaves. */
  changed(version: number, reader: HeldReader): Promise<void>;
  /** Makes a waiting reader check the feed. */
  nudge(reader: HeldReader): void;
  read(input: EventsRequest, version: number): Promise<EventsAhead>;
  leave(reader: HeldReader): void;
}

/** A reader as the hub sees it. */
export interface HeldReader extends EventReader {
  caller: Caller;
  /** Ends the reader at its next pull; if there is none, its connection is closed later. */
  end(reason: StreamEnd, now: number): void;
  /** Ends the reader as soon as it has reached this event number. */
  endBehind(seq: number): void;
  /** Checks the reader's progress; `now` is performance.now(). Returns a problem when one is detected. */
  look(now: number): 'too slow' | 'abandoned' | null;
  /** whether a pull is waiting although the feed has later events */
  hasMissed(): boolean;
}

const PAGE_SIZE = 100;
/** A reader is too slow when it is this many events farther behind than at its best. */
const MAX_BEHIND = 1_000;
/** A reader that has not pulled its end for this long is gone. Milliseconds. */
const ABANDONED_MS = 30_000;

/** Opens a reader; the hub must call `look` every few seconds. */
export function openReader(feed: WatchedFeed, { afterSeq, kinds, caller }: ReaderOptions): HeldReader {
  let position = afterSeq;
  let hasMore = true;
  let ended: { reason: StreamEnd; at: number } | null = null;
  let lastOfAll: number | null = null;
  let isClosed = false;
  let isTold = false;
  let isAsking = false;
  let isWaiting = false;
  // The smallest lag so far, and the lag at the last check if it was too large.
  let nearest = Number.POSITIVE_INFINITY;
  let lastLag: number | null = null;

  const cursor = () => encodeEventCursor(feed.workspaceId, position);

  function outcome(): Pulled | null {
    if (isClosed) return { kind: 'closed' };
    if (ended === null && lastOfAll !== null && position >= lastOfAll) ended = { reason: 'GOING_AWAY', at: 0 };
    if (ended === null) return null;
    isTold = true;
    feed.leave(reader);
    return { kind: 'ended', reason: ended.reason, cursor: cursor() };
  }

  async function next(isLate: () => boolean): Promise<Pulled> {
    for (;;) {
      const over = outcome();
      if (over !== null) return over;
      const { version } = feed;
      if (hasMore || feed.lastSeq > position) {
        const ahead = await feed.read({ after: position, kinds, limit: PAGE_SIZE }, version).catch((error: unknown) => {
          if (!isTransient(error)) throw error;
          return null;
        });
        // A credential that was revoked meanwhile gets nothing that happened since, whenever the hub notices.
        if (ahead !== null && ahead.events.length > 0 && !(await isAllowed())) {
          ended ??= { reason: 'UNAUTHORIZED', at: performance.now() };
          continue;
        }
        if (ahead !== null) {
          feed.lastSeq = Math.max(feed.lastSeq, ahead.lastSeq);
          position = ahead.scannedTo;
          hasMore = position < ahead.lastSeq;
          nearest = Math.min(nearest, ahead.lastSeq - position);
          if (ahead.events.length > 0 && !isClosed) return { kind: 'events', events: ahead.events, cursor: cursor() };
          if (hasMore) continue;
        }
        // While the process is stopping, a reader gets nothing beyond this.
        if (lastOfAll !== null) lastOfAll = Math.min(lastOfAll, position);
      }
      if (outcomeIsDue()) continue;
      if (isLate()) return { kind: 'nothing', cursor: cursor() };
      isWaiting = true;
      await feed.changed(version, reader);
      isWaiting = false;
    }
  }

  /** While PostgreSQL is unreachable, what was true before counts: nothing can have changed. */
  const isAllowed = () =>
    caller.isAllowed().catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      return true;
    });

  const outcomeIsDue = () => isClosed || ended !== null || (lastOfAll !== null && position >= lastOfAll);

  const reader: HeldReader = {
    caller,
    cursor,
    async pull(waitMs) {
      isAsking = true;
      let isLate = false;
      const end = () => {
        isLate = true;
        feed.nudge(reader);
      };
      const timer = waitMs === undefined ? undefined : setTimeout(end, waitMs);
      try {
        return await next(() => isLate);
      } finally {
        clearTimeout(timer);
        isAsking = false;
        isWaiting = false;
      }
    },
    close() {
      isClosed = true;
      feed.leave(reader);
    },
    end(reason, now) {
      ended ??= { reason, at: now };
    },
    endBehind(seq) {
      lastOfAll ??= seq;
    },
    look(now) {
      if (ended !== null) {
        if (now - ended.at < ABANDONED_MS || isTold) return null;
        caller.hangUp();
        reader.close();
        return 'abandoned';
      }
      if (feed.lastSeq === 0 || isClosed) return null;
      const lag = feed.lastSeq - position;
      nearest = Math.min(nearest, lag);
      const isFar = lag - nearest >= MAX_BEHIND;
      // A reader that waits for us is not slow, and a burst of events is no problem while the reader catches up.
      const isSlow = isFar && !isAsking && lastLag !== null && lag >= lastLag;
      lastLag = isFar ? lag : null;
      if (!isSlow) return null;
      reader.end('TOO_FAR_BEHIND', now);
      return 'too slow';
    },
    hasMissed: () => isWaiting && (hasMore || feed.lastSeq > position),
  };
  return reader;
}
