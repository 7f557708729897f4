import { type Selectable, sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { ReturnReason } from '../../../core/threads/return-reason.ts';
import type { Row, Tables } from '../../entities/tables.ts';
import type { ThreadEvent } from './thread-events.ts';

/** Whether a thread is out of the inbox, and whether it came back. */
export interface ThreadSnooze {
  /** out of the inbox until then; null: it is not */
  snoozedUntil: Date | null;
  /** when it comes back unless a reply comes before; null: it does not */
  remindAt: Date | null;
  /** when it came back to the inbox, and why; null: it did not, or was archived or snoozed since */
  returnedAt: Date | null;
  returnedBy: ReturnReason | null;
}

/** Columns of ThreadSnooze. */
export const snoozeColumns = ['snoozed_until', 'remind_at', 'returned_at', 'returned_by'] as const;

export function readThreadSnooze(row: Pick<Selectable<Row<'thread'>>, (typeof snoozeColumns)[number]>): ThreadSnooze {
  return {
    snoozedUntil: row.snoozed_until,
    remindAt: row.remind_at,
    returnedAt: row.returned_at,
    returnedBy: row.returned_by,
  };
}

/** When a thread is out of the inbox, and when and why it came back; times as ISO 8601. */
export interface SnoozeState {
  snoozedUntil: string | null;
  remindAt: string | null;
  returnedAt: string | null;
  returnedBy: ReturnReason | null;
}

/** A thread with its state before a change. */
export interface FormerSnooze {
  threadId: string;
  before: SnoozeState;
}

/**
 * Changes the state of threads; absent fields stay. A thread that is snoozed or archived has not come back any more. Returns the changed
 * ones, with their state before. The caller holds lockThreads.
 */
export async function changeSnooze(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  change: Partial<SnoozeState>,
): Promise<FormerSnooze[]> {
  const { rows } = await client.query<FormerSnooze>({
    name: 'thread-snooze',
    text: `
      with previous as materialized (
        select t.id, jsonb_build_object('snoozedUntil', t.snoozed_until, 'remindAt', t.remind_at,
          'returnedAt', t.returned_at, 'returnedBy', t.returned_by) as state
        from thread t where t.workspace_id = $1 and t.id = any ($2::text[]) order by t.id for no key update
      ), wanted as (
        select f.id, f.state, (w.x ->> 'snoozedUntil')::timestamptz(3) as snoozed_until, (w.x ->> 'remindAt')::timestamptz(3) as remind_at,
          (w.x ->> 'returnedAt')::timestamptz(3) as returned_at, w.x ->> 'returnedBy' as returned_by
        from previous f cross join lateral (select f.state || $3::jsonb as x) w
      ), changed as (
        update thread t set updated_at = (select postroom_now()), snoozed_until = w.snoozed_until, remind_at = w.remind_at,
          returned_at = w.returned_at, returned_by = w.returned_by
        from wanted w where t.workspace_id = $1 and t.id = w.id
          and (t.snoozed_until, t.remind_at, t.returned_at, t.returned_by)
            is distinct from (w.snoozed_until, w.remind_at, w.returned_at, w.returned_by)
        returning t.id, w.state
      )
      select id as "threadId", state as before from changed order by id`,
    values: [workspaceId, threadIds, JSON.stringify(change)],
  });
  return rows;
}

/** Returns until when a thread is snoozed and when it comes back, and what time it is; null: the workspace has no such thread. */
export async function readSnooze(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
): Promise<{ snoozedUntil: Date | null; remindAt: Date | null; now: Date } | null> {
  const { rows } = await client.query<{ snoozedUntil: Date | null; remindAt: Date | null; now: Date }>({
    name: 'thread-snooze-read',
    text: `select snoozed_until as "snoozedUntil", remind_at as "remindAt", postroom_now() as now from thread where workspace_id = $1 and id = $2`,
    values: [workspaceId, threadId],
  });
  return rows[0] ?? null;
}

/** Sets when the thread of a sent or scheduled email comes back, for an email without a thread yet. Returns whether it was one. */
export async function remindOfUnthreaded(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  remindAt: Date | null,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update email set remind_at = ${remindAt}, updated_at = postroom_now()
    where workspace_id = ${workspaceId} and id = ${emailId} and type <> 'received' and thread_id is null`.execute(
    transaction,
  );
  return numAffectedRows === 1n;
}

/** A thread that came back to the inbox. */
export interface ReturnedThread {
  workspaceId: string;
  threadId: string;
  returnedBy: ReturnReason;
}

/** Brings back up to `limit` threads of all workspaces that are due, and returns them by workspace. */
export async function wakeThreads(client: pg.ClientBase, limit: number): Promise<ReturnedThread[]> {
  const { rows } = await client.query<ReturnedThread>({
    name: 'thread-wake',
    text: 'select workspace_id as "workspaceId", thread_id as "threadId", returned_by as "returnedBy" from wake_threads($1)',
    values: [limit],
  });
  return rows;
}

/** Returns the event of a thread that has this state now. */
export function snoozedEvent(
  threadId: string,
  { snoozedUntil, remindAt }: Pick<SnoozeState, 'snoozedUntil' | 'remindAt'>,
): Omit<ThreadEvent, 'id'> {
  return { kind: 'thread.snoozed', threadId, data: { until: snoozedUntil, remindAt } };
}

/** Returns the event of a thread that came back. */
export function returnedEvent({ threadId, returnedBy }: ReturnedThread): Omit<ThreadEvent, 'id'> {
  return { kind: 'thread.returned', threadId, data: { by: returnedBy } };
}
