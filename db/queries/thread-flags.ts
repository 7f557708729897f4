import type pg from 'pg';
import { countEmailsSql } from './email-counter.ts';
import type { EmailFlags } from './email-flags.ts';

/** How many received messages of a thread got another value of each flag. */
export interface FlaggedThread {
  threadId: string;
  readChanges: number;
  archiveChanges: number;
}

/**
 * Sets flags of all received messages of these threads, and with them the counters of lists and threads: two statements, however many
 * messages there are. Threads in which nothing changed are left out of the answer. The caller holds lockThreads.
 */
export async function setThreadFlags(
  client: pg.ClientBase,
  userId: string,
  threadIds: readonly string[],
  flags: EmailFlags,
): Promise<FlaggedThread[]> {
  const values = [userId, threadIds, flags.isRead ?? null, flags.isArchived ?? null];
  // First alone, so that the second sees what those who held the rows made of them.
  const locked = await client.query({ name: 'thread-flags-lock', text: LOCK_SQL, values });
  if (locked.rowCount === 0) return [];
  const { rows } = await client.query<FlaggedRow>({ name: 'thread-flags-set', text: SET_SQL, values });
  return rows.map((row) => ({
    threadId: row.thread_id,
    readChanges: row.read_changes,
    archiveChanges: row.archive_changes,
  }));
}

interface FlaggedRow {
  thread_id: string;
  read_changes: number;
  archive_changes: number;
}

const TO_CHANGE = `
  e.user_id = $1 and e.thread_id = any ($2::text[]) and e.type = 'received'
  and (e.is_read <> coalesce($3::boolean, e.is_read) or e.is_archived <> coalesce($4::boolean, e.is_archived))`;

/** A row when there is any to change. */
const LOCK_SQL = `
  with locked as materialized (select e.id from email e where ${TO_CHANGE} order by e.id for no key update of e)
  select count(*) from locked having count(*) > 0`;

const SET_SQL = `
  with former as materialized (select e.id, e.is_read, e.is_archived from email e where ${TO_CHANGE}),
  changed as (
    update email e set is_read = coalesce($3::boolean, e.is_read), is_archived = coalesce($4::boolean, e.is_archived),
      updated_at = (select postroom_now()),
      read_at = case when coalesce($3::boolean, e.is_read) then coalesce(e.read_at, (select postroom_now())) end
    from former f where e.user_id = $1 and e.id = f.id
    returning e.*, f.is_read as was_read, f.is_archived as was_archived
  ),
  moved as (
    select user_id, created_at, own_address, own_domain, type, status, is_read, is_archived, 1 as delta from changed
    union all
    select user_id, created_at, own_address, own_domain, type, status, was_read, was_archived, -1 from changed
  ),
  counted as (${countEmailsSql('moved')}),
  by_thread as (
    select thread_id, sum(is_read::int - was_read::int)::int as read, sum(is_archived::int - was_archived::int)::int as archived
    from changed group by thread_id order by thread_id
  ),
  threaded as (
    update thread t set updated_at = (select postroom_now()), unread_count = t.unread_count - b.read,
      archived_count = t.archived_count + b.archived
    from by_thread b where t.user_id = $1 and t.id = b.thread_id
  )
  select thread_id, abs(read) as read_changes, abs(archived) as archive_changes from by_thread`;
