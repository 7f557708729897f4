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

/** The messages of a thread that do not have the flags yet. */
interface UnflaggedThread {
  threadId: string;
  count: number;
  /** the emails whose is_read would change, with when they were read */
  read: [emailId: string, readAt: string | null][];
  /** the emails whose is_archived would change */
  archived: string[];
}

/** Locks the messages that do not have the flags yet, and returns them by thread. The caller holds lockThreads. */
export async function lockUnflagged(
  client: pg.ClientBase,
  workspaceId: string,
  flags: ThreadFlags,
): Promise<UnflaggedThread[]> {
  const { rows } = await client.query<UnflaggedThread>({
    name: 'thread-flags-lock',
    text: LOCK_SQL,
    values: listValues(workspaceId, flags),
  });
  return rows;
}

/** Messages that one statement changes, so that none takes too long. */
export const FLAGGED_AT_ONCE = 5_000;

/**
 * Sets flags of messages that lockUnflagged locked, FLAGGED_AT_ONCE at most, and updates the counters of lists and threads. It is a
 * separate statement after the lock, so that it sees the changes of those who held the rows.
 */
export async function setThreadFlags(
  client: pg.ClientBase,
  workspaceId: string,
  flags: ThreadFlags,
): Promise<FlaggedThread[]> {
  const values = listValues(workspaceId, flags);
  const { rows } = await client.query<FlaggedRow>({ name: 'thread-flags-set', text: SET_SQL, values });
  return rows.map(flaggedThread);
}

/** The previous flags of a message; null stays as it is. */
export interface FormerFlags {
  id: string;
  is_read: boolean | null;
  read_at: string | null;
  is_archived: boolean | null;
}

/** Gives messages of these threads their previous flags back, FLAGGED_AT_ONCE at a time. The caller holds lockThreads. */
export async function setFormerFlags(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  emails: readonly FormerFlags[],
): Promise<FlaggedThread[]> {
  const flagged: FlaggedThread[] = [];
  for (let at = 0; at < emails.length; at += FLAGGED_AT_ONCE) {
    const batch = emails.slice(at, at + FLAGGED_AT_ONCE);
    await client.query({
      name: 'thread-flags-previous-lock',
      text: `select from email e where e.workspace_id = $1 and e.id = any ($2::text[]) order by e.id for no key update`,
      values: [workspaceId, batch.map(({ id }) => id)],
    });
    const { rows } = await client.query<FlaggedRow>({
      name: 'thread-flags-previous-set',
      text: SET_FORMER_SQL,
      values: [workspaceId, threadIds, JSON.stringify(batch)],
    });
    flagged.push(...rows.map(flaggedThread));
  }
  return flagged;
}

function flaggedThread(row: FlaggedRow): FlaggedThread {
  return { threadId: row.thread_id, readChanges: row.read_changes, archiveChanges: row.archive_changes };
}

function listValues(workspaceId: string, { threadIds, isRead, isArchived }: ThreadFlags): unknown[] {
  return [workspaceId, threadIds, isRead ?? null, isArchived ?? null];
}

interface FlaggedRow {
  thread_id: string;
  read_changes: number;
  archive_changes: number;
}

const TO_CHANGE = `
  e.workspace_id = $1 and e.thread_id = any ($2::text[]) and e.type = 'received'
  and (e.is_read <> coalesce($3::boolean, e.is_read) or e.is_archived <> coalesce($4::boolean, e.is_archived))`;

const LOCK_SQL = `
  with locked as materialized (
    select e.id, e.thread_id, e.is_read, e.read_at, e.is_archived from email e where ${TO_CHANGE} order by e.id for no key update of e
  )
  select thread_id as "threadId", count(*)::integer as count,
    coalesce(jsonb_agg(jsonb_build_array(id, read_at)) filter (where is_read <> $3::boolean), '[]') as read,
    coalesce(array_agg(id) filter (where is_archived <> $4::boolean), '{}') as archived
  from locked group by thread_id`;

/** Sets the flags of the rows of `previous`, which names the new ones. */
const setSql = (previous: string) => `
  with previous as materialized (${previous}),
  changed as (
    update email e set is_read = f.new_read, is_archived = f.new_archived, read_at = f.new_read_at, updated_at = (select postroom_now())
    from previous f where e.workspace_id = $1 and e.id = f.id
    returning e.*, f.is_read as was_read, f.is_archived as was_archived
  ),
  -- totals go by hours and more, and most of the messages lie in few
  moved as (
    select workspace_id, date_trunc('hour', created_at, 'UTC') as created_at, own_address, own_domain, type, status, v.is_read, v.is_archived,
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
    from by_thread b where t.workspace_id = $1 and t.id = b.thread_id
  )
  select thread_id, abs(read) as read_changes, abs(archived) as archive_changes from by_thread`;

const SET_SQL = setSql(`
  select e.id, e.is_read, e.is_archived, coalesce($3::boolean, e.is_read) as new_read, coalesce($4::boolean, e.is_archived) as new_archived,
    case when coalesce($3::boolean, e.is_read) then coalesce(e.read_at, (select postroom_now())) end as new_read_at
  from email e where ${TO_CHANGE} limit ${FLAGGED_AT_ONCE}`);

const SET_FORMER_SQL = setSql(`
  select e.id, e.is_read, e.is_archived, coalesce(x.is_read, e.is_read) as new_read, coalesce(x.is_archived, e.is_archived) as new_archived,
    case when x.is_read is null then e.read_at else x.read_at end as new_read_at
  from jsonb_to_recordset($3::jsonb) as x(id text, is_read boolean, is_archived boolean, read_at timestamptz)
  join email e on e.workspace_id = $1 and e.id = x.id
  where e.thread_id = any ($2::text[]) and e.type = 'received'`);
