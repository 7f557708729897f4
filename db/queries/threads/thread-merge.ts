import type pg from 'pg';
import { type ThreadsApart, threadsApart } from '../../../core/threads/threads-apart.ts';

/** A thread that ends, and the one that takes its messages, which never ends in the same call. */
export interface Merge {
  loserId: string;
  survivorId: string;
}

/** A merged thread, in its last state. */
export interface EndedThread {
  id: string;
  labels: string[];
  messageCount: number;
  receivedCount: number;
  unreadCount: number;
  archivedCount: number;
}

/**
 * Moves everything from the losers to their survivors, and makes the losers' ids permanent aliases. The caller writes positions, counters,
 * participants and labels of the survivors. Claims of losers pass to their survivors (merge_claims), and their assignees to survivors without one, and their reminders. Threads that a loser must stay apart from stay apart from its survivor. Emails are locked
 * before thread rows, the lock order of all transactions.
 */
export async function mergeThreads(
  client: pg.ClientBase,
  workspaceId: string,
  merges: readonly Merge[],
): Promise<EndedThread[]> {
  if (merges.length === 0) return [];
  const values = [workspaceId, merges.map((merge) => merge.loserId), merges.map((merge) => merge.survivorId)];
  await client.query({
    name: 'thread-merge-emails',
    text: `
      with moved as (
        update email e set thread_id = ${selectSurvivor('e.thread_id')} where e.workspace_id = $1 and e.thread_id = any ($2::text[])
      )
      select merge_claims($1, $2::text[], $3::text[]), merge_assignees($1, $2::text[], $3::text[]), merge_reminders($1, $2::text[], $3::text[]),
        merge_reads($1, $2::text[], $3::text[])`,
    values,
  });
  const { rows } = await client.query<EndedRow>({
    name: 'thread-merge',
    text: `
      with keys as (
        update thread_message_id k set thread_id = ${selectSurvivor('k.thread_id')} where k.workspace_id = $1 and k.thread_id = any ($2::text[])
      ), anchors as (
        update thread_subject s set thread_id = ${selectSurvivor('s.thread_id')} where s.workspace_id = $1 and s.thread_id = any ($2::text[])
      ), notes as (
        update thread_note n set thread_id = ${selectSurvivor('n.thread_id')} where n.workspace_id = $1 and n.thread_id = any ($2::text[])
      ), aliases as (
        update thread_alias a set thread_id = ${selectSurvivor('a.thread_id')} where a.workspace_id = $1 and a.thread_id = any ($2::text[])
      ), parted as (
        delete from thread_apart p where p.workspace_id = $1 and p.thread_id = any ($2::text[]) returning p.thread_id, p.other_id
      ), unparted as (
        delete from thread_apart p using parted where p.workspace_id = $1 and p.thread_id = parted.other_id and p.other_id = parted.thread_id
          and p.thread_id <> all ($2::text[])
      ), apart as (
        select distinct coalesce(${selectSurvivor('p.thread_id')}, p.thread_id) as one, coalesce(${selectSurvivor('p.other_id')}, p.other_id) as other
        from parted p
      ), kept_apart as (
        insert into thread_apart (workspace_id, thread_id, other_id)
        select $1, a.one, a.other from apart a where a.one <> a.other union select $1, a.other, a.one from apart a where a.one <> a.other
        on conflict do nothing
      ), made as (
        insert into thread_alias (workspace_id, alias_id, thread_id)
        select $1, m.loser_id, m.survivor_id from unnest($2::text[], $3::text[]) as m(loser_id, survivor_id)
      )
      delete from thread t where t.workspace_id = $1 and t.id = any ($2::text[])
      returning t.id, t.labels, t.message_count, t.received_count, t.unread_count, t.archived_count`,
    values,
  });
  return rows.map((row) => ({
    id: row.id,
    labels: row.labels,
    messageCount: row.message_count,
    receivedCount: row.received_count,
    unreadCount: row.unread_count,
    archivedCount: row.archived_count,
  }));
}

/** Looked up in the parameters, not joined: a join planned while the tables were small would compare all pairs. */
function selectSurvivor(column: string): string {
  return `($3::text[])[array_position($2::text[], ${column})]`;
}

interface EndedRow {
  id: string;
  labels: string[];
  message_count: number;
  received_count: number;
  unread_count: number;
  archived_count: number;
}

/** Returns the threads that each of these must stay apart from. */
export async function readThreadsApart(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<ThreadsApart> {
  if (threadIds.length === 0) return new Map();
  const { rows } = await client.query<{ thread_id: string; other_id: string }>({
    name: 'thread-apart-read',
    text: `select thread_id, other_id from thread_apart where workspace_id = $1 and thread_id = any ($2::text[])`,
    values: [workspaceId, threadIds],
  });
  return threadsApart(rows.map((row) => [row.thread_id, row.other_id]));
}

/** Records that the threads of each pair must stay apart. */
export async function addThreadsApart(
  client: pg.ClientBase,
  workspaceId: string,
  pairs: readonly (readonly [string, string])[],
): Promise<void> {
  if (pairs.length === 0) return;
  await client.query({
    name: 'thread-apart-add',
    text: `
      insert into thread_apart (workspace_id, thread_id, other_id)
      select $1, p.one, p.other from unnest($2::text[], $3::text[]) as p(one, other)
      union select $1, p.other, p.one from unnest($2::text[], $3::text[]) as p(one, other)
      on conflict do nothing`,
    values: [workspaceId, pairs.map(([one]) => one), pairs.map(([, other]) => other)],
  });
}
