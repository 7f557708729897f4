import type pg from 'pg';
import { countEmailsSql } from '../emails/email-counter.ts';
import type { EmailFlags } from '../emails/email-flags.ts';

/** How many received messages of a thread changed each flag; threads without changes are left out. */
export interface FlaggedThread {
  threadId: string;
  readChanges: number;
  archiveChanges: number;
}

/** The flags to set on all received messages of some threads. */
export interface ThreadFlags extends EmailFlags {
  threadIds: readonly string[];
}

/** Locks the messages that do not have the flags yet; returns how many. The caller holds lockThreads. */
export async function lockUnflagged(client: pg.ClientBase, userId: string, flags: ThreadFlags): Promise<number> {
  const { rows } = await client.query<{ count: number }>({
    name: 'thread-flags-lock',
    text: LOCK_SQL,
    values: valuesOf(userId, flags),
  });
  return rows[0]?.count ?? 0;
}

/** Messages that one statement changes, so that none takes too long. */
export const FLAGGED_AT_ONCE = 5_000;

/**
 * Sets flags of messages that lockUnflagged locked, FLAGGED_AT_ONCE at most, and updates the counters of lists and threads. It is a
 * separate statement after the lock, so that it sees the changes of those who held the rows.
 */
export async function setThreadFlags(
  client: pg.ClientBase,
  userId: string,
  flags: ThreadFlags,
): Promise<FlaggedThread[]> {
  const values = valuesOf(userId, flags);
  const { rows } = await client.query<FlaggedRow>({ name: 'thread-flags-set', text: SET_SQL, values });
  return rows.map((row) => ({
    threadId: row.thread_id,
    readChanges: row.read_changes,
    archiveChanges: row.archive_changes,
  }));
}

function valuesOf(userId: string, { threadIds, isRead, isArchived }: ThreadFlags): unknown[] {
  return [userId, threadIds, isRead ?? null, isArchived ?? null];
}

interface FlaggedRow {
  thread_id: string;
  read_changes: number;
  archive_changes: number;
}

const TO_CHANGE = `
  e.user_id = $1 and e.thread_id = any ($2::text[]) and e.type = 'received'
  and (e.is_read <> coalesce($3::boolean, e.is_read) or e.is_archived <> coalesce($4::boolean, e.is_archived))`;

const LOCK_SQL = `
  with locked as materialized (select e.id from email e where ${TO_CHANGE} order by e.id for no key update of e)
  select count(*)::integer as count from locked`;

const SET_SQL = `
  with former as materialized (select e.id, e.is_read, e.is_archived from email e where ${TO_CHANGE} limit ${FLAGGED_AT_ONCE}),
  changed as (
    update email e set is_read = coalesce($3::boolean, e.is_read), is_archived = coalesce($4::boolean, e.is_archived),
      updated_at = (select postroom_now()),
      read_at = case when coalesce($3::boolean, e.is_read) then coalesce(e.read_at, (select postroom_now())) end
    from former f where e.user_id = $1 and e.id = f.id
    returning e.*, f.is_read as was_read, f.is_archived as was_archived
  ),
  -- totals go by hours and more, and most of the messages lie in few
  moved as (
    select user_id, date_trunc('hour', created_at, 'UTC') as created_at, own_address, own_domain, type, status, v.is_read, v.is_archived,
      sum(v.delta) as delta
    from changed cross join lateral (values (is_read, is_archived, 1), (was_read, was_archived, -1)) as v(is_read, is_archived, delta)
    group by 1, 2, 3, 4, 5, 6, 7, 8
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
