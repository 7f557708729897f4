/** An endpoint at which nothing but failures came of deliveries for so long is switched off; hours (Standard Webhooks). */
export const FAILING_HOURS = 120;

/**
 * CTEs by which tries count at their endpoints, to be written behind `source`, a CTE with a row for each try: user_id, endpoint_id,
 * is_counted (the others are left out), outcome ('success', else it failed), error, inactive_reason (why the endpoint is to be switched
 * off at once, or null) and switch_event_id (an identifier for an event, or null where it succeeded). Statistics are locked before endpoints,
 * both in the order of their keys. The last one, `switched_off`, has what the event `endpoint.disabled` needs of each endpoint that was
 * switched off: user_id, endpoint_id, event_id and reason; `stat` has a row for each endpoint that is there.
 */
export function countOutcomesSql(source: string): string {
  return `
  tally as materialized (
    select f.user_id, f.endpoint_id, count(*) as total, count(*) filter (where f.outcome = 'success') as successful,
           max(f.inactive_reason) as inactive_reason, max(f.error) as error, max(f.switch_event_id) as event_id
    from ${source} f where f.is_counted group by 1, 2
  ), failing as materialized (
    select t.user_id, t.endpoint_id, t.event_id, coalesce(t.inactive_reason, 'Every delivery since '
             || to_char(s.failing_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
             || ' failed; switched off after ${FAILING_HOURS} hours. Last error: ' || coalesce(t.error, 'none')) as reason
    from tally t
    left join lateral (
      select s.failing_since from endpoint_stat s where s.user_id = t.user_id and s.endpoint_id = t.endpoint_id limit 1) s on true
    where t.successful = 0
      and (t.inactive_reason is not null or s.failing_since < (select postroom_now()) - interval '${FAILING_HOURS} hours')
  ), stat as (
    insert into endpoint_stat as s (user_id, endpoint_id, total, successful, failed, last_delivery_at, failing_since)
    select t.user_id, t.endpoint_id, t.total, t.successful, t.total - t.successful, (select postroom_now()),
           case when t.successful = 0 then (select postroom_now()) end
    from tally t
    -- Of an endpoint that is gone meanwhile nothing is counted.
    join lateral (select from endpoint e where e.user_id = t.user_id and e.id = t.endpoint_id limit 1) e on true
    order by 1, 2
    on conflict (user_id, endpoint_id) do update set
      total = s.total + excluded.total, successful = s.successful + excluded.successful, failed = s.failed + excluded.failed,
      last_delivery_at = greatest(s.last_delivery_at, excluded.last_delivery_at),
      failing_since = case when excluded.successful = 0 then coalesce(s.failing_since, excluded.failing_since) end
    returning 1
  ), switched_off as (
    update endpoint e set is_active = false, inactive_reason = f.reason, updated_at = (select postroom_now())
    from (select f.* from failing f where (select count(*) from stat) >= 0 order by f.user_id, f.endpoint_id) f
    where e.user_id = f.user_id and e.id = f.endpoint_id and e.is_active
    returning e.user_id, e.id as endpoint_id, f.event_id, f.reason
  )`;
}

/**
 * CTEs that append events to the feeds of their users, to be written behind `source`, a CTE with a row for each event: user_id, event_id,
 * kind, email_id, delivery_id, endpoint_id, data. The rows that number events are locked last: `after` is a condition that reads what is to
 * be done before. `feed` has user_id and last_seq.
 */
export function appendEventsSql(source: string, after: string): string {
  return `
  feed as (
    insert into event_counter as c (user_id, last_seq)
    select h.user_id, count(*) from ${source} h where ${after} group by 1 order by 1
    on conflict (user_id) do update set last_seq = c.last_seq + excluded.last_seq
    returning c.user_id, c.last_seq
  ), appended as (
    insert into event (user_id, seq, id, kind, at, email_id, delivery_id, endpoint_id, data)
    select h.user_id, f.last_seq + 1 - h.from_last, h.event_id, h.kind, (select postroom_now()), h.email_id, h.delivery_id, h.endpoint_id,
           h.data
    from (select h.*, row_number() over (partition by h.user_id order by h.event_id desc) as from_last from ${source} h) h
    join feed f on f.user_id = h.user_id
  )`;
}
