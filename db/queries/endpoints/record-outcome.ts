import type { ClientBase } from 'pg';
import type { ActionLog } from '../../../core/endpoints/actions.ts';
import type { DeliveryAttemptOutcome } from '../../../core/endpoints/delivery.ts';
import type { FeedEvent } from '../threads/thread-events.ts';

/** The outcome of an attempt, in the parameter of finishDeliveriesSql. */
export interface FinishRecord {
  workspace_id: string;
  id: string;
  /** the fence: the row must still have this value */
  attempts_before: number;
  /** whether it counts as an attempt, in the delivery and in the endpoint's statistics */
  is_counted: boolean;
  outcome: DeliveryAttemptOutcome;
  status: 'pending' | 'success' | 'failed';
  /** until the next attempt; null when there is none */
  delay_seconds: number | null;
  status_code: number | null;
  error: string | null;
  /** what became of the actions in the response; absent when it has none */
  actions?: ActionLog;
  /** further fields of the stored attempt */
  attempt: AttemptRecord;
  event_kind: 'delivery.succeeded' | 'delivery.failed' | 'delivery.deferred';
  /** the receiver replied that it wants no more deliveries: the endpoint is disabled for this reason */
  inactive_reason: string | null;
}

/** Part of delivery.last_attempt, to which number, outcome, status_code and error are added. */
interface AttemptRecord {
  started_at: Date;
  duration_ms: number;
  response_body: string | null;
  request_headers: Record<string, string>;
}

/** One user's part of a recorded group. */
export interface FinishedRow {
  workspace_id: string;
  /** null: no event was appended */
  last_seq: number | null;
  delivery_ids: string[];
}

/**
 * Returns CTEs that append events to the feeds of their users. They follow `source`, a CTE with one row per event: workspace_id, event_id, kind,
 * email_id, delivery_id, endpoint_id, data. `after` is a condition that reads the CTEs to run first, because the rows that number events are
 * locked last. `feed` has workspace_id and last_seq.
 */
function appendEventsSql(source: string, after: string): string {
  return `
  feed as (
    insert into event_counter as c (workspace_id, last_seq)
    select h.workspace_id, count(*) from ${source} h where ${after} group by 1 order by 1
    on conflict (workspace_id) do update set last_seq = c.last_seq + excluded.last_seq
    returning c.workspace_id, c.last_seq
  ), appended as (
    insert into event (workspace_id, seq, id, kind, at, email_id, delivery_id, endpoint_id, data)
    select h.workspace_id, f.last_seq + 1 - h.from_last, h.event_id, h.kind, (select postroom_now()), h.email_id, h.delivery_id, h.endpoint_id,
           h.data
    from (select h.*, row_number() over (partition by h.workspace_id order by h.event_id desc) as from_last from ${source} h) h
    join feed f on f.workspace_id = h.workspace_id
  )`;
}

/** Postroom disables an endpoint when all its deliveries have failed for this long; hours (Standard Webhooks). */
const FAILING_HOURS = 120;

/**
 * Returns CTEs that count attempts in the statistics of their endpoints and disable endpoints that keep failing. They follow `source`, a CTE
 * with one row per attempt: workspace_id, endpoint_id, is_counted (only these count), outcome ('success' or a failure), error, inactive_reason (why
 * the endpoint must be disabled now, or null) and disabled_event_id (an identifier for the event; null for a success).
 * The CTE `stat` has a row for each endpoint that still exists. The last CTE, `disabled`, has the fields of the event `endpoint.disabled` for
 * each endpoint it disabled: workspace_id, endpoint_id, event_id and reason. Statistics are locked before endpoints, both in key order.
 */
export function countOutcomesSql(source: string): string {
  return `
  tally as materialized (
    select f.workspace_id, f.endpoint_id, count(*) as total, count(*) filter (where f.outcome = 'success') as successful,
           max(f.inactive_reason) as inactive_reason, max(f.error) as error, max(f.disabled_event_id) as event_id
    from ${source} f where f.is_counted group by 1, 2
  ), failing as materialized (
    select t.workspace_id, t.endpoint_id, t.event_id, coalesce(t.inactive_reason, 'Every delivery since '
             || to_char(s.failing_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
             || ' failed; disabled after ${FAILING_HOURS} hours. Last error: ' || coalesce(t.error, 'none')) as reason
    from tally t
    left join lateral (
      select s.failing_since from endpoint_stat s where s.workspace_id = t.workspace_id and s.endpoint_id = t.endpoint_id limit 1) s on true
    where t.successful = 0
      and (t.inactive_reason is not null or s.failing_since < (select postroom_now()) - interval '${FAILING_HOURS} hours')
  ), stat as (
    insert into endpoint_stat as s (workspace_id, endpoint_id, total, successful, failed, last_delivery_at, failing_since)
    select t.workspace_id, t.endpoint_id, t.total, t.successful, t.total - t.successful, (select postroom_now()),
           case when t.successful = 0 then (select postroom_now()) end
    from tally t
    -- Endpoints that no longer exist are not counted.
    join lateral (select from endpoint e where e.workspace_id = t.workspace_id and e.id = t.endpoint_id limit 1) e on true
    order by 1, 2
    on conflict (workspace_id, endpoint_id) do update set
      total = s.total + excluded.total, successful = s.successful + excluded.successful, failed = s.failed + excluded.failed,
      last_delivery_at = greatest(s.last_delivery_at, excluded.last_delivery_at),
      failing_since = case when excluded.successful = 0 then coalesce(s.failing_since, excluded.failing_since) end
    returning 1
  ), disabled as (
    update endpoint e set is_active = false, inactive_reason = f.reason, updated_at = (select postroom_now())
    from (select f.* from failing f where (select count(*) from stat) >= 0 order by f.workspace_id, f.endpoint_id) f
    where e.workspace_id = f.workspace_id and e.id = f.endpoint_id and e.is_active
    returning e.workspace_id, e.id as endpoint_id, f.event_id, f.reason
  )`;
}

/**
 * Returns a statement that records the outcomes of attempts: delivery (only while $1 holds the claim and no other attempt was counted since),
 * attempt, statistics, endpoint, event. Parameters: $1 the claimant, $2 FinishRecord[] as JSON, each with the event_id of its event and a
 * disabled_event_id. A delivery that is in none of the rows was taken over by another process. The last attempt is stored in the delivery's
 * own row, since most deliveries need no second one; the attempt before it is moved to delivery_earlier_attempt. The view delivery_attempt
 * combines both.
 */
const finishSql = (end: string) => `
  with outcome as materialized (
    select * from jsonb_to_recordset($2::jsonb) as o(
      workspace_id text, id text, attempts_before integer, is_counted boolean, outcome text, status text, delay_seconds float8,
      status_code integer, error text, attempt jsonb, event_id text, disabled_event_id text, event_kind text, inactive_reason text,
      actions jsonb)
  ), finished as (
    update delivery d set
      status = o.status,
      attempts = d.attempts + o.is_counted::integer,
      next_attempt_at = (select postroom_now()) + o.delay_seconds * interval '1 second',
      last_attempt_at = (o.attempt->>'started_at')::timestamptz,
      claimed_by = null,
      claimed_until = null,
      response_data = jsonb_build_object('error', o.error, 'statusCode', o.status_code),
      last_attempt = o.attempt || jsonb_build_object('outcome', o.outcome, 'status_code', o.status_code, 'error', o.error,
        -- an interrupted attempt is recorded and not counted, so numbers may run ahead of attempts
        'number', 1 + coalesce((d.last_attempt->>'number')::integer, 0)),
      actions = o.actions,
      completed_at = case when o.status <> 'pending' then (select postroom_now()) end
    from outcome o
    where d.workspace_id = o.workspace_id and d.id = o.id and d.claimed_by = $1 and d.attempts = o.attempts_before
      -- Always true, which the planner takes for rare: it looks the deliveries up by their keys, whatever it thinks of the table's size.
      and o.id = o.id || '' and o.workspace_id = o.workspace_id || ''
    returning d.email_id, d.endpoint_id, d.event_seq, d.attempts, (d.last_attempt->>'number')::integer as number, o.*
  ), moved as (
    insert into delivery_earlier_attempt (workspace_id, delivery_id, number, started_at, duration_ms, outcome, status_code, error, response_body,
      request_headers)
    select f.workspace_id, f.id, l.number, l.started_at, l.duration_ms, l.outcome, l.status_code, l.error, l.response_body, l.request_headers
    from finished f
    -- the row as it was before this statement
    cross join lateral (select d.last_attempt from delivery d where f.number > 1 and d.workspace_id = f.workspace_id and d.id = f.id limit 1) d
    cross join lateral jsonb_to_record(d.last_attempt) as l(number integer, started_at timestamptz(3), duration_ms integer, outcome text,
      status_code integer, error text, response_body text, request_headers jsonb)
  ), ${countOutcomesSql('finished')}, happened as materialized (
    select workspace_id, event_id, event_kind as kind, email_id, id as delivery_id, endpoint_id,
           jsonb_build_object('attempts', attempts, 'statusCode', status_code, 'error', error) as data
    -- The delivery of an event is no event: an endpoint that is posted those would be posted forever.
    from finished where event_seq is null
    union all
    select workspace_id, event_id, 'endpoint.disabled', null, null, endpoint_id, jsonb_build_object('reason', reason) from disabled
  )${end}`;

/** Records outcomes and appends their events. Rows: FinishedRow. */
export const finishDeliveriesSql =
  finishSql(`, ${appendEventsSql('happened', '(select count(*) from stat) + (select count(*) from disabled) >= 0')}
  select d.workspace_id, max(f.last_seq) as last_seq, array_agg(d.id) as delivery_ids
  from finished d left join feed f on f.workspace_id = d.workspace_id group by d.workspace_id`);

/**
 * Records the outcome of one delivery within a transaction that appends the events later, last of all. Rows: `{events: FeedEvent[]}`, in the
 * order of their ids; none when the claim was lost.
 */
const finishWithoutEventsSql = finishSql(`
  select coalesce((
    select jsonb_agg(jsonb_build_object('id', h.event_id, 'kind', h.kind, 'emailId', h.email_id, 'deliveryId', h.delivery_id,
      'endpointId', h.endpoint_id, 'data', h.data) order by h.event_id)
    from happened h), '[]') as events
  from finished where (select count(*) from stat) + (select count(*) from disabled) >= 0`);

/** Records the outcome of one delivery within a transaction. Returns its events; null when the claim was lost. */
export async function finishDelivery(
  client: ClientBase,
  claimant: string,
  record: FinishRecord & { event_id: string; disabled_event_id: string | null },
): Promise<FeedEvent[] | null> {
  const { rows } = await client.query<{ events: FeedEvent[] }>({
    name: 'delivery-finish-without-events',
    text: finishWithoutEventsSql,
    values: [claimant, JSON.stringify([record])],
  });
  return rows[0]?.events ?? null;
}
