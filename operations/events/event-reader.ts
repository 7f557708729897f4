import { encodeEventCursor } from '../../core/events/event-cursor.ts';
import type { EventKind } from '../../core/events/event-kinds.ts';
import { isConnectionLost } from '../../db/connection/database.ts';
import type { EventsAhead, EventsRequest, FeedEvent } from '../../db/queries/events/event-list.ts';
import type { Caller } from '../caller.ts';

/**
 * Why a stream ends that its reader has not closed: it reads more slowly than events come; the process is stopping; its key opens nothing
 * any more. In the first two cases the reader may come again with the cursor.
 */
export type StreamEnd = 'TOO_FAR_BEHIND' | 'GOING_AWAY' | 'UNAUTHORIZED';

/** What a reader is given when it asks; `cursor` is where it stands then. */
type Pulled =
  | { kind: 'events'; events: FeedEvent[]; cursor: string }
  /** there was none for as long as was to be waited */
  | { kind: 'nothing'; cursor: string }
  | { kind: 'ended'; reason: StreamEnd; cursor: string }
  /** its own end */
  | { kind: 'closed' };

/** A place in a user's feed that moves on. Nothing is kept for it: what it has not asked for stays in the database. */
export interface EventReader {
  /**
   * The next events, at most a page of them; waits until there are some, or so many milliseconds. One question at a time. Throws when they
   * cannot be read.
   */
  pull(waitMs?: number): Promise<Pulled>;
  /** Where it stands: behind the last event that it was given, or that its kinds passed over. */
  cursor(): string;
  /** Ends it; a question under way is answered `closed`. */
  close(): void;
}

export interface ReaderOptions {
  /** the number of the event that it begins behind */
  afterSeq: number;
  /** null: every kind */
  kinds: readonly EventKind[] | null;
  caller: Caller;
}

/** The feed of one user, as the readers of a process share it. */
export interface WatchedFeed {
  userId: string;
  /** of the newest event that is known of; 0 while none is */
  lastSeq: number;
  /** counts what was heard of the feed */
  version: number;
  /** Resolves when the version is another than that one, and when the reader is nudged or leaves. */
  changed(version: number, reader: HeldReader): Promise<void>;
  /** Lets a waiting reader look again. */
  nudge(reader: HeldReader): void;
  read(input: EventsRequest, version: number): Promise<EventsAhead>;
  leave(reader: HeldReader): void;
}

/** A reader as the hub holds it. */
export interface HeldReader extends EventReader {
  caller: Caller;
  /** Ends it at its next question; who asks no more has its connection ended. */
  end(reason: StreamEnd, now: number): void;
  /** Ends it as soon as it has had the events up to that number. */
  endBehind(seq: number): void;
  /** Looks how it gets on, at an instant of performance.now(); answers what it has just been found to be. */
  look(now: number): 'too slow' | 'abandoned' | null;
  /** whether a question waits for news although the feed goes on behind its place */
  hasMissed(): boolean;
}

const PAGE_SIZE = 100;
/** Farther behind the end than it has ever been, by so many events, a reader counts as too slow. */
const MOST_BEHIND = 1_000;
/** Whoever does not ask how it ended for so long is not there. Milliseconds. */
const ABANDONED_MS = 30_000;

/** Opens a reader; the caller of this looks at it every few seconds. */
export function openReader(feed: WatchedFeed, { afterSeq, kinds, caller }: ReaderOptions): HeldReader {
  let position = afterSeq;
  let hasMore = true;
  let ended: { reason: StreamEnd; at: number } | null = null;
  let lastOfAll: number | null = null;
  let isClosed = false;
  let isTold = false;
  let isAsking = false;
  let isWaiting = false;
  // How far it was from the end at its nearest, and at the last look, if that was too far.
  let nearest = Number.POSITIVE_INFINITY;
  let formerLag: number | null = null;

  const cursor = () => encodeEventCursor(feed.userId, position);

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
          if (!isConnectionLost(error)) throw error;
          return null;
        });
        if (ahead !== null) {
          feed.lastSeq = Math.max(feed.lastSeq, ahead.lastSeq);
          position = ahead.scannedTo;
          hasMore = position < ahead.lastSeq;
          nearest = Math.min(nearest, ahead.lastSeq - position);
          if (ahead.events.length > 0 && !isClosed) return { kind: 'events', events: ahead.events, cursor: cursor() };
          if (hasMore) continue;
        }
        // Of a process that is stopping nobody learns more than this.
        if (lastOfAll !== null) lastOfAll = Math.min(lastOfAll, position);
      }
      if (outcomeIsDue()) continue;
      if (isLate()) return { kind: 'nothing', cursor: cursor() };
      isWaiting = true;
      await feed.changed(version, reader);
      isWaiting = false;
    }
  }

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
      const isFar = lag - nearest >= MOST_BEHIND;
      // Whoever waits for us is not slow, and a crowd of events that came at once is no fault of who gains on it.
      const isSlow = isFar && !isAsking && formerLag !== null && lag >= formerLag;
      formerLag = isFar ? lag : null;
      if (!isSlow) return null;
      reader.end('TOO_FAR_BEHIND', now);
      return 'too slow';
    },
    hasMissed: () => isWaiting && (hasMore || feed.lastSeq > position),
  };
  return reader;
}
