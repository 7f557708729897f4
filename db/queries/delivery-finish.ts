/** What an attempt came to, in the parameter of finishDeliveriesSql. */
export interface FinishRecord {
  user_id: string;
  id: string;
  /** the fence: the row must still say so */
  attempts_before: number;
  /** whether it counts as a try, in the delivery and in the endpoint's statistics */
  is_counted: boolean;
  outcome: 'success' | 'failed' | 'interrupted';
  status: 'pending' | 'success' | 'failed';
  /** until the next try; null when there is none */
  delay_seconds: number | null;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response_body: string | null;
  request_headers: Record<string, string>;
  event_kind: 'delivery.succeeded' | 'delivery.failed' | 'delivery.deferred';
  /** the receiver answered that it wants no more: the endpoint is switched off for this reason */
  inactive_reason: string | null;
}

/** One user's part of a group that was recorded. */
export interface FinishedRow {
  user_id: string;
  last_seq: number;
  delivery_ids: string[];
}

/**
 * Records what attempts came to, in one statement: delivery (only while $1 holds the claim and no other try was counted since),
 * attempt, statistics, endpoint, event. Parameters: $1 the claimant, $2 FinishRecord[] as JSON, each with the event_id of its event. Rows: FinishedRow; a delivery that is in none
 * of them had been taken over.
 * The events come last although all is one statement: the counts of the other parts are awaited first, so that the row which numbers
 * a user's events is locked for the shortest time and always after the statistics, by every process in the same order.
 */
export const finishDeliveriesSql = `
  with outcome as materialized (
    select * from jsonb_to_recordset($2::jsonb) as o(
      user_id text, id text, attempts_before integer, is_counted boolean, outcome text, status text, delay_seconds float8,
      started_at timestamptz(3), duration_ms integer, status_code integer, error text, response_body text, request_headers jsonb,
      event_id text, event_kind text, inactive_reason text)
  ), finished as (
    update delivery d set
      status = o.status,
      attempts = d.attempts + o.is_counted::integer,
      next_attempt_at = (select postroom_now()) + o.delay_seconds * interval '1 second',
      last_attempt_at = o.started_at,
      claimed_by = null,
      claimed_until = null,
      response_data = jsonb_build_object('error', o.error, 'statusCode', o.status_code),
      completed_at = case when o.status <> 'pending' then (select postroom_now()) end
    from outcome o
    where d.user_id = o.user_id and d.id = o.id and d.claimed_by = $1 and d.attempts = o.attempts_before
      -- by key, whatever the planner thinks of the table's size
      and d.user_id = any(array(select user_id from outcome)) and d.id = any(array(select id from outcome))
    returning d.email_id, d.endpoint_id, d.attempts, o.*
  ), attempt as (
    insert into delivery_attempt (user_id, delivery_id, number, started_at, duration_ms, outcome, status_code, error, response_body, request_headers)
    select f.user_id, f.id,
           -- an interrupted attempt is recorded and not counted, so numbers may run ahead of attempts
           1 + coalesce((select max(a.number) from delivery_attempt a where a.user_id = f.user_id and a.delivery_id = f.id), 0),
           f.started_at, f.duration_ms, f.outcome, f.status_code, f.error, f.response_body, f.request_headers
    from finished f returning 1
  ), stat as (
    insert into endpoint_stat as s (user_id, endpoint_id, total, successful, failed, last_delivery_at)
    select f.user_id, f.endpoint_id, count(*), count(*) filter (where f.outcome = 'success'), count(*) filter (where f.outcome = 'failed'),
           max(f.started_at)
    from finished f where f.is_counted group by 1, 2 order by 1, 2
    on conflict (user_id, endpoint_id) do update set
      total = s.total + excluded.total, successful = s.successful + excluded.successful, failed = s.failed + excluded.failed,
      last_delivery_at = greatest(s.last_delivery_at, excluded.last_delivery_at)
    returning 1
  ), gone as (
    update endpoint e set is_active = false, inactive_reason = f.inactive_reason, updated_at = (select postroom_now())
    from (select distinct on (user_id, endpoint_id) user_id, endpoint_id, inactive_reason from finished where inactive_reason is not null
          order by 1, 2) f
    where e.user_id = f.user_id and e.id = f.endpoint_id returning 1
  )
  select u.user_id, append_events(u.user_id, u.events) as last_seq, u.delivery_ids
  from (
    select f.user_id, array_agg(f.id) as delivery_ids,
           jsonb_agg(jsonb_build_object('id', f.event_id, 'kind', f.event_kind, 'emailId', f.email_id, 'deliveryId', f.id,
             'endpointId', f.endpoint_id, 'data', jsonb_build_object('attempts', f.attempts, 'statusCode', f.status_code, 'error', f.error))) as events
    from finished f group by f.user_id order by f.user_id
  ) u
  where (select count(*) from attempt) + (select count(*) from stat) + (select count(*) from gone) >= 0`;
