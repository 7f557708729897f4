import type { ClientBase } from 'pg';
import { countOutcomesSql } from './record-outcome.ts';

/** What append_events takes, except its id. */
export interface ForwardEvent {
  kind: 'delivery.succeeded' | 'delivery.failed' | 'endpoint.disabled';
  emailId: string | null;
  deliveryId: string | null;
  endpointId: string;
  data: unknown;
}

/**
 * Settles those of the forwarded deliveries whose recipients are all settled, in the transaction that settled the last of them: success
 * when all received the copy, else failed. Each counts once in its endpoint's statistics. A report that arrives later turns success into
 * failed. Returns the events of the deliveries whose status changed, by workspace.
 */
export async function settleForwards(
  client: ClientBase,
  deliveries: readonly { workspaceId: string; deliveryId: string }[],
): Promise<{ workspaceId: string; event: ForwardEvent }[]> {
  if (deliveries.length === 0) return [];
  const keys = [deliveries.map(({ workspaceId }) => workspaceId), deliveries.map(({ deliveryId }) => deliveryId)];
  // The recipients are read after the lock, so that of two transactions which settle recipients of one delivery the second one sees both.
  await client.query({ name: 'forward-lock', text: LOCK_SQL, values: keys });
  const { rows } = await client.query<{ workspace_id: string; event: ForwardEvent; was_success: boolean }>({
    name: 'forward-settle',
    text: SETTLE_SQL,
    values: keys,
  });
  const late = rows.filter((row) => row.was_success);
  if (late.length > 0)
    await client.query({
      name: 'forward-count-late',
      text: COUNT_LATE_SQL,
      values: [late.map((row) => row.workspace_id), late.map(({ event }) => event.endpointId)],
    });
  return rows.map((row) => ({ workspaceId: row.workspace_id, event: row.event }));
}

const LOCK_SQL = `
  select from (select distinct * from unnest($1::text[], $2::text[])) as p(workspace_id, id)
  join delivery d on d.workspace_id = p.workspace_id and d.id = p.id
  order by d.workspace_id, d.id for no key update of d`;

const SETTLE_SQL = `
  with fresh as materialized (
    select d.workspace_id, d.id, d.email_id, d.endpoint_id, d.attempts, d.status as former_status, d.response_data as former_data, r.status,
      jsonb_build_object('error', case when r.status = 'failed' then
          case when r.total = 1 then '' else r.lost || ' of ' || r.total || ' recipients were not reached. ' || r.lost_address || ': ' end
          || coalesce(nullif(concat_ws(' ', r.code, r.lost_status, r.lost_text), ''), 'no answer') end,
        'statusCode', r.code) as data
    from (select distinct * from unnest($1::text[], $2::text[])) as p(workspace_id, id)
    cross join lateral (
      select * from delivery d where d.workspace_id = p.workspace_id and d.id = p.id and d.forward_raw_id is not null limit 1) d
    cross join lateral (
      select case when bool_or(r.status = 'pending') then 'pending' when bool_and(r.status = 'delivered') then 'success'
                  else 'failed' end as status,
             count(*) as total, count(*) filter (where r.status <> 'delivered') as lost,
             -- of the first that was lost, or else of one that was reached
             (array_agg(r.last_code order by r.status = 'delivered', r.settled_at, r.id))[1] as code,
             (array_agg(r.address order by r.settled_at, r.id) filter (where r.status <> 'delivered'))[1] as lost_address,
             (array_agg(r.last_status order by r.settled_at, r.id) filter (where r.status <> 'delivered'))[1] as lost_status,
             (array_agg(r.last_text order by r.settled_at, r.id) filter (where r.status <> 'delivered'))[1] as lost_text
      from recipient r where r.workspace_id = d.workspace_id and r.delivery_id = d.id having count(*) > 0) r
    where r.status <> 'pending'
  ), settled as (
    update delivery d set status = f.status, response_data = f.data, completed_at = coalesce(d.completed_at, (select postroom_now()))
    from fresh f where d.workspace_id = f.workspace_id and d.id = f.id and (f.status <> f.former_status or f.data is distinct from f.former_data)
  ), changed as materialized (
    select f.*, f.former_status = 'pending' as is_counted, f.status as outcome, f.data->>'error' as error, null::text as inactive_reason,
           f.id as disabled_event_id
    from fresh f where f.status <> f.former_status
  ), ${countOutcomesSql('changed')}
  select c.workspace_id, c.former_status = 'success' as was_success, jsonb_build_object('kind', case when c.status = 'success' then
      'delivery.succeeded' else 'delivery.failed' end, 'emailId', c.email_id, 'deliveryId', c.id, 'endpointId', c.endpoint_id,
      'data', jsonb_build_object('attempts', c.attempts, 'statusCode', c.data->'statusCode', 'error', c.data->'error')) as event
  from changed c where (select count(*) from stat) >= 0
  union all
  select s.workspace_id, false, jsonb_build_object('kind', 'endpoint.disabled', 'emailId', null, 'deliveryId', null, 'endpointId', s.endpoint_id,
    'data', jsonb_build_object('reason', s.reason))
  from disabled s`;

const COUNT_LATE_SQL = `
  update endpoint_stat s set successful = s.successful - l.count, failed = s.failed + l.count
  from (select workspace_id, endpoint_id, count(*) from unnest($1::text[], $2::text[]) as g(workspace_id, endpoint_id) group by 1, 2 order by 1, 2) l
  where s.workspace_id = l.workspace_id and s.endpoint_id = l.endpoint_id`;
