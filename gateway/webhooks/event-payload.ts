import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { buildSelectedPayload } from '../../core/endpoints/payload-query.ts';
import { linkTo } from '../../core/endpoints/webhook-payload.ts';
import { asUser } from '../../db/connection/transaction.ts';
import { findEvents } from '../../db/queries/events/event-list.ts';
import type { EventPayload, OperationContext } from '../../operations/context.ts';
import { loadDeliveries } from '../../operations/endpoints/deliveries.ts';
import { type Endpoint, loadEndpoints } from '../../operations/endpoints/endpoints.ts';
import { cursorOf, type FeedEvent } from '../../operations/events/events.ts';
import { readEventSubject } from './event-subject.ts';

/** Builds the body that posts the event of a delivery of the user to its endpoint. */
export async function buildEventPayload(context: OperationContext, deliveryId: string): Promise<EventPayload> {
  const [delivery] = await loadDeliveries(context, [deliveryId]);
  if (delivery?.event == null) return gone('Delivery not found');
  const { seq } = delivery.event;
  const [event] = await asUser(context.database, context.userId, (transaction) =>
    findEvents(transaction, context.userId, [seq]),
  );
  if (event === undefined) return gone('The event is no longer stored');
  const [endpoint] = await loadEndpoints(context, [delivery.endpointId]);
  if (endpoint == null) return gone('Endpoint not found');
  const body = await bodyOf(context, event, { endpoint, linksFrom: delivery.createdAt });
  return { verdict: 'built', eventId: event.id, kind: event.kind, body };
}

interface BodyTarget {
  endpoint: Endpoint;
  /** creation time of the delivery: links in the body are valid for a week from then */
  linksFrom: Date;
}

async function bodyOf(context: OperationContext, event: FeedEvent, target: BodyTarget): Promise<Buffer> {
  const { endpoint } = target;
  const { maxPayloadOctets } = readWebhookConfig(endpoint.config);
  const selected = await selectedBodyOf(context, event, target, maxPayloadOctets);
  if (selected !== null) return selected;
  const data = await readEventSubject(context, event);
  return Buffer.from(
    JSON.stringify({
      id: event.id,
      type: event.kind,
      event: event.kind,
      timestamp: event.at.toISOString(),
      cursor: cursorOf(context, event),
      data,
      endpoint: { id: endpoint.id, name: endpoint.name, type: endpoint.type },
    }),
  );
}

/** Returns the body whose `data` is the result of the endpoint's query; null when it has none, or it does not fit. */
async function selectedBodyOf(
  context: OperationContext,
  event: FeedEvent,
  { endpoint, linksFrom }: BodyTarget,
  maxPayloadOctets: number,
): Promise<Buffer | null> {
  const { payloadQuery: query, filter } = endpoint;
  if (query === null || endpoint.webhookFormat !== 'native') return null;
  const selected = await context.payloadQueries.select(context, { query, filter }, event, linksFrom);
  if (selected === null) return null;
  const { publicUrl, secretKey } = context.settings;
  const linkKey = deriveDownloadLinkKey(secretKey);
  const { userId } = context;
  return buildSelectedPayload({
    selected,
    timestamp: event.at,
    endpoint,
    maxPayloadOctets,
    rawLinkOf: (id) => linkTo({ publicUrl, linkKey, userId, email: { id }, timestamp: linksFrom }, 'raw'),
  });
}

function gone(reason: string): EventPayload {
  return { verdict: 'gone', reason };
}
