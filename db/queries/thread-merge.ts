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
    text: `update email e set thread_id = m.survivor_id from unnest($2::text[], $3::text[]) as m(loser_id, survivor_id)
           where e.user_id = $1 and e.thread_id = m.loser_id`,
    values,
  });
  const { rows } = await client.query<EndedRow>({
    name: 'thread-merge',
    text: `
      with merge as materialized (select * from unnest($2::text[], $3::text[]) as m(loser_id, survivor_id)),
      keys as (update thread_message_id k set thread_id = m.survivor_id from merge m where k.user_id = $1 and k.thread_id = m.loser_id),
      anchors as (update thread_subject s set thread_id = m.survivor_id from merge m where s.user_id = $1 and s.thread_id = m.loser_id),
      aliases as (update thread_alias a set thread_id = m.survivor_id from merge m where a.user_id = $1 and a.thread_id = m.loser_id),
      made as (insert into thread_alias (user_id, alias_id, thread_id) select $1, m.loser_id, m.survivor_id from merge m)
      delete from thread t using merge m where t.user_id = $1 and t.id = m.loser_id
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

interface EndedRow {
  id: string;
  message_count: number;
  received_count: number;
  unread_count: number;
  archived_count: number;
}
