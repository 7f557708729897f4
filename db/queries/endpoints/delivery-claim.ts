import type { PostedKind } from '../../../core/events/event-kinds.ts';
import { LEASE_SECONDS } from '../../claim.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** A delivery that was claimed. */
export interface ClaimedDeliveryRow {
  workspace_id: string;
  id: string;
  /** null for an event that is about no email */
  email_id: string | null;
  endpoint_id: string;
  /** the event that is posted; null: mail that is routed to the endpoint */
  event_seq: number | null;
  event_kind: PostedKind | null;
  attempts: number;
  attempts_allowed: number;
  created_at: Date;
  thread_id: string | null;
  thread_position: number | null;
  order_key: string | null;
  size_bytes: number | null;
}

/** The columns of ClaimedDeliveryRow that a row of delivery has. */
export function claimedColumns(row: string): string {
  return [
    'workspace_id',
    'id',
    'email_id',
    'endpoint_id',
    'event_seq',
    'event_kind',
    'attempts',
    'attempts_allowed',
    'created_at',
    'thread_id',
    'thread_position',
    'order_key',
  ]
    .map((column) => `${row}.${column}`)
    .join(', ');
}

/** The column of ClaimedDeliveryRow that the message has. */
export function sizeOfMessage(row: string): string {
  return `(select r.size_bytes from raw_message r
           where r.id = (select e.raw_id from email e where e.workspace_id = ${row}.workspace_id and e.id = ${row}.email_id)) as size_bytes`;
}

/** An endpoint with pending webhook deliveries. */
export interface DeliveryLaneRow {
  workspace_id: string;
  endpoint_id: string;
  /** its first delivery is due, whether claimed or not */
  is_due: boolean;
}

const IS_WAITING = `status = 'pending' and delivery_type = 'webhook'`;

/**
 * Returns the next $3 endpoints with pending webhook deliveries after a position ($1 workspace id, $2 endpoint id), ordered by these ids. Rows:
 * DeliveryLaneRow. It steps from endpoint to endpoint, so that a long backlog of one costs no more than a single delivery.
 */
export const listLanesSql = `
  with recursive lane as (
    (select workspace_id, endpoint_id, next_attempt_at from delivery
     where ${IS_WAITING} and (workspace_id, endpoint_id) > ($1::text, $2::text)
     order by workspace_id, endpoint_id, next_attempt_at limit 1)
    union all
    select n.workspace_id, n.endpoint_id, n.next_attempt_at
    from lane l cross join lateral (
      select workspace_id, endpoint_id, next_attempt_at from delivery
      where ${IS_WAITING} and (workspace_id, endpoint_id) > (l.workspace_id, l.endpoint_id)
      order by workspace_id, endpoint_id, next_attempt_at limit 1) n
  )
  select workspace_id, endpoint_id, coalesce(next_attempt_at <= (select postroom_now()), false) as is_due from lane limit $3`;

/**
 * Claims due webhook deliveries for the claimant $1: for each workspace and endpoint in the parallel arrays $2 and $3, up to the number in $4,
 * longest due first. Those locked by another claimant are skipped, not awaited. Rows: ClaimedDeliveryRow, ordered per endpoint.
 */
export const claimOfLanesSql = `
  with claimed as (
    update delivery t set claimed_by = $1, claimed_until = (select postroom_now()) + interval '${LEASE_SECONDS} seconds'
    -- by their place, which cannot change while they are locked: a join over the key might walk the whole table
    where t.ctid = any(array(
      select d.place from unnest($2::text[], $3::text[], $4::integer[]) as l(workspace_id, endpoint_id, wanted)
      cross join lateral (
        select d.ctid as place from delivery d
        where d.workspace_id = l.workspace_id and d.endpoint_id = l.endpoint_id and d.${IS_WAITING.replace(' and ', ' and d.')}
          and d.next_attempt_at <= (select postroom_now())
          and (d.claimed_until is null or d.claimed_until < (select postroom_now()))
          and ${notSetAsideSql('deliver', 'd.workspace_id', 'd.id')}
        order by d.next_attempt_at limit l.wanted for update skip locked) d))
    returning ${claimedColumns('t')}, t.next_attempt_at
  )
  select ${claimedColumns('c')}, ${sizeOfMessage('c')}
  from claimed c
  order by c.next_attempt_at`;

/**
 * Extends the leases of claimant $1 on the deliveries in the parallel arrays $2 (workspace ids) and $3 (ids); $4 is the lease in seconds.
 * Returns the ids that it still holds.
 */
export const renewLeasesSql = `
  update delivery d set claimed_until = (select postroom_now()) + $4 * interval '1 second'
  from unnest($2::text[], $3::text[]) as k(workspace_id, id)
  where d.workspace_id = k.workspace_id and d.id = k.id and d.claimed_by = $1 returning d.id`;

/**
 * Releases the leases of claimant $1 on the deliveries in the parallel arrays $2 (workspace ids) and $3 (ids), so that any process may claim
 * them at once.
 */
export const releaseLeasesSql = `
  update delivery d set claimed_by = null, claimed_until = null
  from unnest($2::text[], $3::text[]) as k(workspace_id, id)
  where d.workspace_id = k.workspace_id and d.id = k.id and d.claimed_by = $1`;
