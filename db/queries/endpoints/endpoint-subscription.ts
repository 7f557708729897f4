import type { Transaction } from 'kysely';
import type { ClientBase } from 'pg';
import type { EndpointOrdering, EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import type { PostedKind } from '../../../core/events/event-kinds.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** An endpoint that is posted events of the feed of its workspace. */
export interface Subscriber {
  workspaceId: string;
  endpointId: string;
}

/** Returns the users who have such endpoints. */
export async function readSubscribedWorkspaces(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ workspace_id: string }>({
    name: 'subscribed-users',
    text: 'select distinct workspace_id from endpoint_subscription',
  });
  return rows.map((row) => row.workspace_id);
}

/** Condition: the endpoint of the subscription `s` is active, and the feed has events beyond its position. */
export const HAS_NEWS = `
  s.event_seq < (select c.last_seq from event_counter c where c.workspace_id = s.workspace_id)
  and exists (select from endpoint e where e.workspace_id = s.workspace_id and e.id = s.endpoint_id and e.is_active)`;

/** ... and it is not set aside. */
export const IS_BEHIND = `${HAS_NEWS} and ${notSetAsideSql('fan-out', 's.workspace_id', 's.endpoint_id')}`;

/** Returns up to `limit` endpoints whose feeds have events beyond their positions; users null: of every workspace. */
export async function findSubscribersBehind(
  database: Database,
  workspaceIds: readonly string[] | null,
  limit: number,
): Promise<Subscriber[]> {
  const { rows } = await database.pool.query<{ workspace_id: string; endpoint_id: string }>({
    name: workspaceIds === null ? 'subscribers-behind' : 'subscribers-behind-of-users',
    text: `select s.workspace_id, s.endpoint_id from endpoint_subscription s
      where ${workspaceIds === null ? '' : 's.workspace_id = any ($2::text[]) and'} ${IS_BEHIND} limit $1`,
    values: workspaceIds === null ? [limit] : [limit, workspaceIds],
  });
  return rows.map((row) => ({ workspaceId: row.workspace_id, endpointId: row.endpoint_id }));
}

/** A subscription, locked until the transaction ends. */
export interface LockedSubscription {
  events: string[];
  filter: EventFilter | null;
  ordering: EndpointOrdering;
  config: unknown;
  /** whether who set it up may read the audit log now */
  reads_audit: boolean;
  /** up to which event the endpoint has its deliveries */
  event_seq: number;
  /** of the newest event */
  last_seq: number;
}

/** Null when the endpoint is gone or disabled, or another process holds the subscription. */
export async function lockSubscription(
  client: ClientBase,
  { workspaceId, endpointId }: Subscriber,
): Promise<LockedSubscription | null> {
  const { rows } = await client.query<LockedSubscription>({
    name: 'lock-subscription',
    text: `
      select e.events, e.filter, e.ordering, e.config, s.event_seq, c.last_seq,
        exists (select from unnest(e.events) p where p like 'audit.%') and endpoint_reads_audit(e.workspace_id, e.id) as reads_audit
      from endpoint_subscription s
      join endpoint e on e.workspace_id = s.workspace_id and e.id = s.endpoint_id and e.is_active and e.type = 'webhook'
      join event_counter c on c.workspace_id = s.workspace_id
      where s.workspace_id = $1 and s.endpoint_id = $2
      for no key update of s skip locked`,
    values: [workspaceId, endpointId],
  });
  return rows[0] ?? null;
}

/** An event with what filters ask about it. */
export interface FanOutEvent {
  seq: number;
  id: string;
  at: Date;
  kind: PostedKind;
  email_id: string | null;
  thread_id: string | null;
  /** ... or the thread of the email that it is about */
  order_thread_id: string | null;
  /** the From address of the email; null: it is about none */
  from_address: string | null;
  /** whether it tells how imported mail was threaded, which its user did not want to be routed */
  is_quiet: boolean;
  /** names of the domains and addresses that it is about, in lower case; null: it is about none */
  domains: string[] | null;
  addresses: string[] | null;
}

/**
 * Returns the events after one position up to another, oldest first. With `withPlaces`, those about an email name its domain and address,
 * those about a thread the domains and addresses of all its emails, and those about a domain its name.
 */
export async function readFanOutEvents(
  client: ClientBase,
  workspaceId: string,
  { after, upTo, limit, withPlaces }: { after: number; upTo: number; limit: number; withPlaces: boolean },
): Promise<FanOutEvent[]> {
  const { rows } = await client.query<FanOutEvent>({
    name: withPlaces ? 'fan-out-events-with-places' : 'fan-out-events',
    text: fanOutEventsSql('v.seq > $2 and v.seq <= $3 order by v.seq limit $4', withPlaces),
    values: [workspaceId, after, upTo, limit],
  });
  return rows;
}

/** Like readFanOutEvents, of events by their numbers. */
export async function findFanOutEvents(
  client: ClientBase,
  workspaceId: string,
  { seqs, withPlaces }: { seqs: readonly number[]; withPlaces: boolean },
): Promise<FanOutEvent[]> {
  const { rows } = await client.query<FanOutEvent>({
    name: withPlaces ? 'fan-out-events-of-with-places' : 'fan-out-events-of',
    text: fanOutEventsSql('v.seq = any ($2::bigint[])', withPlaces),
    values: [workspaceId, seqs],
  });
  return rows;
}

/** `chosen` chooses among the events of the workspace in $1. */
const fanOutEventsSql = (chosen: string, withPlaces: boolean) => `
  select v.seq, v.id, v.at, v.kind, v.email_id, v.thread_id, coalesce(v.thread_id, m.thread_id) as order_thread_id, m.from_address,
    v.kind in ('email.threaded', 'email.received') and exists (
    select from reception o where o.workspace_id = $1 and o.email_id = v.email_id and o.imported->>'isRouted' = 'false') as is_quiet,
    ${withPlaces ? 'p.domains, p.addresses' : 'null as domains, null as addresses'}
  from (select * from event v where v.workspace_id = $1 and ${chosen}) v
  left join lateral (select m.thread_id, m.from_address from email m where m.workspace_id = $1 and m.id = v.email_id limit 1) m on true
  ${withPlaces ? PLACES : ''}
  order by v.seq`;

const PLACES = `
  left join lateral (
    select array_agg(distinct m.own_domain) as domains, array_agg(distinct m.own_address) as addresses from (
      select e.own_domain, e.own_address from email e where v.email_id is not null and e.workspace_id = $1 and e.id = v.email_id
      union all
      select e.own_domain, e.own_address from email e where v.email_id is null and v.thread_id is not null and e.workspace_id = $1 and e.thread_id = v.thread_id
      union all
      select d.name, null from domain d
      where v.email_id is null and v.thread_id is null and d.workspace_id = $1 and d.id = v.data->>'domainId'
    ) m) p on true`;

/** The first delivery of an event to an endpoint. */
export interface EventDelivery {
  id: string;
  emailId: string | null;
  threadId: string | null;
  orderKey: string | null;
  orderPosition: string | null;
  /** null: a delivery of received mail, as to the endpoint that the mail is routed to */
  seq: number | null;
  kind: PostedKind | null;
}

/**
 * Creates deliveries that are due now, or wait for their turns, and moves the position of the subscription, in one statement. Events that the endpoint has a first
 * delivery of are left out, and so is received mail that it gets already.
 */
export async function storeEventDeliveries(
  client: ClientBase,
  { workspaceId, endpointId }: Subscriber,
  {
    deliveries,
    attemptsAllowed,
    upTo,
  }: { deliveries: readonly EventDelivery[]; attemptsAllowed: number; upTo: number },
): Promise<void> {
  await client.query({
    name: 'store-event-deliveries',
    text: `
      with clock_now as materialized (select postroom_now()::timestamptz(3) as at), moved as (
        update endpoint_subscription set event_seq = $3 where workspace_id = $1 and endpoint_id = $2
      )
      insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, event_seq, event_kind, order_key, order_position,
        cause, attempts_allowed, next_attempt_at, created_at)
      select $1, x.id, x."emailId", $2, 'webhook', x."threadId",
        case when x.seq is null then (select e.thread_position from email e where e.workspace_id = $1 and e.id = x."emailId") end, x.seq, x.kind, x."orderKey", x."orderPosition", 'event', $4::integer,
        case when x."orderKey" is null then n.at end, n.at
      from jsonb_to_recordset($5::jsonb) as x(id text, "emailId" text, "threadId" text, "orderKey" text, "orderPosition" text, seq bigint,
        kind text) cross join clock_now n
      where x.seq is not null or not exists (
        select from delivery d where d.workspace_id = $1 and d.email_id = x."emailId" and d.endpoint_id = $2 and d.event_seq is null)
      order by x.seq
      on conflict (workspace_id, endpoint_id, event_seq) where cause = 'event' do nothing`,
    values: [workspaceId, endpointId, upTo, attemptsAllowed, JSON.stringify(deliveries)],
  });
}

/** Sets the position from which an endpoint is posted events; null: it is posted none. */
export async function setSubscription(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
  eventSeq: number | null,
): Promise<void> {
  if (eventSeq === null)
    await transaction
      .deleteFrom('endpoint_subscription')
      .where('workspace_id', '=', workspaceId)
      .where('endpoint_id', '=', endpointId)
      .execute();
  else
    await transaction
      .insertInto('endpoint_subscription')
      .values({ workspace_id: workspaceId, endpoint_id: endpointId, event_seq: eventSeq })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'endpoint_id']).doUpdateSet({ event_seq: eventSeq }))
      .execute();
}
