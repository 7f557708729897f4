import type pg from 'pg';
import { resolveThreads } from '../../db/queries/threads/thread-move.ts';
import { setThreadReason } from '../../db/queries/threads/thread-rejoin.ts';
import * as trash from '../../db/queries/threads/thread-trash.ts';
import { regroup } from './regroup-messages.ts';
import type { Changed } from './thread-transaction.ts';

/**
 * Moves threads out of the trash, in a transaction that holds lockThreads. A message that was moved there alone returns to the thread that
 * it left, unless that thread is gone or in the trash itself. Returns for each thread that was in the trash the one that has its messages
 * now.
 */
export async function restoreLocked(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Changed<Map<string, string>>> {
  const trashed = await trash.findTrashedThreads(client, workspaceId, threadIds);
  const living = new Map<string, string>();
  if (trashed.length === 0) return { result: living, events: [] };
  const ids = trashed.map(({ id }) => id);
  const count = await trash.lockMessages(client, workspaceId, ids, 'trash');
  for (let left = count; left > 0; left -= trash.TRASHED_AT_ONCE) await trash.restoreMessages(client, workspaceId, ids);
  await trash.markRestored(client, workspaceId, ids);
  const events: Changed<unknown>['events'] = [];
  for (const thread of trashed) {
    const homeId = await findHome(client, workspaceId, thread);
    if (homeId !== null) events.push(...(await returnMessage(client, workspaceId, thread.id, homeId)));
    const threadId = homeId ?? thread.id;
    living.set(thread.id, threadId);
    events.push({ kind: 'thread.restored', threadId, data: {} });
  }
  return { result: living, events };
}

async function findHome(
  client: pg.ClientBase,
  workspaceId: string,
  { from }: trash.TrashedThread,
): Promise<string | null> {
  if (from === null) return null;
  const home = (await resolveThreads(client, workspaceId, [from])).get(from);
  if (home === undefined) return null;
  const [inTrash] = await trash.findTrashedThreads(client, workspaceId, [home]);
  return inTrash === undefined ? home : null;
}

async function returnMessage(client: pg.ClientBase, workspaceId: string, threadId: string, homeId: string) {
  const messages = await trash.readReasons(client, workspaceId, threadId);
  const emailIds = messages.map(({ id }) => id);
  const events = await regroup(client, workspaceId, { emailIds, targetId: homeId, target: 'stored', reason: 'new' });
  for (const { id, threadReason } of messages) await setThreadReason(client, workspaceId, id, threadReason);
  return withoutMessages(events);
}

/** The message was there before: it does not join the thread again. */
export function withoutMessages(events: Changed<unknown>['events']): Changed<unknown>['events'] {
  return events.filter(({ kind }) => kind === 'thread.renumbered' || kind === 'thread.merged');
}
