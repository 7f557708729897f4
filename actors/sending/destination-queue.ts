import { createInHand, type InHand } from './in-hand.ts';
import type { Transaction } from './job.ts';
import { createPlaces, type PlaceLimits } from './places.ts';

/** Limits on transactions that run at once. */
export interface DestinationLimits {
  /** in all */
  active: PlaceLimits;
  /** of destinations that have taken nothing, or nothing since they last asked for patience or were away: most that hang are among these */
  unproven: PlaceLimits;
  /** of a destination that is new to us, and of one that has shown that it keeps up */
  first: number;
  most: number;
}

/**
 * What a transaction showed of its destination: it took a message; it took none, for reasons of the message's own; it asks for patience
 * with a recipient, as in greylisting; it asks for patience with us; nobody is there.
 */
export type DestinationVerdict = 'sent' | 'refused' | 'hesitant' | 'slow' | 'unreachable';

/**
 * The transactions in hand: waiting in the order they came per destination and user, running, or being recorded. Destinations take
 * turns, so that one that hangs or has a long backlog delays nobody else, and within a destination users do. Places are shared out so that
 * no user, and not all destinations that are yet to take a message, can have all of them (places.ts). A destination may run more
 * at once with every message that it takes; when it asks for patience it may run half as many, after a pause that doubles as long as
 * nothing gets through.
 */
export interface DestinationQueue {
  add(key: string, transaction: Transaction): void;
  /** A transaction that ended without an outcome waits again, before all others. */
  putBack(key: string, transaction: Transaction): void;
  /** The next transactions that may start, one of each destination in turn; they run from now on. */
  take(): { key: string; transaction: Transaction }[];
  /** The transaction ran; its place is free, its recipients stay in hand until they are forgotten. */
  end(key: string, transaction: Transaction, startedTick: number, verdict: DestinationVerdict): void;
  /** transactions of that destination that run */
  activeOf(key: string): number;
  /** Takes those out that wait for that destination. */
  takeWaiting(key: string): Transaction[];
  /** Takes all out that wait. */
  takeAllWaiting(): Transaction[];
  /** Recipients of transactions that were added; they stay until they are forgotten. */
  readonly inHand: InHand;
}

interface Line {
  /** by user, of whom the first one is next */
  waiting: Map<string, Transaction[]>;
  active: number;
  limit: number;
  /** it took a message, and has not asked for patience nor been away since */
  isProven: boolean;
  /** pauses in a row since a message was last taken */
  strikes: number;
  slowedTick: number;
  pausedUntil: number;
}

/** Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** What a message that was taken adds to the limit of a destination that has asked for patience. */
const CAREFUL_GROWTH = 0.05;
/** Lines that are kept for what was learned of them, although nothing is in hand. */
const MOST_IDLE_LINES = 5_000;

/** `onReady` is called when a pause is over. */
export function createDestinationQueue(limits: DestinationLimits, onReady: () => void): DestinationQueue {
  const lines = new Map<string, Line>();
  const inHand = createInHand();
  const all = createPlaces(limits.active);
  const unproven = createPlaces(limits.unproven);
  const running = new Map<Transaction, { octets: number; isProven: boolean }>();
  // Destinations with waiting transactions; the first one is next.
  const turns = new Set<string>();

  const lineOf = (key: string): Line => {
    const known = lines.get(key);
    if (known !== undefined) return known;
    if (lines.size > MOST_IDLE_LINES) forgetIdleLines();
    const line: Line = {
      waiting: new Map(),
      active: 0,
      limit: limits.first,
      isProven: false,
      strikes: 0,
      slowedTick: 0,
      pausedUntil: 0,
    };
    lines.set(key, line);
    return line;
  };

  const forgetIdleLines = () => {
    for (const [key, line] of lines) if (line.active === 0 && line.waiting.size === 0) lines.delete(key);
  };

  const slowDown = (line: Line, startedTick: number, isLasting: boolean) => {
    // What began before the last pause tells nothing new.
    if (startedTick < line.slowedTick) return;
    const now = performance.now();
    const pauseMs = isLasting ? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** line.strikes) : FIRST_PAUSE_MS;
    if (isLasting) line.strikes++;
    line.limit = Math.max(1, Math.floor(line.limit / 2));
    line.slowedTick = now;
    line.pausedUntil = now + pauseMs;
    setTimeout(onReady, pauseMs + 1).unref();
  };

  const takeWaitingOf = (key: string): Transaction[] => {
    const line = lines.get(key);
    if (line === undefined) return [];
    const taken = [...line.waiting.values()].flat();
    line.waiting.clear();
    turns.delete(key);
    return taken;
  };

  /** The next transaction of the first user in turn whom there is a place for. */
  const shiftOf = ({ waiting, isProven }: Line): Transaction | undefined => {
    for (const [userId, transactions] of waiting) {
      const octets = transactions[0]?.octets ?? 0;
      if (!all.admits(userId, octets) || !(isProven || unproven.admits(userId, octets))) continue;
      waiting.delete(userId);
      const transaction = transactions.shift();
      if (transactions.length > 0) waiting.set(userId, transactions);
      return transaction;
    }
    return undefined;
  };

  const start = (line: Line, transaction: Transaction) => {
    const { userId, octets } = transaction;
    const { isProven } = line;
    line.active++;
    running.set(transaction, { octets, isProven });
    all.enter(userId, octets);
    if (!isProven) unproven.enter(userId, octets);
  };

  const leave = (line: Line, transaction: Transaction) => {
    const place = running.get(transaction);
    if (place === undefined) throw new Error('a transaction ended that did not run');
    line.active--;
    running.delete(transaction);
    all.leave(transaction.userId, place.octets);
    if (!place.isProven) unproven.leave(transaction.userId, place.octets);
  };

  return {
    add(key, transaction) {
      const { waiting } = lineOf(key);
      const transactions = waiting.get(transaction.userId);
      if (transactions === undefined) waiting.set(transaction.userId, [transaction]);
      else transactions.push(transaction);
      turns.add(key);
      inHand.hold(transaction);
    },

    putBack(key, transaction) {
      const { waiting } = lineOf(key);
      const others = [...waiting].filter(([userId]) => userId !== transaction.userId);
      const own = [transaction, ...(waiting.get(transaction.userId) ?? [])];
      waiting.clear();
      waiting.set(transaction.userId, own);
      for (const [userId, transactions] of others) waiting.set(userId, transactions);
      turns.add(key);
    },

    take() {
      const started: { key: string; transaction: Transaction }[] = [];
      const now = performance.now();
      // How many destinations in a row could start nothing; a full round of them ends the search.
      let idle = 0;
      while (!all.isFull() && idle < turns.size) {
        const key = turns.values().next().value;
        if (key === undefined) break;
        turns.delete(key);
        const line = lineOf(key);
        const mayStart = line.active < Math.floor(line.limit) && line.pausedUntil <= now;
        const transaction = mayStart ? shiftOf(line) : undefined;
        if (transaction === undefined) {
          idle++;
        } else {
          start(line, transaction);
          started.push({ key, transaction });
          idle = 0;
        }
        if (line.waiting.size > 0) turns.add(key);
      }
      return started;
    },

    end(key, transaction, startedTick, verdict) {
      const line = lineOf(key);
      leave(line, transaction);
      if (verdict === 'slow' || verdict === 'unreachable') {
        line.isProven = false;
        slowDown(line, startedTick, true);
      }
      if (verdict === 'hesitant') slowDown(line, startedTick, false);
      if (verdict !== 'sent') return;
      line.isProven = true;
      // As fast as it takes mail at first, carefully once it has asked for patience.
      line.limit = Math.min(limits.most, line.limit + (line.slowedTick === 0 ? 1 : CAREFUL_GROWTH));
      line.strikes = 0;
    },

    activeOf: (key) => lines.get(key)?.active ?? 0,
    takeWaiting: takeWaitingOf,
    takeAllWaiting: () => [...lines.keys()].flatMap(takeWaitingOf),

    inHand,
  };
}
