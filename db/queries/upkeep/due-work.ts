import type { Database } from '../../connection/database.ts';
import { IS_BEHIND } from '../endpoints/endpoint-subscription.ts';
import { DUE_LIMITS, dueAccountsSql } from '../search/word-segment.ts';
import { type DeadStep, notSetAsideSql } from './dead-row.ts';
import { IS_WEBHOOK_WAITING, type Queue, queues } from './queues.ts';

/** A step whose sweep claims due rows. */
export type DueStep = DeadStep | 'domains' | 'claims' | 'snoozes' | 'approvals' | 'erasures' | 'words';

/** Whether a step has work. */
export interface DueWork {
  step: DueStep;
  /** until the first row falls due, by PostgreSQL's clock; 0 when a row is due and free; null when none will be */
  seconds: number | null;
}

/** Due rows of a queue, and endpoints, that are looked at. If none of as many is free, the sweep finds out more. */
const ROWS_LOOKED_AT = 100;
const LANES_LOOKED_AT = 100;
const ROWS_OF_LANE = 10;

/**
 * Returns for each of the steps whether its sweep would find a row: a row that is due, without a current lease and not set aside. May say so
 * without one when many due rows are in hand, but never the opposite. One probe of an index for each step that has nothing to do.
 */
export async function findDueWork(database: Database, steps: readonly DueStep[]): Promise<DueWork[]> {
  const { rows } = await database.pool.query<DueWork>({
    // The first letters tell the steps apart; PostgreSQL cuts names off at 63 bytes.
    name: `due-work ${steps.map((step) => step.slice(0, 3)).join('')}`,
    text: dueWorkSql(steps),
  });
  return rows;
}

/** The statement of findDueWork. */
export function dueWorkSql(steps: readonly DueStep[]): string {
  return `
  with recursive clock_now as materialized (select postroom_now() as now), lane as (
    (select workspace_id, endpoint_id from delivery where ${IS_WEBHOOK_WAITING} order by workspace_id, endpoint_id, next_attempt_at limit 1)
    union all
    select n.workspace_id, n.endpoint_id from lane l cross join lateral (
      select workspace_id, endpoint_id from delivery
      where ${IS_WEBHOOK_WAITING} and (workspace_id, endpoint_id) > (l.workspace_id, l.endpoint_id)
      order by workspace_id, endpoint_id, next_attempt_at limit 1) n
  )
  select * from (${steps.map(stepSql).join('\n  union all\n')}) w(step, seconds)`;
}

/** Closed workspaces and persons. */
const CLOSED_SQL =
  '(select erase_at from workspace where erase_at is not null union all select erase_at from person where erase_at is not null)';

/** Threads that come back. */
const SNOOZED_SQL =
  '(select least(snoozed_until, remind_at) as wake_at from thread where least(snoozed_until, remind_at) is not null)';

const NOW = '(select now from clock_now)';

function stepSql(step: DueStep): string {
  if (step === 'domains') return timedSql(step, 'domain', 'check_due_at');
  if (step === 'claims') return timedSql(step, 'thread_claim', 'expires_at');
  if (step === 'snoozes') return timedSql(step, SNOOZED_SQL, 'wake_at');
  if (step === 'approvals') return timedSql(step, 'approval', 'expires_at');
  if (step === 'erasures') return timedSql(step, CLOSED_SQL, 'erase_at');
  if (step === 'words') return WORDS_SQL;
  if (step === 'deliver') return DELIVER_SQL;
  if (step === 'fan-out') return FAN_OUT_SQL;
  const queue = queues.find((one) => one.step === step);
  if (queue === undefined) throw new Error(`No queue of the step ${step}`);
  return queueSql(queue);
}

function queueSql({ step, table, isWaiting, order, subject, isTimed, isLeased }: Queue): string {
  const isDue = isTimed ? `${isWaiting} and ${order} <= ${NOW}` : isWaiting;
  const next = isTimed ? nextSql(`${table} q where ${isWaiting} and ${order} > ${NOW}`, order) : 'null::float8';
  return `
    select '${step}' as step, case when coalesce((
      select bool_or(is_free) or count(*) = ${ROWS_LOOKED_AT} from (
        select ${isFreeSql(step, subject, isLeased)} as is_free from ${table} q where ${isDue} order by ${order} limit ${ROWS_LOOKED_AT}) f
    ), false) then 0 else ${next} end as seconds`;
}

/** Condition on the row `q`. */
function isFreeSql(step: DeadStep, subject: string, isLeased: boolean): string {
  const isAside = notSetAsideSql(step, 'q.workspace_id', `q.${subject}`);
  return isLeased ? `(q.claimed_until is null or q.claimed_until < ${NOW}) and ${isAside}` : isAside;
}

function nextSql(rows: string, order: string): string {
  return `(select extract(epoch from q.${order} - ${NOW})::float8 from ${rows} order by q.${order} limit 1)`;
}

const ofLane = `q.workspace_id = l.workspace_id and q.endpoint_id = l.endpoint_id and q.${IS_WEBHOOK_WAITING.replace(' and ', ' and q.')}`;

const FAN_OUT_SQL = `
    select 'fan-out', case when exists (select from endpoint_subscription s where ${IS_BEHIND}) then 0 end::float8`;

const DELIVER_SQL = `
    select 'deliver', case when coalesce(bool_or(w.is_found) or count(*) = ${LANES_LOOKED_AT}, false) then 0 else min(w.next) end
    from (select * from lane limit ${LANES_LOOKED_AT}) l cross join lateral (
      select coalesce((
        select bool_or(is_free) or count(*) = ${ROWS_OF_LANE} from (
          select ${isFreeSql('deliver', 'id', true)} as is_free from delivery q where ${ofLane} and q.next_attempt_at <= ${NOW}
          order by q.next_attempt_at limit ${ROWS_OF_LANE}) f
      ), false) as is_found,
      ${nextSql(`delivery q where ${ofLane} and q.next_attempt_at > ${NOW}`, 'next_attempt_at')} as next) w`;

const WORDS_SQL = `
    select 'words', case when exists (${dueAccountsSql(DUE_LIMITS)}) then 0 end::float8`;

/** Of rows that are due by one column, without leases. */
function timedSql(step: DueStep, table: string, dueAt: string): string {
  return `
    select '${step}', case when exists (select from ${table} q where q.${dueAt} <= ${NOW}) then 0
      else ${nextSql(`${table} q where q.${dueAt} > ${NOW}`, dueAt)} end`;
}
