import type { Lane, SendingJob, Transaction } from './job.ts';

/** Limits on transactions that run at once. */
export interface DestinationLimits {
  /** in all */
  active: number;
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
 * turns, so that one that hangs or has a long backlog delays nobody else, and within a destination users do. A destination may run more
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
  end(key: string, startedTick: number, verdict: DestinationVerdict): void;
  /** transactions of that destination that run */
  activeOf(key: string): number;
  /** Takes those out that wait for that destination. */
  takeWaiting(key: string): Transaction[];
  /** Takes all out that wait. */
  takeAllWaiting(): Transaction[];
  /** Recipients that are recorded or given up. */
  forget(jobs: readonly SendingJob[]): void;
  has(recipientId: string): boolean;
  /** recipients in hand */
  jobs(): SendingJob[];
  size(): number;
  /** recipients in hand of that lane */
  sizeOf(lane: Lane): number;
  /** lanes with at least that many recipients in hand */
  lanesAbove(count: number): Lane[];
}

interface Line {
  /** by user, of whom the first one is next */
  waiting: Map<string, Transaction[]>;
  active: number;
  limit: number;
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
  const held = new Map<string, { job: SendingJob; lane: LaneSize }>();
  const laneSizes = new Map<string, LaneSize>();
  // Destinations with waiting transactions; the first one is next.
  const turns = new Set<string>();
  let active = 0;

  const lineOf = (key: string): Line => {
    const known = lines.get(key);
    if (known !== undefined) return known;
    if (lines.size > MOST_IDLE_LINES) forgetIdleLines();
    const line = { waiting: new Map(), active: 0, limit: limits.first, strikes: 0, slowedTick: 0, pausedUntil: 0 };
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

  /** The next transaction of the user whose turn it is. */
  const shiftOf = ({ waiting }: Line): Transaction | undefined => {
    const [next] = waiting;
    if (next === undefined) return undefined;
    const [userId, transactions] = next;
    waiting.delete(userId);
    const transaction = transactions.shift();
    if (transactions.length > 0) waiting.set(userId, transactions);
    return transaction;
  };

  const hold = ({ userId, domain, jobs }: Transaction) => {
    const key = `${domain} ${userId}`;
    const lane = laneSizes.get(key) ?? { key, userId, domain, size: 0 };
    laneSizes.set(key, lane);
    for (const job of jobs) {
      held.set(job.recipientId, { job, lane });
      lane.size++;
    }
  };

  return {
    add(key, transaction) {
      const { waiting } = lineOf(key);
      const transactions = waiting.get(transaction.userId);
      if (transactions === undefined) waiting.set(transaction.userId, [transaction]);
      else transactions.push(transaction);
      turns.add(key);
      hold(transaction);
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
      while (active < limits.active && idle < turns.size) {
        const key = turns.values().next().value;
        if (key === undefined) break;
        turns.delete(key);
        const line = lineOf(key);
        const mayStart = line.active < Math.floor(line.limit) && line.pausedUntil <= now;
        const transaction = mayStart ? shiftOf(line) : undefined;
        if (transaction === undefined) {
          idle++;
        } else {
          line.active++;
          active++;
          started.push({ key, transaction });
          idle = 0;
        }
        if (line.waiting.size > 0) turns.add(key);
      }
      return started;
    },

    end(key, startedTick, verdict) {
      const line = lineOf(key);
      line.active--;
      active--;
      if (verdict === 'slow' || verdict === 'unreachable') slowDown(line, startedTick, true);
      if (verdict === 'hesitant') slowDown(line, startedTick, false);
      if (verdict !== 'sent') return;
      // As fast as it takes mail at first, carefully once it has asked for patience.
      line.limit = Math.min(limits.most, line.limit + (line.slowedTick === 0 ? 1 : CAREFUL_GROWTH));
      line.strikes = 0;
    },

    activeOf: (key) => lines.get(key)?.active ?? 0,
    takeWaiting: takeWaitingOf,
    takeAllWaiting: () => [...lines.keys()].flatMap(takeWaitingOf),

    forget(jobs) {
      for (const { recipientId } of jobs) {
        const entry = held.get(recipientId);
        if (entry === undefined) continue;
        held.delete(recipientId);
        if (--entry.lane.size === 0) laneSizes.delete(entry.lane.key);
      }
    },

    has: (recipientId) => held.has(recipientId),
    jobs: () => [...held.values()].map(({ job }) => job),
    size: () => held.size,
    sizeOf: ({ userId, domain }) => laneSizes.get(`${domain} ${userId}`)?.size ?? 0,
    lanesAbove: (count) => [...laneSizes.values()].filter(({ size }) => size >= count),
  };
}

interface LaneSize extends Lane {
  key: string;
  size: number;
}
