import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig, type WebhookFormat } from '../../core/endpoints/endpoint-config.ts';
import { buildEventChat, buildEventBody as buildNativeBody } from '../../core/endpoints/event-payload.ts';
import { linkTo } from '../../core/endpoints/payload-facts.ts';
import { buildSelectedPayload } from '../../core/endpoints/payload-query.ts';
import { buildResendEvent } from '../../core/endpoints/resend-payload.ts';
import { encodeEventCursor } from '../../core/events/event-cursor.ts';
import { type AuditEventKind, findAuditAction, isAuditKind, type PostedKind } from '../../core/events/event-kinds.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findEvents, findNewestEvent, findPostedAuditEvents } from '../../db/queries/events/event-list.ts';
import { pageAuditEntries } from '../../operations/accounts/audit-log.ts';
import { type EventPayload, newIdentifier, type OperationContext } from '../../operations/context.ts';
import { listDomains } from '../../operations/domains/domains.ts';
import { listEmails } from '../../operations/emails/emails.ts';
import { buildInTurns } from '../../operations/endpoints/build-in-turns.ts';
import { type DeliverySummary, listEndpointDeliveries, loadDeliveries } from '../../operations/endpoints/deliveries.ts';
import { type Endpoint, loadEndpoints } from '../../operations/endpoints/endpoints.ts';
import { findLinkHolder } from '../../operations/endpoints/payload-queries.ts';
import { type FeedEvent, readFeedBounds } from '../../operations/events/events.ts';
import { makeAuditEventId, type PostableEvent, readEventSubjects } from './event-subject.ts';

/**
 * Builds the bodies that post the events of deliveries of the user to their endpoints. Their subjects are read together, and payload queries
 * run together.
 */
export async function buildEventPayloads(
  context: OperationContext,
  deliveryIds: readonly string[],
): Promise<EventPayload[]> {
  const { database, workspaceId } = context;
  const deliveries = await loadDeliveries(context, deliveryIds);
  const seqs = deliveries.flatMap((delivery) => delivery?.event?.seq ?? []);
  if (seqs.length === 0) return deliveryIds.map(() => gone('Delivery not found'));
  const [events, auditEvents] = await asWorkspace(database, workspaceId, async (transaction) => [
    await findEvents(transaction, workspaceId, seqs),
    await findAuditEvents(transaction, workspaceId, deliveries),
  ]);
  const eventOf = new Map<number, PostableEvent>(events.map((event) => [event.seq, event]));
  const endpointIds = [...new Set(deliveries.flatMap((delivery) => delivery?.endpointId ?? []))];
  const endpoints = new Map(
    (await loadEndpoints(context, endpointIds)).map((endpoint, at) => [endpointIds[at], endpoint]),
  );
  const postings: Posting[] = [];
  const payloads = deliveries.map((delivery): EventPayload | PostableEvent => {
    if (delivery?.event == null) return gone('Delivery not found');
    const isOfAudit = isAuditKind(delivery.event.kind);
    const event = isOfAudit
      ? auditEvents.get(`${delivery.endpointId} ${delivery.event.seq}`)
      : eventOf.get(delivery.event.seq);
    if (event === undefined && isOfAudit)
      return gone('The event is no longer stored, or who set up the endpoint may not read the audit log');
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

/** Returns the events of the audit log that deliveries post, by endpoint and number; without entries that the endpoint may not read. */
async function findAuditEvents(
  transaction: Parameters<typeof findPostedAuditEvents>[0],
  workspaceId: string,
  deliveries: readonly (DeliverySummary | null)[],
): Promise<Map<string, PostableEvent>> {
  const wanted = deliveries.flatMap((delivery) =>
    delivery?.event != null && isAuditKind(delivery.event.kind)
      ? [{ endpointId: delivery.endpointId, seq: delivery.event.seq }]
      : [],
  );
  const found = new Map<string, PostableEvent>();
  for (const [endpointId, group] of Map.groupBy(wanted, (one) => one.endpointId)) {
    const seqs = group.map(({ seq }) => seq);
    for (const event of await findPostedAuditEvents(transaction, workspaceId, { endpointId, seqs }))
      found.set(`${endpointId} ${event.seq}`, { ...ABOUT_NOTHING, ...event });
  }
  return found;
}

/** Builds the body of a test: the newest event of that kind, or an example about what the account has. */
export async function buildSamplePayload(
  context: OperationContext,
  { endpointId, kind, webhookFormat }: { endpointId: string; kind: PostedKind; webhookFormat: WebhookFormat | null },
): Promise<EventPayload> {
  const [endpoint] = await loadEndpoints(context, [endpointId]);
  if (endpoint == null) return gone('Endpoint not found');
  const event = isAuditKind(kind)
    ? await sampleAuditEvent(context, kind)
    : ((await asWorkspace(context.database, context.workspaceId, (transaction) =>
        findNewestEvent(transaction, context.workspaceId, kind),
      )) ?? (await readExample(context, kind, endpointId)));
  const target = { ...endpoint, webhookFormat: webhookFormat ?? endpoint.webhookFormat };
  const [body] = await buildEventBodies(context, [{ event, endpoint: target, linksFrom: context.now() }]);
  if (body === undefined) throw new Error('a posting has no body');
  return { verdict: 'built', kind, body };
}

/** Returns the event of the newest entry of the audit log with this action, or of any action if there is none. */
async function sampleAuditEvent(context: OperationContext, kind: AuditEventKind): Promise<PostableEvent> {
  const newest = { after: null, before: null, limit: 1, isInverted: false };
  const action = findAuditAction(kind) ?? undefined;
  const [entry] = [
    ...(await pageAuditEntries(context, { action }, newest)),
    ...(await pageAuditEntries(context, {}, newest)),
  ];
  const { lastSeq: seq } = await readFeedBounds(context);
  const id = entry === undefined ? newIdentifier(context, 'event') : makeAuditEventId(entry.id);
  return { ...ABOUT_NOTHING, seq, id, kind, at: entry?.createdAt ?? context.now() };
}

/** Returns an event that did not happen, about the newest email, thread, delivery or domain. */
async function readExample(context: OperationContext, kind: FeedEvent['kind'], endpointId: string): Promise<FeedEvent> {
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

const RECIPIENT_KINDS: ReadonlySet<FeedEvent['kind']> = new Set([
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

/** What events of the audit log have. Their subject is the entry, whose id is in theirs. */
const ABOUT_NOTHING = {
  emailId: null,
  threadId: null,
  deliveryId: null,
  endpointId: null,
  domainId: null,
  data: {},
} as const;

/** An event that is posted to an endpoint. */
export interface Posting {
  event: PostableEvent;
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
    const posted = {
      id,
      kind,
      at,
      cursor: encodeEventCursor(context.workspaceId, event.seq),
      data: subjectOf.get(event) ?? null,
      endpoint,
    };
    if (endpoint.webhookFormat !== 'native') return buildEventChat(endpoint.webhookFormat, posted, publicUrl);
    const { payload, maxPayloadOctets } = readWebhookConfig(endpoint.config);
    return (payload === 'resend' ? buildResendEvent : buildNativeBody)(posted, maxPayloadOctets);
  });
}

/** Returns the bodies whose `data` is the result of the endpoint's query, of those postings that have one that fits. */
async function buildSelectedBodies(
  context: OperationContext,
  postings: readonly Posting[],
): Promise<Map<Posting, Buffer>> {
  const { publicUrl, secretKey } = context.settings;
  const linkKey = deriveDownloadLinkKey(secretKey);
  const { workspaceId } = context;
  const asking = postings.flatMap((posting) => {
    const { payloadQuery: query, filter, webhookFormat } = posting.endpoint;
    const { kind, ...event } = posting.event;
    // Queries select from events of the feed.
    if (query === null || webhookFormat !== 'native' || isAuditKind(kind)) return [];
    return [{ posting, event: { ...event, kind }, query: { query, filter } }];
  });
  const bodies = new Map<Posting, Buffer>();
  for (const group of Map.groupBy(asking, ({ query }) => JSON.stringify(query)).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const subjects = group.map(({ event, posting: { endpoint, linksFrom: from } }) => ({
      subject: event,
      links: { from, holder: findLinkHolder(context, endpoint.id) },
    }));
    const results = await context.payloadQueries.selectAll(context, first.query, subjects);
    for (const [at, { posting }] of group.entries()) {
      const selected = results[at];
      if (selected == null) continue;
      const { event, endpoint, linksFrom: timestamp } = posting;
      const linkHolder = findLinkHolder(context, endpoint.id);
      const steps = buildSelectedPayload({
        selected,
        timestamp: event.at,
        endpoint,
        maxPayloadOctets: readWebhookConfig(endpoint.config).maxPayloadOctets,
        rawLinkOf: (id) => linkTo({ publicUrl, linkKey, linkHolder, workspaceId, email: { id }, timestamp }, 'raw'),
      });
      bodies.set(posting, await buildInTurns(workspaceId, steps, context.caller.gone));
    }
  }
  return bodies;
}

function gone(reason: string): EventPayload {
  return { verdict: 'gone', reason };
}
