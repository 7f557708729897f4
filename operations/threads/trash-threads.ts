import type pg from 'pg';
import * as trash from '../../db/queries/threads/thread-trash.ts';
import { invalid } from '../context.ts';
import type { Changed } from './thread-transaction.ts';

/** Maximum messages that one call moves in several threads. A single thread has no limit. */
const MAX_MESSAGES = 20_000;

type Events = Changed<unknown>['events'];

/** Moves existing threads to the trash, within a transaction that holds lockThreads. Threads in the trash stay as they are. */
export async function trashLocked(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  from: string | null = null,
): Promise<Events> {
  if (threadIds.length === 0) return [];
  const already = new Set((await trash.findTrashedThreads(client, workspaceId, threadIds)).map(({ id }) => id));
  const moving = threadIds.filter((id) => !already.has(id));
  const count = await trash.lockMessages(client, workspaceId, moving, 'lists');
  if (count > MAX_MESSAGES && moving.length > 1)
    throw invalid(
      `${count} messages would move to the trash; at most ${MAX_MESSAGES} can move at once. Give fewer threads.`,
      'threadIds',
    );
  for (let left = count; left > 0; left -= trash.TRASHED_AT_ONCE)
    await trash.trashMessages(client, workspaceId, moving);
  await trash.markTrashed(
    client,
    workspaceId,
    moving.map((id) => ({ id, from })),
  );
  return moving.map((threadId) => ({
    kind: 'thread.trashed',
    threadId,
    data: from === null ? {} : { from },
  }));
}
