import type pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace, inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { isConflict, isContention, retryContention } from '../../db/errors.ts';
import { THREADS_LOCK } from '../../db/queries/threads/thread-claim.ts';
import { appendThreadEvents, type FeedEvent } from '../../db/queries/threads/thread-events.ts';
import { findThreads } from '../../db/queries/threads/thread-list.ts';
import { resolvePlaces } from '../../db/queries/threads/thread-move.ts';
import { findThreadsWithin } from '../../db/queries/threads/thread-reach.ts';
import { findTrashedThreads } from '../../db/queries/threads/thread-trash.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { inTrash, isValidId, newIdentifier, type OperationContext } from '../context.ts';

/** Result of a change of threads, and its events for the feed. */
export interface Changed<T> {
  result: T;
  events: Omit<FeedEvent, 'id'>[];
}

/** What a change of threads needs. */
export type ThreadContext = Pick<OperationContext, 'bus' | 'database' | 'workspaceId' | 'respondBy' | 'now' | 'random'>;

/** Milliseconds that a change waits for a lock: mail may be being threaded, or another change is running. */
const LOCK_TIMEOUT_MS = 3_000;
const MAX_TRIES = 4;
const FIRST_PAUSE_MS = 20;
/** Milliseconds before the end of the request in which the transaction is not retried. */
const SPARE_MS = 4_000;

/**
 * Changes threads of the user in one transaction. Meanwhile none of the user's mail is threaded and no other thread changes. Throws what
 * the work throws, and conflict when the locks are held for too long.
 */
export async function changeThreads<T>(
  context: ThreadContext,
  work: (client: pg.ClientBase) => Promise<Changed<T>>,
): Promise<T> {
  const { bus, database, workspaceId } = context;
  const transact = () =>
    inWorkspaceTransaction(
      database,
      workspaceId,
      { locks: [{ name: THREADS_LOCK }], lockTimeoutMs: LOCK_TIMEOUT_MS },
      async (client) => {
        const { result, events } = await work(client);
        const withIds = events.map((event) => ({ id: newIdentifier(context, 'event'), ...event }));
        return { result, lastSeq: events.length === 0 ? null : await appendThreadEvents(client, workspaceId, withIds) };
      },
    );
  const { result, lastSeq } = await retryTransaction(context, transact);
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  return result;
}

/** Like changeThreads, for one thread that the request can reach. Throws not_found and conflict as resolveReachedThreads does. */
export async function changeReachedThread<T>(
  context: OperationContext,
  threadId: string,
  work: (client: pg.ClientBase, living: string) => Promise<Changed<T>>,
): Promise<T> {
  return changeThreads(withFullAccess(context), async (client) => {
    const [living = threadId] = await resolveReachedThreads(client, context, [threadId]);
    return work(client, living);
  });
}

/**
 * Like resolveLivingThreads, for threads that the request can reach; others are not found. The lock of the transaction keeps mail of other
 * addresses out of the threads until it ends. Changes need the full access, so the threads are checked here.
 */
export async function resolveReachedThreads(
  client: pg.ClientBase,
  context: OperationContext,
  threadIds: readonly string[],
  place: 'lists' | 'anywhere' = 'lists',
): Promise<string[]> {
  const { database, workspaceId } = context;
  if (database.limit === undefined) return resolveLivingThreads(client, workspaceId, threadIds, place);
  const everywhere = await resolveLivingThreads(client, workspaceId, threadIds, 'anywhere');
  const reached = new Set(await selectReached(client, context, everywhere));
  if (everywhere.some((id) => !reached.has(id))) throw threadNotFound();
  return place === 'anywhere' ? everywhere : resolveLivingThreads(client, workspaceId, threadIds, place);
}

/** Returns those of the existing threads that the request can reach, within a transaction of changeThreads. */
export async function selectReached(
  client: pg.ClientBase,
  { database: { limit }, workspaceId }: OperationContext,
  threadIds: readonly string[],
): Promise<string[]> {
  if (limit === undefined) return [...threadIds];
  const within = await findThreadsWithin(client, workspaceId, threadIds, limit);
  return threadIds.filter((id) => within.has(id));
}

/** Throws not_found unless the request can reach all of the threads. */
export async function requireReached(
  { database, workspaceId }: OperationContext,
  threadIds: readonly string[],
): Promise<void> {
  if (database.limit === undefined) return;
  const asked = threadIds.filter(isValidId);
  const found = await asWorkspace(database, workspaceId, (transaction) => findThreads(transaction, workspaceId, asked));
  if (threadIds.some((id) => !found.has(id))) throw threadNotFound();
}

/**
 * Returns for each id the existing thread it leads to. Throws not_found unless the user has all of them, and conflict when one is in the
 * trash: what is there only moves back, or is removed. `anywhere`: they may be there.
 */
export async function resolveLivingThreads(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  place: 'lists' | 'anywhere' = 'lists',
): Promise<string[]> {
  const places = await resolvePlaces(client, workspaceId, threadIds.filter(isValidId));
  return threadIds.map((id) => {
    const thread = places.get(id);
    if (thread === undefined) throw threadNotFound();
    if (thread.isTrashed && place === 'lists') throw inTrash(`The thread ${thread.id}`);
    return thread.id;
  });
}

/** Throws conflict when one of the threads is in the trash. */
export async function requireOutOfTrash(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<void> {
  const [trashed] = await findTrashedThreads(client, workspaceId, threadIds);
  if (trashed !== undefined) throw inTrash(`The thread ${trashed.id}`);
}

export function threadNotFound(): UserError {
  return new UserError('not_found', 'Thread not found');
}

function retryTransaction<T>(context: ThreadContext, work: () => Promise<T>): Promise<T> {
  return retryContention(work, {
    maxTries: MAX_TRIES,
    firstPauseMs: FIRST_PAUSE_MS,
    mayRetry: (error) => isConflict(error) && performance.now() <= context.respondBy - SPARE_MS,
  }).catch((error: unknown) => {
    throw isContention(error) ? busy(error) : error;
  });
}

function busy(cause: unknown): UserError {
  return new UserError('conflict', 'These threads are being changed by another request. Try again in a moment.', {
    retryAfterSeconds: 1,
    cause,
  });
}
