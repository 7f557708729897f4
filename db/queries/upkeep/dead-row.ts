import type { Database } from '../../connection/database.ts';

/** Work that may fail over one row, and the actor that does it. */
export const ACTOR_OF_STEP = {
  /** parsing and storing a reception; subject: its email id */
  parse: 'receiving',
  /** notifying a sender of a failed recipient; subject: the recipient */
  report: 'receiving',
  /** assigning an email to a thread */
  assign: 'threading',
  /** routing an email */
  route: 'delivery',
  /** asking a model about an email */
  ask: 'delivery',
  /** creating the deliveries of events; subject: the endpoint */
  'fan-out': 'delivery',
  /** a delivery to a webhook */
  deliver: 'delivery',
  /** a delivery that forwards */
  forward: 'delivery',
  /** sending to a recipient */
  send: 'sending',
  /** queueing a scheduled email */
  release: 'scheduling',
} as const;

export type DeadStep = keyof typeof ACTOR_OF_STEP;

/** Internal faults: exp(min(10, n)) seconds, 25 tries, then dead. */
const MAX_TRIES = 25;
const LONGEST_EXPONENT = 10;
/** Of the error text; characters. */
const MAX_ERROR_LENGTH = 300;

/**
 * Returns a condition: the row is not set aside. The arguments are expressions on it. When no row of the step is set aside, it is evaluated
 * once for the whole statement, which takes a microsecond.
 */
export function notSetAsideSql(step: DeadStep, workspaceId: string, subjectId: string): string {
  return `(not (select exists (select from dead_row x where x.step = '${step}')) or not exists (
    select from dead_row x where x.workspace_id = ${workspaceId} and x.step = '${step}' and x.subject_id = ${subjectId}
      and x.retry_at > (select postroom_now())))`;
}

/** A row over which work failed, and why. */
export interface RowFault {
  workspaceId: string;
  step: DeadStep;
  subjectId: string;
  error: unknown;
}

/** The new state of the row. */
export interface SetAside {
  /** consecutive failures */
  tries: number;
  /** until the next try; null: it is dead */
  retrySeconds: number | null;
}

/** Sets a row aside after an internal fault: it is claimed again after a growing pause, and after the last try only when it is replayed. */
export async function setRowAside(database: Database, fault: RowFault): Promise<SetAside> {
  const { workspaceId, step, subjectId, error } = fault;
  const { rows } = await database.pool.query<{ tries: number; retry_seconds: number | null }>({
    name: 'dead-row-set-aside',
    text: `
      insert into dead_row as d (workspace_id, step, actor, subject_id, tries, last_error, first_failed_at, last_failed_at, retry_at)
      select $1, $2, $3, $4, 1, $5, n.at, n.at, n.at + exp(1) * interval '1 second' from (select postroom_now() as at) n
      on conflict (workspace_id, step, subject_id) do update set tries = least(d.tries + 1, ${MAX_TRIES}), last_error = excluded.last_error,
        last_failed_at = excluded.last_failed_at,
        retry_at = case when d.tries + 1 >= ${MAX_TRIES} then 'infinity'
          else excluded.last_failed_at + exp(least(${LONGEST_EXPONENT}, d.tries + 1)) * interval '1 second' end,
        dead_at = case when d.tries + 1 >= ${MAX_TRIES} then coalesce(d.dead_at, excluded.last_failed_at) end
      returning d.tries,
        case when d.dead_at is null then extract(epoch from d.retry_at - d.last_failed_at)::float8 end as retry_seconds`,
    values: [workspaceId, step, ACTOR_OF_STEP[step], subjectId, readWords(error)],
  });
  return { tries: rows[0]?.tries ?? 1, retrySeconds: rows[0]?.retry_seconds ?? null };
}

/** A row that is not worked on any more. */
export interface DeadRow {
  workspace_id: string;
  actor: string;
  step: DeadStep;
  subject_id: string;
  tries: number;
  last_error: string;
  first_failed_at: Date;
  dead_at: Date;
}

/** Selects dead rows; both null: all. */
export interface DeadSelection {
  actor: string | null;
  subjectId: string | null;
}

/** Returns the dead rows, oldest first. */
export async function listDeadRows(database: Database, selection: DeadSelection, limit: number): Promise<DeadRow[]> {
  const { rows } = await database.pool.query<DeadRow>(
    `select workspace_id, actor, step, subject_id, tries, last_error, first_failed_at, dead_at from dead_row d
     where ${SELECTED} order by dead_at, workspace_id, step, subject_id limit $3`,
    [selection.actor, selection.subjectId, limit],
  );
  return rows;
}

/** Counts dead rows by actor; actors without any are left out. */
export async function countDeadRows(database: Database): Promise<{ actor: string; count: number }[]> {
  const { rows } = await database.pool.query<{ actor: string; count: number }>({
    name: 'dead-row-count',
    text: 'select actor, count(*) from dead_row where dead_at is not null group by actor order by actor',
  });
  return rows;
}

const SELECTED = `d.dead_at is not null and ($1::text is null or d.actor = $1) and ($2::text is null or d.subject_id = $2)`;

/**
 * Makes dead rows due again, as if they had never failed. Returns how many. Rows without a time stay without one: held or unqueued
 * recipients, and forwards that were queued.
 */
export async function replayDeadRows(database: Database, selection: DeadSelection): Promise<number> {
  const { rowCount } = await database.pool.query(
    `
    with replayed as materialized (
      delete from dead_row d where ${SELECTED} returning d.workspace_id, d.step, d.subject_id
    ), parsed as (
      -- many claims would have the message stored unparsed
      update reception r set tries = 0, claimed_by = null, claimed_until = null from replayed p
      where p.step = 'parse' and r.workspace_id = p.workspace_id and r.email_id = p.subject_id and r.parsed_at is null
    ), sent as (
      update recipient r set next_attempt_at = least(r.next_attempt_at, (select postroom_now())) from replayed p
      where p.step = 'send' and r.workspace_id = p.workspace_id and r.id = p.subject_id and r.status = 'pending' and r.next_attempt_at is not null
    ), delivered as (
      update delivery r set next_attempt_at = least(r.next_attempt_at, (select postroom_now())) from replayed p
      where p.step in ('deliver', 'forward') and r.workspace_id = p.workspace_id and r.id = p.subject_id and r.status = 'pending'
        and r.next_attempt_at is not null
    )
    select from replayed`,
    [selection.actor, selection.subjectId],
  );
  return rowCount ?? 0;
}

/** Rows that were set aside and succeeded since. */
export async function forgetOldFaults(database: Database, limit: number): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'dead-row-forget',
    text: `
      delete from dead_row d where (d.workspace_id, d.step, d.subject_id) in (
        select o.workspace_id, o.step, o.subject_id from dead_row o
        where o.dead_at is null and o.retry_at < (select postroom_now()) - interval '1 day' limit $1)
        and d.dead_at is null and d.retry_at < (select postroom_now()) - interval '1 day'`,
    values: [limit],
  });
  return rowCount ?? 0;
}

/** Name, code and message: never the detail, in which PostgreSQL quotes rows. */
function readWords(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { code } = error as { code?: unknown };
  const text = `${error.name}${typeof code === 'string' ? ` ${code}` : ''}: ${error.message}`;
  return text
    .replace(/[\0-\x1f\x7f]+/g, ' ')
    .slice(0, MAX_ERROR_LENGTH)
    .toWellFormed();
}
