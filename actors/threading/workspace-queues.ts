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
export interface WorkspaceQueues {
  add(workspaceId: string, emailIds: readonly string[]): void;
  /** Whether the email waits or is being threaded. */
  has(workspaceId: string, emailId: string): boolean;
  /**
   * Threads the waiting emails, one batch of each user in turn. Resolves when all is done, or another drain is working on the rest. Throws
   * when PostgreSQL is unreachable.
   */
  drain(isStopping: () => boolean): Promise<void>;
  /** Threads these emails now; emails that fail are set aside. Throws when PostgreSQL is unreachable. */
  assign(workspaceId: string, emailIds: readonly string[]): Promise<void>;
  /** emails that recently lost to another process */
  lost(): string[];
}

export function createWorkspaceQueues(context: ThreadingContext): WorkspaceQueues {
  /** by user; the next one first */
  const waiting = new Map<string, Set<string>>();
  /** users whose batch is being threaded, with its emails */
  const busy = new Map<string, ReadonlySet<string>>();
  const lost = new Map<string, number>();

  function nextWorkspace(): string | undefined {
    return waiting.keys().find((workspaceId) => !busy.has(workspaceId));
  }

  async function threadNextBatch(workspaceId: string): Promise<void> {
    const ids = waiting.get(workspaceId) ?? new Set();
    const batch = new Set(ids.values().take(BATCH_SIZE));
    for (const id of batch) ids.delete(id);
    // What is left comes after the mail of the other users.
    waiting.delete(workspaceId);
    if (ids.size > 0) waiting.set(workspaceId, ids);
    busy.set(workspaceId, batch);
    try {
      await assign(workspaceId, [...batch]);
      // The first email does not wait; others that arrive while a user is busy cost far less together.
      const more = waiting.get(workspaceId)?.size ?? 0;
      if (more > 0 && more < BATCH_SIZE && waiting.size === 1) await pause(GATHER_MS);
    } finally {
      busy.delete(workspaceId);
    }
  }

  async function assign(workspaceId: string, emailIds: readonly string[]): Promise<void> {
    for (let start = 0; start < emailIds.length; start += BATCH_SIZE) {
      await assignBatch(workspaceId, emailIds.slice(start, start + BATCH_SIZE));
    }
  }

  /**
   * One email that cannot be threaded must not block the others of its batch: a failed batch is retried in pieces. A batch that loses every
   * attempt to another process is skipped for a moment, so that the mail of other users continues.
   */
  async function assignBatch(workspaceId: string, emailIds: readonly string[]): Promise<void> {
    try {
      await assignThreads(context, workspaceId, emailIds);
    } catch (error) {
      if (concernsAllWorkspaces(error)) throw error;
      if (isContention(error)) passOver(workspaceId, emailIds, error);
      else if (emailIds.length > 1) await assignPieces(workspaceId, emailIds);
      else for (const id of emailIds) await setAside(context, { workspaceId, step: 'assign', subjectId: id, error });
    }
  }

  async function assignPieces(workspaceId: string, emailIds: readonly string[]): Promise<void> {
    const size = Math.ceil(emailIds.length / PIECES);
    for (let start = 0; start < emailIds.length; start += size)
      await assignBatch(workspaceId, emailIds.slice(start, start + size));
  }

  function passOver(workspaceId: string, emailIds: readonly string[], error: unknown): void {
    context.log.warn({ err: error, workspaceId, count: emailIds.length }, 'threading: others were in the way');
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
    add(workspaceId, emailIds) {
      const ids = waiting.get(workspaceId) ?? new Set();
      for (const id of emailIds) ids.add(id);
      waiting.set(workspaceId, ids);
    },
    has: (workspaceId, emailId) =>
      (waiting.get(workspaceId)?.has(emailId) ?? false) || (busy.get(workspaceId)?.has(emailId) ?? false),
    async drain(isStopping) {
      try {
        for (
          let workspaceId = nextWorkspace();
          workspaceId !== undefined && !isStopping();
          workspaceId = nextWorkspace()
        )
          await threadNextBatch(workspaceId);
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
function concernsAllWorkspaces(error: unknown): boolean {
  return isTransient(error) && !isOfOneStatement(error);
}
