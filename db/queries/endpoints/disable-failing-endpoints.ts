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
