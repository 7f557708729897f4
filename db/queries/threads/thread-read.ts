import { sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { Tables } from '../../entities/tables.ts';

/** Returns those of the threads with a received message that the member has not read; none for a person who is no member. */
export async function findUnreadBy(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
  threadIds: readonly string[],
): Promise<Set<string>> {
  if (threadIds.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select u.id from threads_unread_by(${workspaceId}, ${personId}, ${threadIds}::text[]) as u(id)`.execute(
    transaction,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Returns until when the member has read each thread; threads that do not exist are absent, and all for a person who is no member. */
export async function findReadUntil(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
  threadIds: readonly string[],
): Promise<Map<string, Date>> {
  if (threadIds.length === 0) return new Map();
  // A thread that is unread as a whole has -infinity, which no Date has.
  const { rows } = await sql<{ thread_id: string; read_until: Date }>`
    select u.thread_id, greatest(u.read_until, 'epoch') as read_until
    from threads_read_until(${workspaceId}, ${personId}, ${threadIds}::text[]) as u`.execute(transaction);
  return new Map(rows.map(({ thread_id: id, read_until: at }) => [id, at]));
}

/** What a member reads, or marks as unread. */
export interface ReadMark {
  personId: string;
  threadIds: readonly string[];
  isRead: boolean;
  /** the last message that is read, or the first that is unread; null: all of them */
  emailId: string | null;
}

/** Marks threads as read or unread by a member. Returns those for which that changed something. */
export async function markThreadsRead(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { personId, threadIds, isRead, emailId }: ReadMark,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select m.id from mark_threads_read(${workspaceId}, ${personId}, ${threadIds}::text[], ${isRead}, ${emailId}) as m(id)`.execute(
    transaction,
  );
  return rows.map(({ id }) => id);
}

/** Returns whether an email is in a thread. */
export async function isOfThread(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  threadId: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('email')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', emailId)
    .where('thread_id', '=', threadId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Rows that one call deletes. */
const DELETED_AT_ONCE = 5_000;

/** Marks everything that has come until now as read by a member. */
export async function markAllRead(
  transaction: Transaction<Tables>,
  workspaceId: string,
  personId: string,
): Promise<void> {
  await sql`select mark_all_read(${workspaceId}, ${personId}, ${DELETED_AT_ONCE})`.execute(transaction);
}

/** Gives a new thread what members have read of the one that its messages come from. */
export async function copyReads(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  fromId: string,
  toId: string,
) {
  await client.query('select copy_reads($1, $2, $3)', [workspaceId, fromId, toId]);
}
