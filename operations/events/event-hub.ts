import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { UserError } from '../../core/shared/errors.ts';
import { createSemaphore } from '../../core/shared/semaphore.ts';
import type { Database } from '../../db/connection/database.ts';
import { isTransient } from '../../db/errors.ts';
import { type EventsAhead, readEventPositions, readEventsAfter } from '../../db/queries/events/event-list.ts';
import type { Bus } from '../../schema/messages.ts';
import { type EventReader, type HeldReader, openReader, type ReaderOptions, type WatchedFeed } from './event-reader.ts';

/** All open event readers of a process, and what wakes them. */
export interface EventHub {
  /** Throws rate_limited when the user has too many readers, and unavailable when the process has too many or is stopping. */
  open(workspaceId: string, options: ReaderOptions): EventReader;
  /** number of open readers */
  size(): number;
  /** Delivers the events of a grace period to every reader, then closes all readers and the hub. */
  close(): Promise<void>;
}

export interface EventHubOptions {
  /** role postroom_gateway */
  database: Database;
  bus: Bus;
  log: Logger;
  /** maximum open readers per user */
  readersPerWorkspace: number;
}

/** @limit */
export const MAX_STREAMS = 10_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;
/**
 * Interval of the sweep that reads the ends of all feeds (the bus may lose a message), looks for slow readers, and checks whether the key
 * or session of each is still valid. It is cheap for PostgreSQL, because lookups are cached for seconds. Milliseconds.
 */
export const SWEEP_INTERVAL_MS = 2_000;
/** Maximum reads at the same time; other requests need connections too. */
const READS_AT_ONCE = 4;
/**
 * When the process stops, streams continue for this long; then each has DRAIN_MS to read the remaining events, and as long again to
 * read its end. Milliseconds.
 */
const GRACE_MS = 1_000;
const DRAIN_MS = 1_000;

interface Watched extends WatchedFeed {
  readers: Set<HeldReader>;
  /** the newest event number announced on the bus */
  announced: number;
  /** Makes waiting readers check the feed. */
  wake(): void;
}

/**
 * Creates the hub of a process. It stores no events: `event.appended` wakes the readers of a user, and each continues from its own
 * position. Readers at the same position share one read. While the bus is unreachable, the sweep wakes them.
 */
export function createEventHub({ database, bus, log, readersPerWorkspace }: EventHubOptions): EventHub {
  const feeds = new Map<string, Watched>();
  const reads = new Map<string, Promise<EventsAhead>>();
  const semaphore = createSemaphore(READS_AT_ONCE);
  let size = 0;
  let isLooking = false;
  let isClosing = false;
  const emptied = Promise.withResolvers<void>();

  function watch(workspaceId: string): Watched {
    const known = feeds.get(workspaceId);
    if (known !== undefined) return known;
    const waiting = new Map<HeldReader, () => void>();
    const feed: Watched = {
      workspaceId,
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
        // Never share a read that began before the announcement: it may have missed the new events.
        const key = JSON.stringify([workspaceId, after, limit, version, kinds]);
        const shared = reads.get(key);
        if (shared !== undefined) return shared;
        const reading = semaphore
          .run(() => readEventsAfter(database, workspaceId, { after, kinds, limit }))
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
        if (feed.readers.size === 0) feeds.delete(workspaceId);
      },
    };
    feeds.set(workspaceId, feed);
    return feed;
  }

  const subscriptions = [
    bus.subscribe('event.appended', ({ workspaceId, lastSeq }) => {
      const feed = feeds.get(workspaceId);
      if (feed === undefined || lastSeq <= feed.announced) return;
      feed.announced = lastSeq;
      feed.lastSeq = Math.max(feed.lastSeq, lastSeq);
      feed.wake();
    }),
  ];

  async function catchUp(): Promise<void> {
    const positions = await readEventPositions(database, [...feeds.keys()]);
    for (const [workspaceId, lastSeq] of positions) {
      const feed = feeds.get(workspaceId);
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
    for (const { workspaceId, readers } of feeds.values())
      for (const reader of readers) {
        const found = reader.look(now);
        if (found !== null) log.info({ event: 'stream.ended', workspaceId, found }, 'stream ended by the gateway');
      }
    if (isLooking || feeds.size === 0) return;
    isLooking = true;
    look()
      .catch((error: unknown) => {
        if (!isTransient(error)) log.error({ err: error }, 'events: cannot read the feeds');
      })
      .finally(() => {
        isLooking = false;
      });
  }, SWEEP_INTERVAL_MS).unref();

  async function ending(end: (reader: HeldReader, feed: Watched) => void): Promise<void> {
    if (size === 0) return;
    for (const feed of feeds.values()) {
      for (const reader of feed.readers) end(reader, feed);
      feed.wake();
    }
    await Promise.race([emptied.promise, pause(DRAIN_MS, undefined, { ref: false })]);
  }

  const closeAll = async () => {
    isClosing = true;
    if (size > 0) await pause(GRACE_MS);
    // Deliver what was written during the grace period, whichever process announced it.
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
    open(workspaceId, options) {
      if (isClosing || size >= MAX_STREAMS)
        throw new UserError('unavailable', 'This gateway has too many open streams');
      const feed = watch(workspaceId);
      if (feed.readers.size >= readersPerWorkspace)
        throw new UserError(
          'rate_limited',
          `Too many open streams and waiting requests: a user may have at most ${readersPerWorkspace} per gateway. Close one, then try again.`,
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
