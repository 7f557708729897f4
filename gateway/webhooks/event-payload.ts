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
import { readEventSubjects } from './event-subject.ts';

/**
 * Builds the bodies that post the events of deliveries of the user to their endpoints. Their subjects are read together, and payload queries
 * run together.
 */
export async function buildEventPayloads(
  context: OperationContext,
  deliveryIds: readonly string[],
): Promise<EventPayload[]> {
  const { database, userId } = context;
  const deliveries = await loadDeliveries(context, deliveryIds);
  const seqs = deliveries.flatMap((delivery) => delivery?.event?.seq ?? []);
  if (seqs.length === 0) return deliveryIds.map(() => gone('Delivery not found'));
  const events = await asUser(database, userId, (transaction) => findEvents(transaction, userId, seqs));
  const eventOf = new Map(events.map((event) => [event.seq, event]));
  const endpointIds = [...new Set(deliveries.flatMap((delivery) => delivery?.endpointId ?? []))];
  const endpoints = new Map(
    (await loadEndpoints(context, endpointIds)).map((endpoint, at) => [endpointIds[at], endpoint]),
  );
  const postings: Posting[] = [];
  const payloads = deliveries.map((delivery): EventPayload | FeedEvent => {
    if (delivery?.event == null) return gone('Delivery not found');
    const event = eventOf.get(delivery.event.seq);
    if (event === undefined) return gone('The event is no longer stored');
    const endpoint = endpoints.get(delivery.endpointId) ?? null;
    if (endpoint === null) return gone('Endpoint not found');
    postings.push({ event, endpoint, linksFrom: delivery.createdAt });
    return event;
  });
  const bodies = await buildEventBodies(context, postings);
  let at = 0;
  return payloads.map((payload) => {
    if ('verdict' in payload) return payload;
    const body = bodies[at++];
    if (body === undefined) throw new Error('a posting has no body');
    return { verdict: 'built', kind: payload.kind, body };
  });
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
  const [body] = await buildEventBodies(context, [{ event, endpoint: target, linksFrom: context.now() }]);
  if (body === undefined) throw new Error('a posting has no body');
  return { verdict: 'built', kind, body };
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

/** An event that is posted to an endpoint. */
export interface Posting {
  event: FeedEvent;
  endpoint: EventEndpoint;
  /** creation time of the delivery: links in the body are valid for a week from then */
  linksFrom: Date;
}

/** Builds the body of each posting. Each payload query runs once for all of its postings, and the subjects of the others are read together. */
export async function buildEventBodies(context: OperationContext, postings: readonly Posting[]): Promise<Buffer[]> {
  const selected = await buildSelectedBodies(context, postings);
  const rest = postings.filter((posting) => !selected.has(posting));
  const events = rest.map(({ event }) => event);
  const subjects = await readEventSubjects(context, [...new Set(events)]);
  const subjectOf = new Map([...new Set(events)].map((event, at) => [event, subjects[at] ?? null]));
  const { publicUrl } = context.settings;
  return postings.map((posting) => {
    const known = selected.get(posting);
    if (known !== undefined) return known;
    const { event, endpoint } = posting;
    const { id, kind, at } = event;
    const posted = { id, kind, at, cursor: cursorOf(context, event), data: subjectOf.get(event) ?? null, endpoint };
    return endpoint.webhookFormat === 'native'
      ? buildNativeBody(posted, readWebhookConfig(endpoint.config).maxPayloadOctets)
      : buildEventChat(endpoint.webhookFormat, posted, publicUrl);
  });
}

/** Returns the bodies whose `data` is the result of the endpoint's query, of those postings that have one that fits. */
async function buildSelectedBodies(
  context: OperationContext,
  postings: readonly Posting[],
): Promise<Map<Posting, Buffer>> {
  const { publicUrl, secretKey } = context.settings;
  const linkKey = deriveDownloadLinkKey(secretKey);
  const { userId } = context;
  const asking = postings.flatMap((posting) => {
    const { payloadQuery: query, filter, webhookFormat } = posting.endpoint;
    return query === null || webhookFormat !== 'native' ? [] : [{ posting, query: { query, filter } }];
  });
  const bodies = new Map<Posting, Buffer>();
  for (const group of Map.groupBy(asking, ({ query }) => JSON.stringify(query)).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const subjects = group.map(({ posting: { event, linksFrom } }) => ({ subject: event, linksFrom }));
    const results = await context.payloadQueries.selectAll(context, first.query, subjects);
    for (const [at, { posting }] of group.entries()) {
      const selected = results[at];
      if (selected == null) continue;
      const { event, endpoint, linksFrom } = posting;
      const body = buildSelectedPayload({
        selected,
        timestamp: event.at,
        endpoint,
        maxPayloadOctets: readWebhookConfig(endpoint.config).maxPayloadOctets,
        rawLinkOf: (id) => linkTo({ publicUrl, linkKey, userId, email: { id }, timestamp: linksFrom }, 'raw'),
      });
      bodies.set(posting, body);
    }
  }
  return bodies;
}

function gone(reason: string): EventPayload {
  return { verdict: 'gone', reason };
}
