import { setTimeout as pause } from 'node:timers/promises';
import { isContention, isOfOneStatement, isTransient } from '../../db/errors.ts';
import { setAside } from '../set-aside.ts';
import { assignThreads, type ThreadingContext } from './assign-thread.ts';

/** Emails in one transaction: the more, the less each costs, but the longer its user's replies wait for the lock. */
const BATCH_SIZE = 200;
/** Pieces of a failed batch that are tried on their own: a batch that takes too long fails three times until its bad email is alone. */
const PIECES = 15;
/** Milliseconds. */
const GATHER_MS = 25;
/** How long an email that lost every attempt to another process is skipped. Milliseconds. */
const LOST_MS = 3_000;
/** Such emails are remembered in memory only; beyond this number, the oldest are forgotten. */
const MAX_LOST = 1_000;

/**
 * Emails that wait for threading in this process. A user's mail is threaded by one batch at a time, and what arrives meanwhile forms the
 * next batch.
 */
export interface UserQueues {
  add(userId: string, emailIds: readonly string[]): void;
  /** Whether the email waits or is being threaded. */
  has(userId: string, emailId: string): boolean;
  /**
   * Threads the waiting emails, one batch of each user in turn. Resolves when all is done, or another drain is working on the rest. Throws
   * when PostgreSQL is unreachable.
   */
  drain(isStopping: () => boolean): Promise<void>;
  /** Threads these emails now; emails that fail are set aside. Throws when PostgreSQL is unreachable. */
  assign(userId: string, emailIds: readonly string[]): Promise<void>;
  /** emails that recently lost to another process */
  lost(): string[];
}

export function createUserQueues(context: ThreadingContext): UserQueues {
  /** by user; the next one first */
  const waiting = new Map<string, Set<string>>();
  /** users whose batch is being threaded, with its emails */
  const busy = new Map<string, ReadonlySet<string>>();
  const lost = new Map<string, number>();

  function nextUser(): string | undefined {
    return waiting.keys().find((userId) => !busy.has(userId));
  }

  async function threadBatchOf(userId: string): Promise<void> {
    const ids = waiting.get(userId) ?? new Set();
    const batch = new Set(ids.values().take(BATCH_SIZE));
    for (const id of batch) ids.delete(id);
    // What is left comes after the mail of the other users.
    waiting.delete(userId);
    if (ids.size > 0) waiting.set(userId, ids);
    busy.set(userId, batch);
    try {
      await assign(userId, [...batch]);
      // The first email does not wait; those that arrive while a user is busy cost far less together.
      const more = waiting.get(userId)?.size ?? 0;
      if (more > 0 && more < BATCH_SIZE && waiting.size === 1) await pause(GATHER_MS);
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
   * One email that cannot be threaded must not block the others of its batch: a failed batch is retried in pieces. A batch that loses every
   * attempt to another process is skipped for a moment, so that the mail of other users continues.
   */
  async function assignBatch(userId: string, emailIds: readonly string[]): Promise<void> {
    try {
      await assignThreads(context, userId, emailIds);
    } catch (error) {
      if (concernsAllUsers(error)) throw error;
      if (isContention(error)) passOver(userId, emailIds, error);
      else if (emailIds.length > 1) await assignPieces(userId, emailIds);
      else for (const id of emailIds) await setAside(context, { userId, step: 'assign', subjectId: id, error });
    }
  }

  async function assignPieces(userId: string, emailIds: readonly string[]): Promise<void> {
    const size = Math.ceil(emailIds.length / PIECES);
    for (let start = 0; start < emailIds.length; start += size)
      await assignBatch(userId, emailIds.slice(start, start + size));
  }

  function passOver(userId: string, emailIds: readonly string[], error: unknown): void {
    context.log.warn({ err: error, userId, count: emailIds.length }, 'threading: others were in the way');
    for (const id of emailIds) {
      lost.delete(id);
      lost.set(id, performance.now() + LOST_MS);
    }
    for (const id of lost.keys()) {
      if (lost.size <= MAX_LOST) break;
      lost.delete(id);
    }
  }

  return {
    add(userId, emailIds) {
      const ids = waiting.get(userId) ?? new Set();
      for (const id of emailIds) ids.add(id);
      waiting.set(userId, ids);
    },
    has: (userId, emailId) => (waiting.get(userId)?.has(emailId) ?? false) || (busy.get(userId)?.has(emailId) ?? false),
    async drain(isStopping) {
      try {
        for (let userId = nextUser(); userId !== undefined && !isStopping(); userId = nextUser())
          await threadBatchOf(userId);
      } catch (error) {
        // The sweep, which runs as soon as PostgreSQL is back, leaves alone what waits here.
        waiting.clear();
        throw error;
      }
    },
    assign,
    lost: () => [...lost].filter(([, until]) => until > performance.now()).map(([emailId]) => emailId),
  };
}

/** Whether PostgreSQL is unavailable. A statement timeout or a conflict concerns one user alone. */
function concernsAllUsers(error: unknown): boolean {
  return isTransient(error) && !isOfOneStatement(error);
}
