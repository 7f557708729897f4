import type pg from 'pg';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import { type RouteDecision } from '../../../core/routing/decide-route.ts';
import { LEASE_SECONDS } from '../../claim.ts';
import type { Row } from '../../entities/tables.ts';
import { DELIVERY_CONTENT_COLUMNS, type StoredContentRow } from '../endpoints/delivery-body.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';
import { GRANTED_CATCH_ALL, GRANTED_ENDPOINTS_OF_ADDRESS } from './granted-route.ts';

/** A received email without a route, with what its route depends on. */
export interface UnroutedRow {
  workspace_id: string;
  id: string;
  own_address: string;
  from_address: string;
  thread_id: string;
  thread_position: number;
  /** null when the email has an address_id and the address is gone or has no endpoint */
  address_is_active: boolean | null;
  address_endpoint_id: string | null;
  address_webhook_id: string | null;
  /** null when the domain is gone */
  is_catch_all_enabled: boolean | null;
  catch_all_endpoint_id: string | null;
  receive_dmarc_emails: boolean | null;
  is_dmarc_report: boolean;
  raw_id: string | null;
  size_bytes: number | null;
  /** whether its workspace has active guard rules */
  has_guard_rules: boolean;
  /** the version (EndpointFactsRow) of each endpoint that the address and the domain name, by its id; null: none of them exists */
  endpoint_versions: Record<string, string> | null;
  /** results of models so far, see core/routing/decide-route.ts; null: none */
  verdicts: unknown;
}

const ROUTE_FACTS = `
  select e.workspace_id, e.id, e.own_address, e.from_address, e.thread_id, e.thread_position, r.verdicts, e.raw_id,
         (select m.size_bytes from raw_message m where m.id = e.raw_id) as size_bytes,
         exists (select from dmarc_report p where p.workspace_id = e.workspace_id and p.email_id = e.id) as is_dmarc_report,
         exists (select from guard_rule g where g.workspace_id = e.workspace_id and g.is_active) as has_guard_rules,
         (select jsonb_object_agg(n.id, n.xmin::text) from endpoint n
          where n.workspace_id = e.workspace_id and n.id in (a.endpoint_id, a.webhook_id, d.catch_all_endpoint_id)) as endpoint_versions,
         a.is_active as address_is_active, ${GRANTED_ENDPOINTS_OF_ADDRESS.replaceAll(' as ', ' as address_')},
         d.is_catch_all_enabled, ${GRANTED_CATCH_ALL}, d.receive_dmarc_emails`;

// limit 1: looked up by key, row by row; a join planned while the table was small might scan all of it
const ROUTE_FACTS_JOINS = `
  cross join lateral (select * from email e where e.workspace_id = r.workspace_id and e.id = r.email_id limit 1) e
  left join lateral (select * from email_address a where a.workspace_id = e.workspace_id and a.id = e.address_id limit 1) a on true
  left join lateral (select * from domain d where d.workspace_id = e.workspace_id and d.id = e.domain_id limit 1) d on true`;

const IS_NOT_ASIDE = notSetAsideSql('route', 'w.workspace_id', 'w.email_id');

/** In whose favor mail is passed over, and whether what is returned is locked. */
export interface TakeOptions {
  /** the mail of the workspaces $2 is stepped over, which takes longer the more of it waits */
  ofOthers: boolean;
  /** mail that another router has locked is skipped; what is returned stays locked until the transaction ends */
  locked: boolean;
}

/**
 * Returns a statement that reads up to $1 received emails that wait for a route, oldest first, without any that are set aside. Rows:
 * UnroutedRow. Without locks, two routers may read the same mail: storeRoutesSql lets one of them store its route.
 */
export function takeUnroutedSql({ ofOthers, locked }: TakeOptions): string {
  return `${ROUTE_FACTS}
  from (
    select w.workspace_id, w.email_id, w.verdicts from route w
    where w.outcome is null ${ofOthers ? 'and w.workspace_id <> all ($2::text[])' : ''} and ${IS_NOT_ASIDE} order by w.created_at limit $1
    ${locked ? 'for no key update skip locked' : ''}
  ) r ${ROUTE_FACTS_JOINS}`;
}

/** Reads and locks one email: $1 its workspace, $2 its id. No row when it no longer waits, or another router has locked it. */
export const takeOneUnroutedSql = `${ROUTE_FACTS}
  from (
    select workspace_id, email_id, verdicts from route where workspace_id = $1 and email_id = $2 and outcome is null
    for no key update skip locked
  ) r ${ROUTE_FACTS_JOINS}`;

/** The same for one email whose rule's model has responded: $1 its workspace, $2 its id, $3 the claimant. No row when the claim was lost. */
export const takeAskedSql = `${ROUTE_FACTS}
  from (
    select workspace_id, email_id, verdicts from route
    where workspace_id = $1 and email_id = $2 and outcome = 'asking' and claimed_by = $3
    for no key update
  ) r ${ROUTE_FACTS_JOINS}`;

/** What the routes of mail to one address depend on, in one snapshot. */
export type RouteFactsRow = Pick<
  UnroutedRow,
  | 'workspace_id'
  | 'address_is_active'
  | 'address_endpoint_id'
  | 'address_webhook_id'
  | 'is_catch_all_enabled'
  | 'catch_all_endpoint_id'
  | 'receive_dmarc_emails'
  | 'endpoint_versions'
> & {
  /** see route_version in db/migrations/0001-initial/taking.sql; null: the workspace has guard rules */
  version: string | null;
};

/** Reads the facts for mail of these workspaces to these addresses and domains, in their order. */
export async function readRouteFacts(
  client: Pick<pg.ClientBase, 'query'>,
  keys: readonly { workspaceId: string; addressId: string | null; domainId: string }[],
): Promise<RouteFactsRow[]> {
  const { rows } = await client.query<RouteFactsRow>({
    name: 'delivery-read-route-facts',
    text: `
      select k.workspace_id, route_version(k.workspace_id, k.address_id, k.domain_id) as version,
        (select jsonb_object_agg(n.id, n.xmin::text) from endpoint n
         where n.workspace_id = k.workspace_id and n.id in (a.endpoint_id, a.webhook_id, d.catch_all_endpoint_id)) as endpoint_versions,
        a.is_active as address_is_active, ${GRANTED_ENDPOINTS_OF_ADDRESS.replaceAll(' as ', ' as address_')},
        d.is_catch_all_enabled, ${GRANTED_CATCH_ALL}, d.receive_dmarc_emails
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality k(workspace_id, address_id, domain_id, place)
      left join lateral (select * from email_address a where a.workspace_id = k.workspace_id and a.id = k.address_id limit 1) a on true
      left join lateral (select * from domain d where d.workspace_id = k.workspace_id and d.id = k.domain_id limit 1) d on true
      order by k.place`,
    values: [
      keys.map(({ workspaceId }) => workspaceId),
      keys.map(({ addressId }) => addressId),
      keys.map(({ domainId }) => domainId),
    ],
  });
  return rows;
}

/** Rows of endpoints by the parallel arrays $1 (workspace ids) and $2 (endpoint ids). */
export const readEndpointsSql = `
  select e.workspace_id, e.id, e.name, e.type, e.webhook_format, e.config, e.secret_ciphertext, e.is_active, e.allow_actions,
    e.set_by_key_id, e.granted_scopes,
    e.payload_query, e.events, e.filter, e.ordering, e.xmin::text as version
  from unnest($1::text[], $2::text[]) k(workspace_id, id)
  cross join lateral (select *, xmin from endpoint e where e.workspace_id = k.workspace_id and e.id = k.id limit 1) e`;

/** A row of readEndpointsSql. */
export type EndpointFactsRow = Pick<
  Row<'endpoint'>,
  | 'workspace_id'
  | 'id'
  | 'name'
  | 'type'
  | 'webhook_format'
  | 'secret_ciphertext'
  | 'is_active'
  | 'payload_query'
  | 'events'
  | 'allow_actions'
  | 'set_by_key_id'
  | 'ordering'
> & {
  config: unknown;
  filter: EventFilter | null;
  granted_scopes: Scope[] | null;
  /** the transaction that wrote the row: another one when it changed */
  version: string;
};

/** A decided route, in the parameter of storeRoutesSql; delivery_id is null when the mail has no destination. */
export interface RouteRecord {
  workspace_id: string;
  email_id: string;
  delivery_id: string | null;
  endpoint_id: string | null;
  delivery_type: string | null;
  attempts_allowed: number | null;
  thread_id: string;
  thread_position: number;
  /** its turn among deliveries to the endpoint; null: it waits for no other, and is due now */
  order_key: string | null;
  order_position: string | null;
  /** whether the router claims it; otherwise it waits for a claim */
  is_claimed: boolean;
  /** whether the content of the email is returned, for an attempt that follows at once */
  wants_content: boolean;
  /** ... and the bytes of the message */
  wants_raw: boolean;
  outcome: RouteDecision['outcome'];
  via: RouteDecision['via'];
  /** the endpoint of the route, whether a delivery was created or not */
  route_endpoint_id: string | null;
  rule_id: string | null;
  reason: string | null;
  matches: RouteDecision['matches'];
  /** results of models; null: none */
  verdicts: unknown;
}

/** An email whose route was stored. */
export interface StoredRouteRow {
  workspace_id: string;
  email_id: string;
  delivery_created_at: Date;
}

/** ... with its content, which is null (`id` is) unless wanted, or when it is gone; so are the bytes of the message. */
export type StoredRouteContentRow = StoredRouteRow &
  Omit<StoredContentRow, 'id'> & {
    id: string | null;
    packed: Buffer | null;
    sha256: Buffer | null;
    size_bytes: number | null;
  };

/**
 * Marks emails as routed (or as waiting for a model) and creates their deliveries. Parameters: $1 the claimant, $2 RouteRecord[] as JSON,
 * $3 the lease in seconds. An email is left alone, and not in the result, when it no longer waits for its route, when its claim by another
 * process is newer, or when another router is storing its route: what is decided without a lock is stored at most once. Rows:
 * StoredRouteRow, or StoredRouteContentRow.
 */
export function storeRoutesSql({ withContent }: { withContent: boolean }): string {
  return `
  with clock_now as materialized (select postroom_now()::timestamptz(3) as at),
  decided as materialized (
    select * from jsonb_to_recordset($2::jsonb) as r(
      workspace_id text, email_id text, delivery_id text, endpoint_id text, delivery_type text, attempts_allowed integer,
      thread_id text, thread_position integer, order_key text, order_position text, is_claimed boolean, wants_content boolean,
      wants_raw boolean, outcome text, via text, route_endpoint_id text, rule_id text, reason text, matches jsonb, verdicts jsonb)
  ), routed as (
    update route w set decided_at = case when r.outcome <> 'asking' then n.at end, outcome = r.outcome, via = r.via,
      endpoint_id = r.route_endpoint_id, rule_id = r.rule_id, reason = r.reason, matches = r.matches, verdicts = r.verdicts,
      next_ask_at = case when r.outcome = 'asking' then n.at end, asks = 0, claimed_by = null, claimed_until = null
    -- by key, pair by pair, whatever the planner thinks of the table's size; skipped, not awaited: the other router stores its route
    from (select d.*, k.place from decided d
          cross join lateral (
            select w.ctid as place from route w where w.workspace_id = d.workspace_id and w.email_id = d.email_id
              and (w.outcome is null or (w.outcome = 'asking' and w.claimed_by = $1))
            limit 1 for no key update skip locked) k) r, clock_now n
    where w.ctid = r.place
    returning r.workspace_id, r.email_id, r.delivery_id, r.endpoint_id, r.delivery_type, r.attempts_allowed, r.thread_id, r.thread_position,
      r.order_key, r.order_position, r.is_claimed, r.wants_content, r.wants_raw
  ), created as (
    insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, order_key, order_position,
                          attempts_allowed, next_attempt_at, claimed_by, claimed_until, created_at)
    select r.workspace_id, r.delivery_id, r.email_id, r.endpoint_id, r.delivery_type, r.thread_id, r.thread_position, r.order_key, r.order_position,
           r.attempts_allowed, case when r.order_key is null then n.at end, case when r.is_claimed then $1 end,
           case when r.is_claimed then n.at + $3 * interval '1 second' end, n.at
    from routed r, clock_now n where r.delivery_id is not null
  )
  select r.workspace_id, r.email_id, n.at as delivery_created_at ${withContent ? CONTENT_OF_ROUTED : 'from routed r cross join clock_now n'}`;
}

const CONTENT_OF_ROUTED = `, b.*, m.packed, m.sha256, m.size_bytes
  from routed r cross join clock_now n
  left join lateral (
    select ${DELIVERY_CONTENT_COLUMNS.replace('e.workspace_id, ', '')} from email e
    cross join lateral (select * from email_content c where c.workspace_id = r.workspace_id and c.email_id = r.email_id limit 1) c
    where r.wants_content and e.workspace_id = r.workspace_id and e.id = r.email_id limit 1) b on true
  left join lateral (select m.packed, m.sha256, m.size_bytes from raw_message m where r.wants_raw and m.id = b.raw_id limit 1) m on true`;

/** Counts matches of guard rules: $1 [{workspace_id, rule_id, count}] as JSON. Rows are locked in key order, to prevent deadlocks. */
export const countRuleHitsSql = `
  insert into guard_rule_stat as s (workspace_id, rule_id, trigger_count, last_triggered_at)
  select h.workspace_id, h.rule_id, h.count, (select postroom_now())
  from jsonb_to_recordset($1::jsonb) as h(workspace_id text, rule_id text, count bigint)
  order by 1, 2
  on conflict (workspace_id, rule_id) do update set trigger_count = s.trigger_count + excluded.trigger_count,
    last_triggered_at = greatest(s.last_triggered_at, excluded.last_triggered_at)`;

/**
 * Appends events of several workspaces: $1 [{workspace_id, events}] as JSON. Returns the last seq of each workspace. Must be last in its
 * transaction.
 */
export const appendRouteEventsSql = `
  select u.workspace_id, append_events(u.workspace_id, u.events) as last_seq
  from (select * from jsonb_to_recordset($1::jsonb) as g(workspace_id text, events jsonb) order by workspace_id) u`;

/** An email that waits for a model. */
export interface AskingRow {
  workspace_id: string;
  email_id: string;
  rule_id: string;
  /** attempts for this rule so far */
  asks: number;
  /** see core/routing/decide-route.ts */
  verdicts: unknown;
}

/**
 * Claims one email that waits for a model, longest due first. Parameters: $1 the claimant, $2 users to skip for now. The lease is longer
 * than the time limit of a model. Rows: AskingRow.
 */
export const claimAskingSql = `
  update route t set claimed_by = $1, claimed_until = (select postroom_now()) + interval '${LEASE_SECONDS} seconds'
  where t.ctid = any (array(
    select d.ctid from route d
    where d.outcome = 'asking' and d.next_ask_at <= (select postroom_now())
      and (d.claimed_until is null or d.claimed_until < (select postroom_now())) and d.workspace_id <> all ($2::text[])
      and ${notSetAsideSql('ask', 'd.workspace_id', 'd.email_id')}
    order by d.next_ask_at limit 1 for update skip locked))
  returning t.workspace_id, t.email_id, t.rule_id, t.asks, t.verdicts`;

/** Releases a claim: $1 the claimant, $2 the user, $3 the email, $4 attempts so far, $5 seconds until the next one. */
export const askLaterSql = `
  update route set claimed_by = null, claimed_until = null, asks = $4, next_ask_at = (select postroom_now()) + $5 * interval '1 second'
  where workspace_id = $2 and email_id = $3 and claimed_by = $1 and outcome = 'asking'`;
