import type { ClientBase } from 'pg';
import type { RouteDecision } from '../../core/routing/route.ts';
import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../core/shared/identifiers.ts';
import { LEASE_SECONDS } from '../../db/claim.ts';
import {
  appendRouteEventsSql,
  countRuleHitsSql,
  type RouteRecord,
  storeRoutesSql,
} from '../../db/queries/routing/delivery-route.ts';
import type { ActorContext } from '../actor.ts';
import type { Lane } from '../work/in-hand.ts';
import type { DecidedEmail } from './decide-routes.ts';
import type { DeliveryEndpoint, FindEndpoint } from './endpoint-lookup.ts';

/** What was stored. */
export interface StoredRoutes {
  records: RouteRecord[];
  /** by delivery id */
  createdAt: Map<string, Date>;
  /** feeds with new events, to announce after the commit */
  grown: { userId: string; lastSeq: number }[];
}

/**
 * Stores decisions: creates the deliveries (claimed at once where `mayClaim`, called once per webhook delivery, in order, returns true),
 * counts matches of rules, and creates events for mail that is held.
 */
export async function storeRoutes(
  context: ActorContext,
  client: ClientBase,
  decided: readonly DecidedEmail[],
  find: FindEndpoint,
  mayClaim: (lane: Lane) => boolean,
): Promise<StoredRoutes> {
  const now = context.now();
  const records = decided.map((email) => recordOf(context, email, find, mayClaim, now));
  const stored = await client.query<{ id: string; created_at: Date }>({
    name: 'delivery-store-routes',
    text: storeRoutesSql,
    values: [context.name, JSON.stringify(records), LEASE_SECONDS],
  });
  const hits = hitsOf(decided);
  if (hits.length > 0)
    await client.query({ name: 'delivery-count-rule-hits', text: countRuleHitsSql, values: [JSON.stringify(hits)] });
  return {
    records,
    createdAt: new Map(stored.rows.map((row) => [row.id, row.created_at])),
    grown: await appendEvents(context, client, decided),
  };
}

function recordOf(
  context: ActorContext,
  { row, decision, answers }: DecidedEmail,
  find: FindEndpoint,
  mayClaim: (lane: Lane) => boolean,
  now: Date,
): RouteRecord {
  const endpoint = endpointOf(context, row, decision, find);
  return {
    user_id: row.user_id,
    email_id: row.id,
    thread_id: row.thread_id,
    thread_position: row.thread_position,
    outcome: decision.outcome,
    via: decision.via,
    route_endpoint_id: decision.endpointId,
    rule_id: decision.ruleId,
    reason: decision.reason,
    matches: decision.matches,
    answers: answers.length === 0 ? null : answers,
    delivery_id: endpoint === null ? null : makeIdentifier('delivery', now, context.random(IDENTIFIER_RANDOM_BYTES)),
    endpoint_id: endpoint?.id ?? null,
    delivery_type: endpoint?.type ?? null,
    attempts_allowed: endpoint === null ? null : 1 + (endpoint.webhook?.config.retryAttempts ?? 0),
    is_claimed: endpoint?.type === 'webhook' && mayClaim({ userId: row.user_id, key: endpoint.id }),
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
  return find({ userId: row.user_id, endpointId }) ?? null;
}

/** A rule matched if it says so; a rule whose model failed did not. */
function hitsOf(decided: readonly DecidedEmail[]): { user_id: string; rule_id: string; count: number }[] {
  const counts = new Map<string, { user_id: string; rule_id: string; count: number }>();
  for (const { row, decision } of decided) {
    if (decision.ruleId === null || decision.matches === null) continue;
    const key = `${row.user_id} ${decision.ruleId}`;
    const hit = counts.get(key) ?? { user_id: row.user_id, rule_id: decision.ruleId, count: 0 };
    hit.count++;
    counts.set(key, hit);
  }
  return [...counts.values()];
}

async function appendEvents(
  context: ActorContext,
  client: ClientBase,
  decided: readonly DecidedEmail[],
): Promise<StoredRoutes['grown']> {
  const held = decided.filter(({ decision }) => decision.outcome === 'blocked' || decision.outcome === 'review');
  if (held.length === 0) return [];
  const now = context.now();
  const events = [...Map.groupBy(held, ({ row }) => row.user_id)].map(([userId, emails]) => ({
    user_id: userId,
    events: emails.map(({ row, decision }) => ({
      id: makeIdentifier('event', now, context.random(IDENTIFIER_RANDOM_BYTES)),
      kind: decision.outcome === 'blocked' ? 'email.blocked' : 'email.held',
      emailId: row.id,
      threadId: row.thread_id,
      data: { ruleId: decision.ruleId, reason: decision.reason },
    })),
  }));
  const { rows } = await client.query<{ user_id: string; last_seq: number }>({
    name: 'delivery-append-route-events',
    text: appendRouteEventsSql,
    values: [JSON.stringify(events)],
  });
  return rows.map((row) => ({ userId: row.user_id, lastSeq: row.last_seq }));
}
