import type { ClientBase, Pool } from 'pg';
import { orderOf, positionOfEmail } from '../../core/endpoints/delivery-order.ts';
import type { RouteDecision } from '../../core/routing/route.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { LEASE_SECONDS } from '../../db/claim.ts';
import { inTransaction, transactionOn } from '../../db/connection/transaction.ts';
import { lockEmails, setFlags } from '../../db/queries/emails/email-flags.ts';
import type { Admission } from '../../db/queries/emails/take-mail.ts';
import type { Turn } from '../../db/queries/endpoints/delivery-order.ts';
import {
  appendRouteEventsSql,
  countRuleHitsSql,
  type RouteRecord,
  type StoredRouteContentRow,
  type StoredRouteRow,
  storeRoutesSql,
} from '../../db/queries/routing/delivery-route.ts';
import type { ActorContext } from '../actor.ts';
import { MAX_CONTENT_BYTES } from '../direct-delivery.ts';
import type { Lane } from '../work/in-hand.ts';
import type { DecidedEmail } from './decide-routes.ts';
import type { DeliveryEndpoint, FindEndpoint } from './endpoint-lookup.ts';
import { isRawAlwaysNeeded } from './webhook-request.ts';

/** What was stored. */
export interface StoredRoutes {
  /** with their rows; without emails whose route another router stored */
  routes: { record: RouteRecord; row: StoredRouteRow | StoredRouteContentRow }[];
  /** feeds with new events, to announce after the commit */
  grown: { workspaceId: string; lastSeq: number }[];
}

export interface StoreRoutesOptions {
  context: ActorContext;
  decided: readonly DecidedEmail[];
  find: FindEndpoint;
  /** called once per webhook delivery, in order */
  admit: (lane: Lane) => Admission;
}

/**
 * Stores decisions: creates the deliveries, counts matches of rules, and creates events for mail that is held. `client` is in a transaction,
 * or is a pool: then everything is stored in one transaction, too.
 */
export async function storeRoutes(client: ClientBase | Pool, options: StoreRoutesOptions): Promise<StoredRoutes> {
  const { context, decided } = options;
  const hasMore = decided.some((email) => isHit(email) || isHeld(email));
  if (client === context.database.pool && hasMore)
    return inTransaction(context.database, (transaction) => storeRoutes(transaction, options));
  const now = context.now();
  const room = { bytes: MAX_CONTENT_BYTES_OF_BATCH };
  const records = decided.map((email) => recordOf(options, email, room, now));
  const withContent = records.some((record) => record.wants_content);
  const stored = await client.query<StoredRouteRow | StoredRouteContentRow>({
    ...(withContent ? STORE_WITH_CONTENT : STORE),
    values: [context.name, JSON.stringify(records), LEASE_SECONDS],
  });
  const rows = new Map(stored.rows.map((row) => [`${row.workspace_id} ${row.email_id}`, row]));
  const routes = records.flatMap((record) => {
    const row = rows.get(`${record.workspace_id} ${record.email_id}`);
    return row === undefined ? [] : [{ record, row }];
  });
  if (!hasMore) return { routes, grown: [] };
  const own = decided.filter(({ row }) => rows.has(`${row.workspace_id} ${row.id}`));
  const hits = hitsOf(own);
  if (hits.length > 0)
    await client.query({ name: 'delivery-count-rule-hits', text: countRuleHitsSql, values: [JSON.stringify(hits)] });
  await archiveHeld(client, own);
  return { routes, grown: await appendEvents(context, client, own) };
}

/** Returns the turns of the deliveries that were created and wait for them. */
export function turnsOf({ routes }: Pick<StoredRoutes, 'routes'>): Turn[] {
  return routes.flatMap(({ record: { workspace_id: workspaceId, endpoint_id: endpointId, order_key: orderKey } }) =>
    orderKey === null || endpointId === null ? [] : [{ workspaceId, endpointId, orderKey }],
  );
}

const STORE = { name: 'delivery-store-routes', text: storeRoutesSql({ withContent: false }) };
const STORE_WITH_CONTENT = {
  name: 'delivery-store-routes-with-content',
  text: storeRoutesSql({ withContent: true }),
};

/** Maximum bytes of the messages whose content is read with their routes, see MAX_CONTENT_BYTES. */
const MAX_CONTENT_BYTES_OF_BATCH = 2_097_152;

function recordOf(
  { context, find, admit }: StoreRoutesOptions,
  { row, decision, answers }: DecidedEmail,
  room: { bytes: number },
  now: Date,
): RouteRecord {
  const endpoint = endpointOf(context, row, decision, find);
  const webhook = endpoint?.webhook ?? null;
  const order =
    endpoint?.type === 'webhook'
      ? orderOf(endpoint.ordering, {
          position: positionOfEmail(row.id),
          threadId: row.thread_id,
          fromAddress: row.from_address,
        })
      : null;
  const admission =
    endpoint?.type === 'webhook' && order === null
      ? admit({ workspaceId: row.workspace_id, key: endpoint.id })
      : 'left';
  const sizeBytes = row.size_octets ?? 0;
  const hasRoom = sizeBytes <= Math.min(MAX_CONTENT_BYTES, room.bytes);
  const wantsContent = admission === 'started' && hasRoom && webhook !== null;
  if (wantsContent) room.bytes -= sizeBytes;
  return {
    workspace_id: row.workspace_id,
    email_id: row.id,
    thread_id: row.thread_id,
    thread_position: row.thread_position,
    order_key: order?.key ?? null,
    order_position: order?.position ?? null,
    outcome: decision.outcome,
    via: decision.via,
    route_endpoint_id: decision.endpointId,
    rule_id: decision.ruleId,
    reason: decision.reason,
    matches: decision.matches,
    answers: answers.length === 0 ? null : answers,
    delivery_id: endpoint === null ? null : newIdentifier(context, 'delivery', now),
    endpoint_id: endpoint?.id ?? null,
    delivery_type: endpoint?.type ?? null,
    attempts_allowed: endpoint === null ? null : 1 + (endpoint.webhook?.config.retryAttempts ?? 0),
    is_claimed: admission !== 'left',
    wants_content: wantsContent,
    wants_raw:
      wantsContent &&
      endpoint !== null &&
      isRawAlwaysNeeded({ endpoint, webhook }) &&
      row.raw_id !== null &&
      !context.bytes.has(row.raw_id),
  };
}

/** Returns the endpoint that gets a delivery; null when the mail is only stored, which is logged when the reason is not obvious. */
function endpointOf(
  context: ActorContext,
  row: DecidedEmail['row'],
  { outcome, endpointId }: RouteDecision,
  find: FindEndpoint,
): DeliveryEndpoint | null {
  if (outcome === 'inactive')
    context.log.info({ emailId: row.id, endpointId }, 'delivery: endpoint is inactive, mail is stored only');
  if (outcome !== 'endpoint' || endpointId === null) return null;
  return find({ workspaceId: row.workspace_id, endpointId }) ?? null;
}

function isHit({ decision }: DecidedEmail): boolean {
  return decision.ruleId !== null && decision.matches !== null;
}

function isHeld({ decision }: DecidedEmail): boolean {
  return decision.outcome === 'blocked' || decision.outcome === 'review';
}

/** A rule matched if it says so; a rule whose model failed did not. */
function hitsOf(decided: readonly DecidedEmail[]): { workspace_id: string; rule_id: string; count: number }[] {
  const counts = new Map<string, { workspace_id: string; rule_id: string; count: number }>();
  for (const { row, decision } of decided) {
    if (decision.ruleId === null || decision.matches === null) continue;
    const key = `${row.workspace_id} ${decision.ruleId}`;
    const hit = counts.get(key) ?? { workspace_id: row.workspace_id, rule_id: decision.ruleId, count: 0 };
    hit.count++;
    counts.set(key, hit);
  }
  return [...counts.values()];
}

/** Held mail leaves the inbox until it is released. */
async function archiveHeld(client: ClientBase | Pool, decided: readonly DecidedEmail[]): Promise<void> {
  const byWorkspace = Map.groupBy(decided.filter(isHeld), ({ row }) => row.workspace_id);
  for (const workspaceId of [...byWorkspace.keys()].toSorted()) {
    const emailIds = (byWorkspace.get(workspaceId) ?? []).map(({ row }) => row.id);
    const transaction = transactionOn(client as ClientBase);
    await lockEmails(transaction, workspaceId, emailIds);
    await setFlags(transaction, workspaceId, emailIds, { isArchived: true });
  }
}

async function appendEvents(
  context: ActorContext,
  client: ClientBase | Pool,
  decided: readonly DecidedEmail[],
): Promise<StoredRoutes['grown']> {
  const held = decided.filter(isHeld);
  if (held.length === 0) return [];
  const now = context.now();
  const events = [...Map.groupBy(held, ({ row }) => row.workspace_id)].map(([workspaceId, emails]) => ({
    workspace_id: workspaceId,
    events: emails.map(({ row, decision }) => ({
      id: newIdentifier(context, 'event', now),
      kind: decision.outcome === 'blocked' ? 'email.blocked' : 'email.held',
      emailId: row.id,
      threadId: row.thread_id,
      data: { ruleId: decision.ruleId, reason: decision.reason },
    })),
  }));
  const { rows } = await client.query<{ workspace_id: string; last_seq: number }>({
    name: 'delivery-append-route-events',
    text: appendRouteEventsSql,
    values: [JSON.stringify(events)],
  });
  return rows.map((row) => ({ workspaceId: row.workspace_id, lastSeq: row.last_seq }));
}
