import type pg from 'pg';
import { UNDO_HOURS } from '../../../core/threads/undo-hours.ts';
import type { SnoozeState } from './thread-snooze.ts';

/** A thread as one request changed it, with what it was before. Absent: the request did not change that. */
export interface ChangedThread {
  id: string;
  /** when the change was made: the thread's `updated_at`, milliseconds. Every later change of the thread moves it on */
  changedAt: number;
  /** what the flag was set to, and the messages that had the other value; read ones with the time */
  read?: { to: boolean; emails: [emailId: string, readAt: string | null][] };
  archived?: { to: boolean; emailIds: string[] };
  /** the labels before and after */
  labels?: { before: string[]; after: string[] };
  /** what it was before it was snoozed, woken or archived */
  snooze?: SnoozeState;
  /** whether it was moved to the trash, or back */
  trashed?: { to: boolean };
}

/** Changes of an account that are kept, and messages in them together; the newest are. */
const MAX_KEPT = 2_000;
const MAX_KEPT_MESSAGES = 1_000_000;

/** What a request changed of a thread. */
export type ThreadChanges = Omit<ChangedThread, 'changedAt'>;

/** Stores what the threads were, as the last statement that changes them, and removes the oldest of too many changes. */
export async function storeUndo(
  client: pg.ClientBase,
  workspaceId: string,
  id: string,
  threads: readonly ThreadChanges[],
): Promise<void> {
  await client.query({
    name: 'thread-undo-store',
    text: `
      with kept as (
        select u.id, row_number() over w as place, sum(u.message_count) over w as messages
        from thread_undo u where u.workspace_id = $1 window w as (order by u.id desc)
      ), removed as (
        delete from thread_undo u using kept k
        where u.workspace_id = $1 and u.id = k.id and (k.place >= ${MAX_KEPT} or k.messages + $3 > ${MAX_KEPT_MESSAGES})
      ), changed as (
        select count(*) as threads, jsonb_agg(c || jsonb_build_object('changedAt', extract(epoch from t.updated_at) * 1000)) as state
        from jsonb_array_elements($4::jsonb) c join thread t on t.workspace_id = $1 and t.id = c ->> 'id'
      )
      insert into thread_undo (workspace_id, id, thread_count, message_count, state, created_at, expires_at)
      select $1, $2, c.threads, $3::integer, coalesce(c.state, '[]'), now.at, now.at + interval '${UNDO_HOURS} hours'
      from changed c, (select postroom_now() as at) now`,
    values: [workspaceId, id, countMessages(threads), JSON.stringify(threads)],
  });
}

/** Takes a stored change; null: the workspace has none with this id, it was undone, or its time is over. */
export async function takeUndo(
  client: pg.ClientBase,
  workspaceId: string,
  id: string,
): Promise<ChangedThread[] | null> {
  const { rows } = await client.query<{ state: ChangedThread[] }>({
    name: 'thread-undo-take',
    text: 'delete from thread_undo where workspace_id = $1 and id = $2 and expires_at > postroom_now() returning state',
    values: [workspaceId, id],
  });
  return rows[0]?.state ?? null;
}

/** Returns when each of the threads was last changed; milliseconds. Threads that are gone are left out. */
export async function readChangeTimes(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await client.query<{ id: string; at: Date }>({
    name: 'thread-undo-times',
    text: 'select t.id, t.updated_at as at from thread t where t.workspace_id = $1 and t.id = any ($2::text[])',
    values: [workspaceId, threadIds],
  });
  return new Map(rows.map(({ id, at }) => [id, at.getTime()]));
}

/** Returns how many messages the request changed in the threads, each once for every flag. */
export function countMessages(threads: readonly Pick<ChangedThread, 'read' | 'archived'>[]): number {
  return threads.reduce(
    (sum, { read, archived }) => sum + (read?.emails.length ?? 0) + (archived?.emailIds.length ?? 0),
    0,
  );
}
