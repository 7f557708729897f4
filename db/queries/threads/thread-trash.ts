import type pg from 'pg';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import type { ThreadReason } from '../../../core/threads/threading.ts';
import { countEmailsSql } from '../emails/email-counter.ts';

/** Messages that one statement moves, so that none takes too long. */
export const TRASHED_AT_ONCE = 5_000;

/** An email to move to the trash, locked. */
export interface TrashableEmail {
  id: string;
  type: EmailType;
  status: EmailStatus;
  /** null: it has just arrived, or was never sent */
  threadId: string | null;
  threadReason: ThreadReason | 'manual' | null;
  isTrashed: boolean;
}

/** Returns those of the emails that belong to the workspace, locked in id order. */
export async function lockTrashable(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<TrashableEmail[]> {
  const { rows } = await client.query<TrashableEmail>({
    name: 'trash-lock-emails',
    text: `
      select e.id, e.type, e.status, e.thread_id as "threadId", e.thread_reason as "threadReason", e.trashed_at is not null as "isTrashed"
      from email e where e.workspace_id = $1 and e.id = any ($2::text[]) order by e.id for no key update`,
    values: [workspaceId, emailIds],
  });
  return rows;
}

/** A thread in the trash. */
export interface TrashedThread {
  id: string;
  /** the thread that its only message left; null: it was moved as a whole */
  from: string | null;
}

/** Returns those of the threads that are in the trash. */
export async function findTrashedThreads(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<TrashedThread[]> {
  const { rows } = await client.query<TrashedThread>({
    name: 'trash-find-threads',
    text: `
      select t.id, t.trashed_from as "from" from thread t
      where t.workspace_id = $1 and t.id = any ($2::text[]) and t.trashed_at is not null order by t.id`,
    values: [workspaceId, threadIds],
  });
  return rows;
}

/** Locks the messages of threads that are, or are not, in the trash; returns how many. The caller holds lockThreads. */
export async function lockMessages(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  place: 'trash' | 'lists',
): Promise<number> {
  const { rows } = await client.query<{ count: number }>({
    name: `trash-lock-${place}`,
    text: `
      with locked as materialized (
        select e.id from email e where e.workspace_id = $1 and e.thread_id = any ($2::text[])
          and e.trashed_at ${place === 'trash' ? 'is not null' : 'is null'} order by e.id for no key update of e)
      select count(*)::integer as count from locked`,
    values: [workspaceId, threadIds],
  });
  return rows[0]?.count ?? 0;
}

/**
 * Moves messages that lockMessages locked to the trash, TRASHED_AT_ONCE at most: out of lists, totals and searches. Their threads keep their
 * rows and counters, which lists of threads leave out once markTrashed has marked them.
 */
export async function trashMessages(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<void> {
  await client.query({ name: 'trash-messages', text: TRASH_SQL, values: [workspaceId, threadIds] });
}

/** Moves messages back, TRASHED_AT_ONCE at most. */
export async function restoreMessages(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<void> {
  await client.query({ name: 'trash-restore', text: RESTORE_SQL, values: [workspaceId, threadIds] });
}

/** Marks threads whose messages are all in the trash; `from` is the thread that the message left. */
export async function markTrashed(
  client: pg.ClientBase,
  workspaceId: string,
  threads: readonly TrashedThread[],
): Promise<void> {
  await client.query({
    name: 'trash-mark',
    text: `
      update thread t set trashed_at = (select postroom_now()), trashed_from = x.left_id, updated_at = (select postroom_now())
      from unnest($2::text[], $3::text[]) as x(id, left_id) where t.workspace_id = $1 and t.id = x.id`,
    values: [workspaceId, threads.map(({ id }) => id), threads.map(({ from }) => from)],
  });
}

/** Marks threads whose messages are out of the trash again. */
export async function markRestored(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<void> {
  await client.query({
    name: 'trash-unmark',
    text: `
      update thread t set trashed_at = null, trashed_from = null, updated_at = (select postroom_now())
      where t.workspace_id = $1 and t.id = any ($2::text[])`,
    values: [workspaceId, threadIds],
  });
}

/** Returns the messages of a thread, with why they are in the thread that they were in. */
export async function readReasons(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
): Promise<{ id: string; threadReason: ThreadReason | 'manual' }[]> {
  const { rows } = await client.query<{ id: string; threadReason: ThreadReason | 'manual' }>({
    name: 'trash-reasons',
    text: `
      select e.id, e.thread_reason as "threadReason" from email e where e.workspace_id = $1 and e.thread_id = $2
      order by e.thread_at, e.id`,
    values: [workspaceId, threadId],
  });
  return rows;
}

/** Returns the messages of these threads, or those of them, in the trash that are removed next. */
export async function findRemovable(
  client: pg.ClientBase,
  workspaceId: string,
  { threadIds, emailIds }: { threadIds: readonly string[]; emailIds: readonly string[] | null },
  span: { afterId: string; limit: number },
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'trash-removable',
    text: `
      select e.id from email e where e.workspace_id = $1 and e.trashed_at is not null and e.id > $3
        and (e.thread_id = any ($2::text[]) or e.thread_id is null and e.kept_apart is not null and e.id = any ($5::text[]))
        and ($5::text[] is null or e.id = any ($5::text[]))
      order by e.id limit $4`,
    values: [workspaceId, threadIds, span.afterId, span.limit, emailIds],
  });
  return rows.map(({ id }) => id);
}

// Totals go by hours and more, and most of the messages lie in few.
const selectTotals = (emails: string, sign: 1 | -1) => `(
  select workspace_id, date_trunc('hour', created_at, 'UTC') as created_at, own_address, own_domain, type, status, is_read, is_archived,
    ${sign} * count(*) as delta
  from ${emails} group by 1, 2, 3, 4, 5, 6, 7, 8) as totalled`;

const TRASH_SQL = `
  with chosen as materialized (
    select e.id from email e where e.workspace_id = $1 and e.thread_id = any ($2::text[]) and e.trashed_at is null limit ${TRASHED_AT_ONCE}
  ), moved as materialized (
    update email e set trashed_at = (select postroom_now()), updated_at = (select postroom_now())
    from chosen c where e.workspace_id = $1 and e.id = c.id returning e.*
  ), searched as materialized (
    delete from email_search s where s.workspace_id = $1 and s.email_id = any (array(select id from chosen)) returning s.email_id, s.text, s.parties
  ), kept as (
    insert into trashed_email (workspace_id, email_id, trashed_at, created_at, text, parties)
    select $1, m.id, m.trashed_at, m.created_at, s.text, s.parties from moved m left join searched s on s.email_id = m.id
    on conflict (workspace_id, email_id) do update set trashed_at = excluded.trashed_at, text = excluded.text, parties = excluded.parties
  )
  ${countEmailsSql(selectTotals('moved', -1))}`;

const RESTORE_SQL = `
  with chosen as materialized (
    select e.id from email e where e.workspace_id = $1 and e.thread_id = any ($2::text[]) and e.trashed_at is not null limit ${TRASHED_AT_ONCE}
  ), moved as materialized (
    update email e set trashed_at = null, kept_apart = null, updated_at = (select postroom_now())
    from chosen c where e.workspace_id = $1 and e.id = c.id returning e.*
  ), kept as materialized (
    delete from trashed_email t where t.workspace_id = $1 and t.email_id = any (array(select id from chosen)) returning t.*
  ), searched as (
    insert into email_search (workspace_id, email_id, created_at, text, parties)
    select workspace_id, email_id, created_at, text, parties from kept where text is not null on conflict do nothing
  )
  ${countEmailsSql(selectTotals('moved', 1))}`;
