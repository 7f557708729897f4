import { type Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';
import { HAS_NEWS } from '../endpoints/endpoint-subscription.ts';
import { ACTOR_OF_STEP, type DeadStep } from './dead-row.ts';
import { IS_WEBHOOK_WAITING, type Queue, queues } from './queues.ts';

/** What waits for one kind of work of an actor. */
export interface QueueBacklog {
  actor: string;
  /** a DeadStep, domains, or words */
  queue: string;
  /** rows that are due and not done, in hand or not; MAX_COUNTED means at least that many */
  rowCount: number;
  /** how long the longest due row has been due; 0 when there is none */
  oldestSeconds: number;
  /** rows that wait for their next attempt; null where not applicable */
  laterCount: number | null;
  /** dead rows, which are not counted elsewhere */
  deadCount: number;
}

/** Counting stops here, so that a backlog never slows down its own query. */
export const MAX_COUNTED = 10_000;
/** Rows among which the oldest that is not dead is searched. */
const OLDEST_LOOKED_AT = 200;
/** Endpoints whose longest due delivery is read. */
const LANES_LOOKED_AT = 2_000;
/** Milliseconds; the caller gets a response soon or not at all. */
const STATEMENT_TIMEOUT_MS = 2_000;

/**
 * Returns the backlog of all actors from the indexes of waiting rows: it takes milliseconds however much mail is stored, and is bounded
 * however much waits. Throws when PostgreSQL is unreachable or takes longer than 2 s.
 */
export async function readBacklog(database: Database): Promise<QueueBacklog[]> {
  return inTransaction(database, async (client) => {
    await client.query(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    // Not a named statement: a plan made while the tables were small would be kept.
    const { rows } = await client.query<BacklogRow>(backlogSql);
    return rows.map((row) => ({
      actor: row.actor,
      queue: row.queue,
      rowCount: row.row_count,
      oldestSeconds: row.oldest_seconds,
      laterCount: row.later_count,
      deadCount: row.dead_count,
    }));
  });
}

interface BacklogRow {
  actor: string;
  queue: string;
  row_count: number;
  oldest_seconds: number;
  later_count: number | null;
  dead_count: number;
}

const NOW = '(select now from clock_now)';

function readDead(step: DeadStep): string {
  return `(select coalesce(sum(count), 0) from dead where step = '${step}')`;
}

function isAlive(step: DeadStep, row: string, subject: string): string {
  return `not exists (select from dead_row x where x.workspace_id = ${row}.workspace_id and x.step = '${step}' and x.subject_id = ${row}.${subject}
    and x.dead_at is not null)`;
}

function counted(table: string, condition: string): string {
  return `(select count(*) from (select from ${table} where ${condition} limit ${MAX_COUNTED}) c)`;
}

function secondsSince(since: string): string {
  return `coalesce(greatest(0, extract(epoch from ${NOW} - ${since})), 0)::float8`;
}

function queueSql({ step, table, isWaiting, order, since, subject, isTimed }: Queue): string {
  const isDue = isTimed ? `${isWaiting} and ${order} <= ${NOW}` : isWaiting;
  return `
    select '${ACTOR_OF_STEP[step]}' as actor, '${step}' as queue,
      greatest(0, ${counted(table, isDue)} - ${readDead(step)})::integer as row_count,
      (select ${secondsSince('min(since)')} from (
        select workspace_id, ${subject}, ${since} as since from ${table} where ${isDue} order by ${order} limit ${OLDEST_LOOKED_AT}) o
        where ${isAlive(step, 'o', subject)}) as oldest_seconds,
      ${isTimed ? `${counted(table, `${isWaiting} and ${order} > ${NOW}`)}::integer` : 'null::integer'} as later_count,
      ${readDead(step)}::integer as dead_count`;
}

/** Its index is ordered by endpoint: steps from one to the next for the longest due of each, and over all of it up to the limit. */
const DELIVER_SQL = `
  select 'delivery', 'deliver', greatest(0, w.due - ${readDead('deliver')})::integer,
    (select ${secondsSince('min(d.next_attempt_at)')} from (select * from lane limit ${LANES_LOOKED_AT}) l cross join lateral (
      select d.next_attempt_at from delivery d
      where d.workspace_id = l.workspace_id and d.endpoint_id = l.endpoint_id and d.${IS_WEBHOOK_WAITING.replace(' and ', ' and d.')}
        and d.next_attempt_at <= ${NOW} and ${isAlive('deliver', 'd', 'id')}
      order by d.next_attempt_at limit 1) d),
    w.later::integer, ${readDead('deliver')}::integer
  from (select count(*) filter (where next_attempt_at <= ${NOW}) as due, count(*) filter (where next_attempt_at > ${NOW}) as later
    from (select next_attempt_at from delivery where ${IS_WEBHOOK_WAITING} limit ${MAX_COUNTED}) c) w`;

/** Endpoints that are behind the feed of their workspace, since the first event that they have no delivery of. */
const FAN_OUT_SQL = `
  select 'delivery', 'fan-out', greatest(0, ${counted('endpoint_subscription s', HAS_NEWS)} - ${readDead('fan-out')})::integer,
    (select ${secondsSince('min(v.at)')} from (
      select s.workspace_id, s.event_seq from endpoint_subscription s where ${HAS_NEWS} and ${isAlive('fan-out', 's', 'endpoint_id')}
      limit ${OLDEST_LOOKED_AT}) s
      cross join lateral (
        select v.at from event v where v.workspace_id = s.workspace_id and v.seq > s.event_seq order by v.seq limit 1) v),
    null::integer, ${readDead('fan-out')}::integer`;

const DOMAINS_SQL = `
  select 'scheduling', 'domains', ${counted('domain', `check_due_at <= ${NOW}`)}::integer,
    ${secondsSince('(select min(check_due_at) from domain)')}, null::integer, 0`;

/** New emails that are in no segment: a minute's worth, while the builder runs. Their table has only what waits. */
const WORDS_SQL = `
  select 'scheduling', 'words', count(*)::integer, ${secondsSince('min(u.noted_at)')}, null::integer, 0
  from (select noted_at from unindexed_email where state = 'new' limit ${MAX_COUNTED}) u`;

/** Everything in one statement, without parameters. */
export const backlogSql = `
  with recursive clock_now as materialized (select postroom_now() as now),
  dead as materialized (select step, count(*) from dead_row where dead_at is not null group by step),
  lane as (
    (select workspace_id, endpoint_id from delivery where ${IS_WEBHOOK_WAITING} order by workspace_id, endpoint_id, next_attempt_at limit 1)
    union all
    select n.workspace_id, n.endpoint_id from lane l cross join lateral (
      select workspace_id, endpoint_id from delivery
      where ${IS_WEBHOOK_WAITING} and (workspace_id, endpoint_id) > (l.workspace_id, l.endpoint_id)
      order by workspace_id, endpoint_id, next_attempt_at limit 1) n
  )
  ${[...queues.map(queueSql), DELIVER_SQL, FAN_OUT_SQL, DOMAINS_SQL, WORDS_SQL].join('\n  union all\n')}`;
