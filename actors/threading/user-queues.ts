import { setTimeout as pause } from 'node:timers/promises';
import { isConnectionLost } from '../../db/connection/database.ts';
import { setAside } from '../set-aside.ts';
import { assignThreads, isContention, type ThreadingContext } from './assign-thread.ts';

/** Emails in one transaction. */
const BATCH_SIZE = 50;
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
  /**
   * Threads the waiting emails, user by user. Resolves when all is done, or another drain is working on the rest. Throws when PostgreSQL is
   * unreachable.
   */
  drain(isStopping: () => boolean): Promise<void>;
  /** Threads these emails now; emails that fail are set aside. Throws when PostgreSQL is unreachable. */
  assign(userId: string, emailIds: readonly string[]): Promise<void>;
  /** emails that recently lost to another process */
  lost(): string[];
}

export function createUserQueues(context: ThreadingContext): UserQueues {
  const waiting = new Map<string, Set<string>>();
  const busy = new Set<string>();
  const lost = new Map<string, number>();

  async function drainUser(userId: string, isStopping: () => boolean): Promise<void> {
    busy.add(userId);
    try {
      for (let ids = waiting.get(userId); ids && ids.size > 0 && !isStopping(); ids = waiting.get(userId)) {
        const batch = [...ids].slice(0, BATCH_SIZE);
        for (const id of batch) ids.delete(id);
        await assign(userId, batch);
        // The first email does not wait; those that arrive while a user is busy cost far less together.
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
   * One email that cannot be threaded must not block the others of its batch: a failed batch is retried one by one. A batch that loses
   * every attempt to another process is skipped for a moment, so that the mail of other users continues.
   */
  async function assignBatch(userId: string, emailIds: readonly string[]): Promise<void> {
    try {
      await assignThreads(context, userId, emailIds);
    } catch (error) {
      if (isAway(error)) throw error;
      if (isContention(error)) passOver(userId, emailIds, error);
      else if (emailIds.length > 1) for (const id of emailIds) await assignBatch(userId, [id]);
      else for (const id of emailIds) await setAside(context, { userId, step: 'assign', subjectId: id, error });
    }
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
    async drain(isStopping) {
      for (const userId of waiting.keys()) {
        if (!busy.has(userId)) await drainUser(userId, isStopping);
      }
    },
    assign,
    lost: () => [...lost].filter(([, until]) => until > performance.now()).map(([emailId]) => emailId),
  };
}

/** query_canceled: the statement took too long */
const STATEMENT_TIMEOUT = '57014';

/** Whether PostgreSQL is unreachable: a statement timeout or a conflict concerns this user alone. */
function isAway(error: unknown): boolean {
  return isConnectionLost(error) && !isContention(error) && (error as { code?: unknown }).code !== STATEMENT_TIMEOUT;
}
