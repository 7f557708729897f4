import pg, { type Pool } from 'pg';
import { LEASE_SECONDS } from '../../claim.ts';
import type { Database } from '../../connection/database.ts';
import { inTransactionFrom } from '../../connection/transaction.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';
import { type ClaimedDeliveryRow, claimedColumns, sizeOfMessage } from './delivery-claim.ts';

/** The turns at one endpoint of the deliveries with one key. */
export interface Turn {
  workspaceId: string;
  endpointId: string;
  orderKey: string;
}

const WAITS = `status = 'pending' and order_key is not null and next_attempt_at is null`;
const HAS_TURN = `status = 'pending' and order_key is not null and next_attempt_at is not null`;
/** Mail that waits for its route, of which it is asked whether it comes before a delivery. */
const MAX_UNROUTED = 1_000;

/** The order_position of what has this identifier, as in core/endpoints/delivery-order.ts. */
const toPosition = (id: string) => `substr(${id}, strpos(${id}, '_') + 1)`;

const of = (row: string, condition: string) => `${row}.${condition.replaceAll(' and ', ` and ${row}.`)}`;

/**
 * Returns statements that lock the turns at these endpoints until the transaction ends, so that two processes do not give the same turn to
 * two deliveries. Locked in one order, to prevent deadlocks.
 */
function lockTurnsSql(turns: readonly Turn[]): string {
  const names = new Set(turns.map(({ workspaceId, endpointId }) => `turns ${workspaceId} ${endpointId}`));
  return [...names]
    .toSorted()
    .map((name) => `select pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(name)}, 0))`)
    .join('; ');
}

/** A delivery that got its turn. */
export type GivenTurnRow = ClaimedDeliveryRow & { /** otherwise it waits for a claim */ is_claimed: boolean };

/** When an identifier was made, by its first 48 bits. */
const madeAt = (position: string) =>
  `to_timestamp(('x' || lpad(left(${position}, 12), 16, '0'))::bit(64)::bigint / 1000.0)`;

/**
 * Makes the next delivery due of each turn that no delivery has; the parallel arrays are $1 (workspace ids), $2 (endpoint ids) and $3 (keys).
 * It waits for earlier mail with its key that has no route yet: another process may be routing it. The claimant $5 claims it where $4 says
 * so. Rows: GivenTurnRow.
 */
const giveTurnsSql = `
  with head as materialized (
    select d.place, d.order_position, k.workspace_id, k.order_key, k.is_claimed
    from unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) as k(workspace_id, endpoint_id, order_key, is_claimed)
    cross join lateral (
      select d.ctid as place, d.order_position from delivery d
      where d.workspace_id = k.workspace_id and d.endpoint_id = k.endpoint_id and d.order_key = k.order_key and ${of('d', WAITS)}
      order by d.order_position, d.id limit 1) d
    where not exists (
      select from delivery h
      where h.workspace_id = k.workspace_id and h.endpoint_id = k.endpoint_id and h.order_key = k.order_key and ${of('h', HAS_TURN)})
  ), last as materialized (
    select ${madeAt('max(order_position)')} as at from head
  ), unrouted as materialized (
    (select w.workspace_id, w.email_id from route w where w.outcome is null and w.created_at <= (select at from last)
     order by w.created_at desc limit ${MAX_UNROUTED})
    union all
    (select w.workspace_id, w.email_id from route w where w.outcome = 'asking' limit ${MAX_UNROUTED})
  ), earlier as materialized (
    select w.workspace_id, e.thread_id, lower(e.from_address) as sender, ${toPosition('w.email_id')} as position
    from unrouted w
    cross join lateral (select e.thread_id, e.from_address from email e where e.workspace_id = w.workspace_id and e.id = w.email_id limit 1) e
    where w.workspace_id = any ($1::text[]) and ${notSetAsideSql('route', 'w.workspace_id', 'w.email_id')}
      and ${notSetAsideSql('ask', 'w.workspace_id', 'w.email_id')}
  ), ready as materialized (
    select h.place, h.is_claimed from head h where not exists (
      select from earlier m where m.workspace_id = h.workspace_id and h.order_key in (m.thread_id, m.sender) and m.position < h.order_position)
  ), given as (
    update delivery t set next_attempt_at = (select postroom_now()),
      claimed_by = case when t.ctid = any (array(select r.place from ready r where r.is_claimed)) then $5 end,
      claimed_until = case when t.ctid = any (array(select r.place from ready r where r.is_claimed))
        then (select postroom_now()) + interval '${LEASE_SECONDS} seconds' end
    -- by their place, which cannot change while the lock is held: a join might look at all that wait
    where t.ctid = any (array(select r.place from ready r)) and ${of('t', WAITS)}
    returning ${claimedColumns('t')}, t.order_position, t.claimed_by is not null as is_claimed
  )
  select ${claimedColumns('g')}, g.is_claimed, ${sizeOfMessage('g')}
  from given g order by g.order_position`;

/**
 * Makes the next delivery due of each of these turns, unless one of its deliveries is due or in hand, and claims it for `claimant` where
 * `isClaimed` is set. Returns what it made due.
 */
export async function giveTurns(
  database: Database,
  claimant: string,
  turns: readonly (Turn & { isClaimed: boolean })[],
): Promise<GivenTurnRow[]> {
  return inTransactionFrom(database, lockTurnsSql(turns), async (client) => {
    // A statement of its own: it sees what was committed before the lock was free.
    const { rows } = await client.query<GivenTurnRow>({
      name: 'delivery-give-turns',
      text: giveTurnsSql,
      values: [
        turns.map(({ workspaceId }) => workspaceId),
        turns.map(({ endpointId }) => endpointId),
        turns.map(({ orderKey }) => orderKey),
        turns.map(({ isClaimed }) => isClaimed),
        claimant,
      ],
    });
    return rows;
  });
}

/**
 * Returns the next $4 keys with waiting deliveries after a position ($1 workspace id, $2 endpoint id, $3 key), ordered by these; `is_free` when
 * no delivery has the turn. It steps from key to key, so that a long backlog of one costs no more than a single delivery.
 */
const listTurnsSql = `
  with recursive turn as (
    (select workspace_id, endpoint_id, order_key from delivery
     where ${WAITS} and (workspace_id, endpoint_id, order_key) > ($1::text, $2::text, $3::text)
     order by workspace_id, endpoint_id, order_key limit 1)
    union all
    select n.workspace_id, n.endpoint_id, n.order_key
    from turn t cross join lateral (
      select workspace_id, endpoint_id, order_key from delivery
      where ${WAITS} and (workspace_id, endpoint_id, order_key) > (t.workspace_id, t.endpoint_id, t.order_key)
      order by workspace_id, endpoint_id, order_key limit 1) n
  )
  select t.workspace_id, t.endpoint_id, t.order_key,
    not exists (select from delivery h
      where h.workspace_id = t.workspace_id and h.endpoint_id = t.endpoint_id and h.order_key = t.order_key and ${of('h', HAS_TURN)}) as is_free
  from turn t limit $4`;

/** Returns the next turns after that one that deliveries wait for; `isFree` when no delivery has it. */
export async function listTurns(
  pool: Pool,
  { workspaceId, endpointId, orderKey }: Turn,
  limit: number,
): Promise<(Turn & { isFree: boolean })[]> {
  const { rows } = await pool.query<{ workspace_id: string; endpoint_id: string; order_key: string; is_free: boolean }>(
    {
      name: 'delivery-list-turns',
      text: listTurnsSql,
      values: [workspaceId, endpointId, orderKey, limit],
    },
  );
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    endpointId: row.endpoint_id,
    orderKey: row.order_key,
    isFree: row.is_free,
  }));
}
