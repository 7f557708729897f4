import { setTimeout as pause } from 'node:timers/promises';
import { isConnectionLost } from '../../db/database.ts';
import { assignThreads, isContention, type ThreadingContext } from './assign-thread.ts';

/** Most emails of one transaction; guarantees.md §5. */
const BATCH_SIZE = 50;
/** Milliseconds. */
const GATHER_MS = 25;
/** guarantees.md §5, own faults: exp(min(10, n)) seconds. */
const MAX_BACKOFF_EXPONENT = 10;
/** Emails that fault are remembered in memory only; more than this are forgotten oldest first. */
const MAX_SET_ASIDE = 1_000;

/** What waits for threading in this process. A user's mail is threaded by one batch at a time, so that company gathers meanwhile. */
export interface UserQueues {
  add(userId: string, emailIds: readonly string[]): void;
  /** Threads what waits, user by user; returns when all is done or is in the hands of another drain. Throws when PostgreSQL is away. */
  drain(isStopping: () => boolean): Promise<void>;
  /** Threads these emails now, whatever else waits; what faults is set aside for a while. Throws when PostgreSQL is away. */
  assign(userId: string, emailIds: readonly string[]): Promise<void>;
  /** emails that faulted and whose time to be tried again has not come */
  setAside(): string[];
}

export function createUserQueues(context: ThreadingContext): UserQueues {
  const waiting = new Map<string, Set<string>>();
  const busy = new Set<string>();
  const faults = new Map<string, { count: number; until: number }>();

  async function drainUser(userId: string, isStopping: () => boolean): Promise<void> {
    busy.add(userId);
    try {
      for (let ids = waiting.get(userId); ids && ids.size > 0 && !isStopping(); ids = waiting.get(userId)) {
        const batch = [...ids].slice(0, BATCH_SIZE);
        for (const id of batch) ids.delete(id);
        await assign(userId, batch);
        // The first is not kept waiting; what comes while a user is busy costs far less in company.
        if (ids.size > 0 && ids.size < BATCH_SIZE) await pause(GATHER_MS);
      }
      waiting.delete(userId);
    } finally {
      busy.delete(userId);
    }
  }

  async function assign(userId: string, emailIds: readonly string[]): Promise<void> {
    for (let start = 0; start < emailIds.length; start += BATCH_SIZE) {
      await assignBatch(userId, emailIds.slice(start, start + BATCH_SIZE));
    }
  }

  /**
   * One email that cannot be threaded must not hold up the others of its batch: a failing batch is tried again one by one. One that loses
   * to another process, all its tries long, is set aside whole, so that the mail of other users goes on.
   */
  async function assignBatch(userId: string, emailIds: readonly string[]): Promise<void> {
    try {
      await assignThreads(context, userId, emailIds);
      for (const id of emailIds) faults.delete(id);
    } catch (error) {
      if (isAway(error)) throw error;
      if (emailIds.length > 1 && !isContention(error)) for (const id of emailIds) await assignBatch(userId, [id]);
      else for (const id of emailIds) setAside(userId, id, error);
    }
  }

  function setAside(userId: string, emailId: string, error: unknown): void {
    const count = (faults.get(emailId)?.count ?? 0) + 1;
    const seconds = Math.exp(Math.min(MAX_BACKOFF_EXPONENT, count));
    context.log.error({ err: error, userId, emailId, faults: count }, 'threading: email set aside');
    faults.delete(emailId);
    faults.set(emailId, { count, until: performance.now() + seconds * 1_000 });
    const oldest = faults.keys().next();
    if (faults.size > MAX_SET_ASIDE && !oldest.done) faults.delete(oldest.value);
  }

  return {
    add(userId, emailIds) {
      const ids = waiting.get(userId) ?? new Set();
      for (const id of emailIds) ids.add(id);
      waiting.set(userId, ids);
    },
    async drain(isStopping) {
      for (const userId of waiting.keys()) {
        if (!busy.has(userId)) await drainUser(userId, isStopping);
      }
    },
    assign,
    setAside: () => [...faults].filter(([, fault]) => fault.until > performance.now()).map(([emailId]) => emailId),
  };
}

/** query_canceled: the statement took too long */
const STATEMENT_TIMEOUT = '57014';

/** Whether PostgreSQL is away for everybody: a statement that takes too long, or that others are in the way of, is this user's alone. */
function isAway(error: unknown): boolean {
  return isConnectionLost(error) && !isContention(error) && (error as { code?: unknown }).code !== STATEMENT_TIMEOUT;
}
