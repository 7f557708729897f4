import { createFairQueue, type FairQueue, type Limit } from '../work/fair-queue.ts';
import { limitShared, type Room } from '../work/limits.ts';
import type { Transaction } from './sending-job.ts';

/** Limits on concurrent transactions. */
export interface DestinationLimits {
  /** in total */
  active: Room;
  /**
   * with destinations that never accepted a message, or none since they last deferred us or were unreachable: most that hang are among
   * these
   */
  unproven: Room;
  /** per destination: a new one, and one that has shown that it keeps up */
  first: number;
  most: number;
}

/**
 * What a transaction showed about its destination. `sent`: it accepted a message. `refused`: it accepted none, for reasons of the message.
 * `hesitant`: it defers a recipient, as in greylisting. `slow`: it defers us. `unreachable`: no server responds.
 */
export type DestinationVerdict = 'sent' | 'refused' | 'hesitant' | 'slow' | 'unreachable';

/**
 * The transactions that wait or run. No user can use all places, and neither can the destinations that have not accepted a message yet. The
 * limit of a destination grows by one with every message that it accepts. When it defers us, the limit is halved, after a pause that
 * doubles until a message gets through.
 */
export interface DestinationQueue extends FairQueue<Transaction> {
  /** Learns from a finished transaction, which started at `startedTick`, on performance.now(). */
  learn(key: string, startedTick: number, verdict: DestinationVerdict): void;
}

export interface DestinationQueueOptions {
  limits: DestinationLimits;
  keyOf: (transaction: Transaction) => string;
  /** called when a pause is over */
  onReady: () => void;
}

const getWorkspaceId = ({ workspaceId }: Transaction): string => workspaceId;
const countBytes = ({ bytes }: Transaction): number => bytes;

export function createDestinationQueue(options: DestinationQueueOptions): DestinationQueue {
  const { limits, keyOf } = options;
  const pace = limitPace(options);
  const all = limitShared<Transaction>({ ...limits.active, workspaceOf: getWorkspaceId, bytesOf: countBytes });
  return {
    ...createFairQueue({ keyOf, workspaceOf: getWorkspaceId, limits: [all, pace] }),
    learn: (key, startedTick, verdict) => pace.learn(key, startedTick, verdict),
  };
}

/** What is known about a destination. */
interface Pace {
  running: number;
  limit: number;
  /** it accepted a message, and has not deferred us or been unreachable since */
  isProven: boolean;
  /** pauses in a row since it last accepted a message */
  strikes: number;
  slowedTick: number;
  pausedUntil: number;
}

/** Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** How much an accepted message adds to the limit of a destination that has deferred us. */
const CAREFUL_GROWTH = 0.05;
/** Destinations that are remembered although nothing runs. */
const MAX_IDLE = 5_000;

function limitPace({
  limits,
  keyOf,
  onReady,
}: DestinationQueueOptions): Limit<Transaction> & Pick<DestinationQueue, 'learn'> {
  const destinations = new Map<string, Pace>();
  const unproven = limitShared<Transaction>({ ...limits.unproven, workspaceOf: getWorkspaceId, bytesOf: countBytes });
  // Transactions that started as unproven: they also end as such, whatever was learned in between.
  const ranUnproven = new Set<Transaction>();

  const findOrAddPace = (key: string): Pace => {
    const known = destinations.get(key);
    if (known !== undefined) return known;
    if (destinations.size > MAX_IDLE) forgetIdle();
    const pace = { running: 0, limit: limits.first, isProven: false, strikes: 0, slowedTick: 0, pausedUntil: 0 };
    destinations.set(key, pace);
    return pace;
  };

  const forgetIdle = () => {
    const now = performance.now();
    for (const [key, pace] of destinations) if (pace.running === 0 && pace.pausedUntil <= now) destinations.delete(key);
  };

  const slowDown = (pace: Pace, startedTick: number, isLasting: boolean) => {
    // A transaction that started before the last pause shows nothing new.
    if (startedTick < pace.slowedTick) return;
    const now = performance.now();
    const pauseMs = isLasting ? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pace.strikes) : FIRST_PAUSE_MS;
    if (isLasting) pace.strikes++;
    pace.limit = Math.max(1, Math.floor(pace.limit / 2));
    pace.slowedTick = now;
    pace.pausedUntil = now + pauseMs;
    setTimeout(onReady, pauseMs + 1).unref();
  };

  return {
    admitsKey(key) {
      const pace = findOrAddPace(key);
      return pace.running < Math.floor(pace.limit) && pace.pausedUntil <= performance.now();
    },
    admits: (transaction) => findOrAddPace(keyOf(transaction)).isProven || unproven.admits(transaction),
    enter(transaction) {
      const pace = findOrAddPace(keyOf(transaction));
      pace.running++;
      if (pace.isProven) return;
      ranUnproven.add(transaction);
      unproven.enter(transaction);
    },
    leave(transaction) {
      findOrAddPace(keyOf(transaction)).running--;
      if (ranUnproven.delete(transaction)) unproven.leave(transaction);
    },
    learn(key, startedTick, verdict) {
      const pace = findOrAddPace(key);
      if (verdict === 'slow' || verdict === 'unreachable') {
        pace.isProven = false;
        slowDown(pace, startedTick, true);
      }
      if (verdict === 'hesitant') slowDown(pace, startedTick, false);
      if (verdict !== 'sent') return;
      pace.isProven = true;
      // The limit grows as fast as the destination accepts mail at first, and slowly once it has deferred us.
      pace.limit = Math.min(limits.most, pace.limit + (pace.slowedTick === 0 ? 1 : CAREFUL_GROWTH));
      pace.strikes = 0;
    },
  };
}
