import type pg from 'pg';

/** A thread that ends, and the one that takes its messages; the second never ends in the same call. */
export interface Merge {
  loserId: string;
  survivorId: string;
}

/** Counters of a thread that ended, as they were at its end. */
export interface EndedThread {
  id: string;
  messageCount: number;
  receivedCount: number;
  unreadCount: number;
  archivedCount: number;
}

/**
 * Gives everything of the losers to their survivors and makes the losers' ids aliases for ever. Positions, counters and participants of
 * the survivors are the caller's to write. Emails are locked before thread rows, in the order in which everyone locks them.
 */
export async function mergeThreads(
  client: pg.ClientBase,
  userId: string,
  merges: readonly Merge[],
): Promise<EndedThread[]> {
  if (merges.length === 0) return [];
  const values = [userId, merges.map((merge) => merge.loserId), merges.map((merge) => merge.survivorId)];
  await client.query({
    name: 'thread-merge-emails',
    text: `update email e set thread_id = ${survivorOf('e.thread_id')} where e.user_id = $1 and e.thread_id = any ($2::text[])`,
    values,
  });
  const { rows } = await client.query<EndedRow>({
    name: 'thread-merge',
    text: `
      with keys as (
        update thread_message_id k set thread_id = ${survivorOf('k.thread_id')} where k.user_id = $1 and k.thread_id = any ($2::text[])
      ), anchors as (
        update thread_subject s set thread_id = ${survivorOf('s.thread_id')} where s.user_id = $1 and s.thread_id = any ($2::text[])
      ), aliases as (
        update thread_alias a set thread_id = ${survivorOf('a.thread_id')} where a.user_id = $1 and a.thread_id = any ($2::text[])
      ), made as (
        insert into thread_alias (user_id, alias_id, thread_id)
        select $1, m.loser_id, m.survivor_id from unnest($2::text[], $3::text[]) as m(loser_id, survivor_id)
      )
      delete from thread t where t.user_id = $1 and t.id = any ($2::text[])
      returning t.id, t.message_count, t.received_count, t.unread_count, t.archived_count`,
    values,
  });
  return rows.map((row) => ({
    id: row.id,
    messageCount: row.message_count,
    receivedCount: row.received_count,
    unreadCount: row.unread_count,
    archivedCount: row.archived_count,
  }));
}

/** Looked up in the parameters, not joined: a join that was planned while the tables were small would compare each of all with each. */
function survivorOf(column: string): string {
  return `($3::text[])[array_position($2::text[], ${column})]`;
}

interface EndedRow {
  id: string;
  message_count: number;
  received_count: number;
  unread_count: number;
  archived_count: number;
}
