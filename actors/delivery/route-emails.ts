import { makeIdentifier } from '../../core/identifiers.ts';
import { chooseRoute, type Route } from '../../core/route.ts';
import { LEASE_SECONDS } from '../../db/claim.ts';
import { inTransaction } from '../../db/database.ts';
import {
  type RouteRecord,
  storeRoutesSql,
  takeUnroutedSql,
  type UnroutedRow,
} from '../../db/queries/delivery-route.ts';
import type { ActorContext } from '../actor.ts';
import type { DeliveryEndpoint, EndpointLookup, FindEndpoint } from './endpoint-lookup.ts';
import type { DeliveryJob } from './job.ts';

export interface RoutedBatch {
  /** received emails that have been decided on */
  emailCount: number;
  /** deliveries that this process holds and goes on with */
  jobs: DeliveryJob[];
  /** webhook endpoints for which deliveries were made and left to be claimed later */
  leftTo: Set<string>;
  /** deliveries that were made for endpoints that forward */
  forwardCount: number;
}

/**
 * Gives up to `limit` threaded emails their route, oldest first, and makes the deliveries, claimed at once as far as `mayClaim` (asked
 * once per delivery, in order) lets us. Mail that goes nowhere is marked as routed too.
 */
export async function routeEmails(
  context: ActorContext,
  endpoints: EndpointLookup,
  limit: number,
  mayClaim: (endpointId: string) => boolean,
): Promise<RoutedBatch> {
  return await inTransaction(context.database, async (client) => {
    const { rows } = await client.query<UnroutedRow>({
      name: 'delivery-take-unrouted',
      text: takeUnroutedSql,
      values: [limit],
    });
    if (rows.length === 0) return { emailCount: 0, jobs: [], leftTo: new Set<string>(), forwardCount: 0 };
    const keys = rows.flatMap((row) => candidates(row).map((endpointId) => ({ userId: row.user_id, endpointId })));
    const known = await endpoints.read(client, keys);
    const now = context.now();
    const random = context.random(RANDOM_OCTETS * rows.length);
    const records = rows.map((row, n) => {
      const deliveryId = makeIdentifier('delivery', now, random.subarray(n * RANDOM_OCTETS, (n + 1) * RANDOM_OCTETS));
      return decide(context, row, deliveryId, known, mayClaim);
    });
    const stored = await client.query<{ id: string; created_at: Date }>({
      name: 'delivery-store-routes',
      text: storeRoutesSql,
      values: [context.name, JSON.stringify(records), LEASE_SECONDS],
    });
    const createdAt = new Map(stored.rows.map((row) => [row.id, row.created_at]));
    const sizes = new Map(rows.map((row) => [row.id, row.size_octets ?? 0]));
    return {
      emailCount: rows.length,
      jobs: records.flatMap((record) => jobOf(record, createdAt, sizes)),
      leftTo: new Set(
        records.flatMap((record) =>
          record.is_claimed || record.endpoint_id === null || record.delivery_type !== 'webhook'
            ? []
            : [record.endpoint_id],
        ),
      ),
      forwardCount: records.filter(({ delivery_type: type }) => type === 'email' || type === 'email_group').length,
    };
  });
}

/** Octets of randomness in an identifier. */
const RANDOM_OCTETS = 10;

function candidates(row: UnroutedRow): string[] {
  return [row.address_endpoint_id, row.address_webhook_id, row.catch_all_endpoint_id].filter((id) => id !== null);
}

function decide(
  context: ActorContext,
  row: UnroutedRow,
  deliveryId: string,
  find: FindEndpoint,
  mayClaim: (endpointId: string) => boolean,
): RouteRecord {
  const route = chooseRoute(factsOf(row), (endpointId) => find({ userId: row.user_id, endpointId }));
  const endpoint = endpointOf(context, row, route, find);
  const base = {
    user_id: row.user_id,
    email_id: row.id,
    thread_id: row.thread_id,
    thread_position: row.thread_position,
  };
  if (endpoint === null)
    return {
      ...base,
      ...decisionOf(route),
      delivery_id: null,
      endpoint_id: null,
      delivery_type: null,
      attempts_allowed: null,
      is_claimed: false,
    };
  return {
    ...base,
    ...decisionOf(route),
    delivery_id: deliveryId,
    endpoint_id: endpoint.id,
    delivery_type: endpoint.type,
    attempts_allowed: 1 + (endpoint.webhook?.config.retryAttempts ?? 0),
    is_claimed: endpoint.type === 'webhook' && mayClaim(endpoint.id),
  };
}

function decisionOf(route: Route): Pick<RouteRecord, 'outcome' | 'via' | 'route_endpoint_id'> {
  switch (route.kind) {
    case 'endpoint':
      return { outcome: 'endpoint', via: route.by, route_endpoint_id: route.endpointId };
    case 'inactive':
      return { outcome: 'inactive', via: route.by, route_endpoint_id: route.endpointId };
    case 'none':
      return { outcome: 'stored', via: null, route_endpoint_id: null };
  }
}

function factsOf(row: UnroutedRow) {
  const isAddressKnown = row.address_is_active !== null;
  return {
    localPart: row.own_address.slice(0, row.own_address.lastIndexOf('@')),
    address: isAddressKnown
      ? {
          isActive: row.address_is_active === true,
          endpointId: row.address_endpoint_id,
          webhookId: row.address_webhook_id,
        }
      : null,
    domain:
      row.is_catch_all_enabled === null
        ? null
        : {
            isCatchAllEnabled: row.is_catch_all_enabled,
            catchAllEndpointId: row.catch_all_endpoint_id,
            receivesDmarcEmails: row.receive_dmarc_emails === true,
          },
  };
}

/** The endpoint that gets a delivery; null when the mail is stored only, which is logged when somebody may wonder why. */
function endpointOf(
  context: ActorContext,
  row: UnroutedRow,
  route: Route,
  find: FindEndpoint,
): DeliveryEndpoint | null {
  switch (route.kind) {
    case 'none':
      return null;
    case 'inactive':
      context.log.info(
        { emailId: row.id, endpointId: route.endpointId },
        'delivery: endpoint is inactive, mail is stored only',
      );
      return null;
    case 'endpoint':
      return find({ userId: row.user_id, endpointId: route.endpointId }) ?? null;
  }
}

function jobOf(record: RouteRecord, createdAt: Map<string, Date>, sizes: Map<string, number>): DeliveryJob[] {
  const at = record.delivery_id === null ? undefined : createdAt.get(record.delivery_id);
  if (record.delivery_id === null || record.endpoint_id === null || at === undefined || !record.is_claimed) return [];
  return [
    {
      userId: record.user_id,
      deliveryId: record.delivery_id,
      emailId: record.email_id,
      endpointId: record.endpoint_id,
      attempts: 0,
      attemptsAllowed: record.attempts_allowed ?? 1,
      createdAt: at,
      threadId: record.thread_id,
      threadPosition: record.thread_position,
      sizeOctets: sizes.get(record.email_id) ?? 0,
    },
  ];
}
