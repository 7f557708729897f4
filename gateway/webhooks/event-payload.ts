import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig, type WebhookFormat } from '../../core/endpoints/endpoint-config.ts';
import { buildEventChat, buildEventBody as buildNativeBody } from '../../core/endpoints/event-payload.ts';
import { buildSelectedPayload } from '../../core/endpoints/payload-query.ts';
import { linkTo } from '../../core/endpoints/webhook-payload.ts';
import type { EventKind } from '../../core/events/event-kinds.ts';
import { asUser } from '../../db/connection/transaction.ts';
import { findEvents, findNewestEvent } from '../../db/queries/events/event-list.ts';
import { type EventPayload, newIdentifier, type OperationContext } from '../../operations/context.ts';
import { listDomains } from '../../operations/domains/domains.ts';
import { listEmails } from '../../operations/emails/emails.ts';
import { listEndpointDeliveries, loadDeliveries } from '../../operations/endpoints/deliveries.ts';
import { type Endpoint, loadEndpoints } from '../../operations/endpoints/endpoints.ts';
import { cursorOf, type FeedEvent, readFeedBounds } from '../../operations/events/events.ts';
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
  const body = await buildEventBody(context, event, { endpoint, linksFrom: delivery.createdAt });
  return { verdict: 'built', eventId: event.id, kind: event.kind, body };
}

/** Builds the body of a test: the newest event of that kind, or an example about what the account has. */
export async function buildSamplePayload(
  context: OperationContext,
  { endpointId, kind, webhookFormat }: { endpointId: string; kind: EventKind; webhookFormat: WebhookFormat | null },
): Promise<EventPayload> {
  const [endpoint] = await loadEndpoints(context, [endpointId]);
  if (endpoint == null) return gone('Endpoint not found');
  const newest = await asUser(context.database, context.userId, (transaction) =>
    findNewestEvent(transaction, context.userId, kind),
  );
  const event = newest ?? (await exampleOf(context, kind, endpointId));
  const target = { ...endpoint, webhookFormat: webhookFormat ?? endpoint.webhookFormat };
  const body = await buildEventBody(context, event, { endpoint: target, linksFrom: context.now() });
  return { verdict: 'built', eventId: event.id, kind, body };
}

/** Returns an event that did not happen, about the newest email, thread, delivery or domain. */
async function exampleOf(context: OperationContext, kind: EventKind, endpointId: string): Promise<FeedEvent> {
  const newest = { limit: 1, offset: 0 };
  const { emails } = await listEmails(context, { type: 'all', timeRange: 'all' }, newest);
  const { rows: deliveries } = await listEndpointDeliveries(context, endpointId, {}, newest);
  const { domains } = await listDomains(context, {}, newest);
  const group = kind.slice(0, kind.indexOf('.'));
  const email = group === 'email' || group === 'thread' ? emails[0] : undefined;
  return {
    seq: (await readFeedBounds(context)).lastSeq,
    id: newIdentifier(context, 'event'),
    kind,
    at: context.now(),
    emailId: group === 'email' ? (email?.id ?? null) : null,
    threadId: email?.threadId ?? null,
    deliveryId: group === 'delivery' ? (deliveries[0]?.id ?? null) : null,
    endpointId: group === 'endpoint' ? endpointId : null,
    domainId: group === 'domain' || group === 'dmarc' ? (domains[0]?.id ?? null) : null,
    data: RECIPIENT_KINDS.has(kind) ? { recipient: email?.to[0] ?? 'someone@example.com' } : {},
  };
}

const RECIPIENT_KINDS: ReadonlySet<EventKind> = new Set([
  'email.delivered',
  'email.delayed',
  'email.bounced',
  'email.failed',
  'email.complained',
]);

/** The settings of an endpoint that its bodies depend on. */
export type EventEndpoint = Pick<
  Endpoint,
  'id' | 'name' | 'type' | 'webhookFormat' | 'config' | 'payloadQuery' | 'filter'
>;

interface BodyTarget {
  endpoint: EventEndpoint;
  /** creation time of the delivery: links in the body are valid for a week from then */
  linksFrom: Date;
}

/** Builds the body that posts an event to an endpoint. */
export async function buildEventBody(context: OperationContext, event: FeedEvent, target: BodyTarget): Promise<Buffer> {
  const { endpoint } = target;
  const { maxPayloadOctets } = readWebhookConfig(endpoint.config);
  const selected = await selectedBodyOf(context, event, target, maxPayloadOctets);
  if (selected !== null) return selected;
  const { id, kind, at } = event;
  const { publicUrl } = context.settings;
  const data = await readEventSubject(context, event);
  const posted = { id, kind, at, cursor: cursorOf(context, event), data, endpoint };
  return endpoint.webhookFormat === 'native'
    ? buildNativeBody(posted, maxPayloadOctets)
    : buildEventChat(endpoint.webhookFormat, posted, publicUrl);
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
