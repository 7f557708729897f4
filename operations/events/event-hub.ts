import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { UserError } from '../../core/shared/errors.ts';
import { createSemaphore } from '../../core/shared/semaphore.ts';
import { type Database, isConnectionLost } from '../../db/connection/database.ts';
import { type EventsAhead, readEventPositions, readEventsAfter } from '../../db/queries/events/event-list.ts';
import type { Bus } from '../../schema/messages.ts';
import { type EventReader, type HeldReader, openReader, type ReaderOptions, type WatchedFeed } from './event-reader.ts';

/** All that is live in one process: who reads which feed, and news of them. */
export interface EventHub {
  /** Throws rate_limited when the user has too many open, unavailable when the process has, or is stopping. */
  open(userId: string, options: ReaderOptions): EventReader;
  /** how many readers are open */
  size(): number;
  /** Lets every reader have what is there by the end of a grace, ends all of them, and what else it holds. */
  close(): Promise<void>;
}

export interface EventHubOptions {
  /** role postroom_gateway */
  database: Database;
  bus: Bus;
  log: Logger;
  /** readers that one user may have open at once */
  readersPerUser: number;
}

const MAX_STREAMS = 10_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;
/**
 * How often the ends of the feeds are looked up, for news that the bus did not bring, and readers are looked at, and whether what they were
 * let in by still opens anything: not much is asked of PostgreSQL for that, since look-ups are kept for seconds. Milliseconds.
 */
export const LOOK_MS = 2_000;
/** Reads at once; other requests need connections too. */
const READS_AT_ONCE = 4;
/** At a stop streams go on for so long, then each has so long to take what is there, and as long again to take its end. Milliseconds. */
const GRACE_MS = 1_000;
const LAST_WORD_MS = 1_000;

interface Watched extends WatchedFeed {
  readers: Set<HeldReader>;
  /** the number that the bus told last */
  announced: number;
  /** Lets waiting readers look again. */
  wake(): void;
}

/**
 * One for a process. It keeps no event: `event.appended` wakes the readers of a user, and each reads on from its own place. Readers that
 * stand at the same place share one read. While the bus is away, a look at the counters of all watched feeds wakes them.
 */
export function createEventHub({ database, bus, log, readersPerUser }: EventHubOptions): EventHub {
  const feeds = new Map<string, Watched>();
  const reads = new Map<string, Promise<EventsAhead>>();
  const semaphore = createSemaphore(READS_AT_ONCE);
  let size = 0;
  let isLooking = false;
  let isClosing = false;
  const emptied = Promise.withResolvers<void>();

  function watch(userId: string): Watched {
    const known = feeds.get(userId);
    if (known !== undefined) return known;
    const waiting = new Map<HeldReader, () => void>();
    const feed: Watched = {
      userId,
      lastSeq: 0,
      version: 0,
      readers: new Set(),
      announced: 0,
      wake() {
        feed.version++;
        for (const resolve of waiting.values()) resolve();
        waiting.clear();
      },
      changed: (version, reader) =>
        feed.version === version ? new Promise((resolve) => waiting.set(reader, resolve)) : Promise.resolve(),
      read({ after, kinds, limit }, version) {
        // Never one that began before the news: it may have missed them.
        const key = JSON.stringify([userId, after, limit, version, kinds]);
        const shared = reads.get(key);
        if (shared !== undefined) return shared;
        const reading = semaphore
          .run(() => readEventsAfter(database, userId, { after, kinds, limit }))
          .finally(() => reads.delete(key));
        reads.set(key, reading);
        return reading;
      },
      nudge(reader) {
        waiting.get(reader)?.();
        waiting.delete(reader);
      },
      leave(reader) {
        feed.nudge(reader);
        if (!feed.readers.delete(reader)) return;
        size--;
        if (size === 0 && isClosing) emptied.resolve();
        if (feed.readers.size === 0) feeds.delete(userId);
      },
    };
    feeds.set(userId, feed);
    return feed;
  }

  const subscriptions = [
    bus.subscribe('event.appended', ({ userId, lastSeq }) => {
      const feed = feeds.get(userId);
      if (feed === undefined || lastSeq <= feed.announced) return;
      feed.announced = lastSeq;
      feed.lastSeq = Math.max(feed.lastSeq, lastSeq);
      feed.wake();
    }),
  ];

  async function catchUp(): Promise<void> {
    const positions = await readEventPositions(database, [...feeds.keys()]);
    for (const [userId, lastSeq] of positions) {
      const feed = feeds.get(userId);
      if (feed !== undefined) feed.lastSeq = Math.max(feed.lastSeq, lastSeq);
    }
    for (const feed of feeds.values()) if ([...feed.readers].some((reader) => reader.hasMissed())) feed.wake();
  }

  async function checkKeys(): Promise<void> {
    for (const feed of feeds.values()) {
      let hasEnded = false;
      for (const reader of feed.readers) {
        if (await reader.caller.isAllowed()) continue;
        reader.end('UNAUTHORIZED', performance.now());
        hasEnded = true;
      }
      if (hasEnded) feed.wake();
    }
  }

  async function look(): Promise<void> {
    await catchUp();
    await checkKeys();
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const { userId, readers } of feeds.values())
      for (const reader of readers) {
        const found = reader.look(now);
        if (found !== null) log.info({ event: 'stream.ended', userId, found }, 'a stream is ended from here');
      }
    if (isLooking || feeds.size === 0) return;
    isLooking = true;
    look()
      .catch((error: unknown) => {
        if (!isConnectionLost(error)) log.error({ err: error }, 'events: the feeds could not be looked at');
      })
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_MS).unref();

  async function ending(end: (reader: HeldReader, feed: Watched) => void): Promise<void> {
    if (size === 0) return;
    for (const feed of feeds.values()) {
      for (const reader of feed.readers) end(reader, feed);
      feed.wake();
    }
    await Promise.race([emptied.promise, pause(LAST_WORD_MS, undefined, { ref: false })]);
  }

  const closeAll = async () => {
    isClosing = true;
    if (size > 0) await pause(GRACE_MS);
    // What was written during the grace, whoever brought the news of it, is still given.
    if (size > 0) await catchUp().catch(() => undefined);
    await ending((reader, feed) => reader.endBehind(feed.lastSeq));
    await ending((reader) => reader.end('GOING_AWAY', performance.now()));
    clearInterval(timer);
    for (const feed of feeds.values())
      for (const reader of feed.readers) {
        reader.caller.hangUp();
        reader.close();
      }
    for (const subscription of subscriptions) await subscription.stop();
  };
  let closed: Promise<void> | undefined;

  return {
    open(userId, options) {
      if (isClosing || size >= MAX_STREAMS) throw new UserError('unavailable', 'Too many streams on this gateway');
      const feed = watch(userId);
      if (feed.readers.size >= readersPerUser)
        throw new UserError(
          'rate_limited',
          `Too many open streams and waits: at most ${readersPerUser} of one user may be open on a gateway. Close one, then try again.`,
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        );
      const reader = openReader(feed, options);
      feed.readers.add(reader);
      size++;
      const { gone } = options.caller;
      if (gone.aborted) reader.close();
      else gone.addEventListener('abort', () => reader.close(), { once: true });
      return reader;
    },
    size: () => size,
    close: () => (closed ??= closeAll()),
  };
}
