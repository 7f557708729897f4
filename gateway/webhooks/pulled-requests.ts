import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestFacts, signedHeaders } from '../../actors/delivery/post-webhook.ts';
import { deriveDeliveryId } from '../../core/endpoints/derive-delivery-id.ts';
import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig, type WebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import {
  checkEventPatterns,
  commonPatterns,
  isPostedAsMail,
  isPostedFromFeed,
  matchesEvent,
  matchesFilter,
  subscribesToAudit,
} from '../../core/endpoints/endpoint-events.ts';
import { deriveListenerSecrets, LISTENER_ID, type ReceivedState, toPosting } from '../../core/endpoints/listener.ts';
import { buildMailPayload, isRawNeeded } from '../../core/endpoints/webhook-payload.ts';
import type { SigningSecret } from '../../core/endpoints/webhook-signature.ts';
import { encodeEventCursor } from '../../core/events/event-cursor.ts';
import { EVENT_KINDS, type EventKind } from '../../core/events/event-kinds.ts';
import { createTurns } from '../../core/shared/turns.ts';
import { asWorkspace, inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { findDeliveryContents } from '../../db/queries/endpoints/delivery-body.ts';
import { findFanOutEvents } from '../../db/queries/endpoints/endpoint-subscription.ts';
import {
  type PulledMail,
  readEventDeliveries,
  readMailSizes,
  readPulledMail,
  readSubscriptionPosition,
} from '../../db/queries/endpoints/pulled-mail.ts';
import {
  invalid,
  type OperationContext,
  type Pull,
  type PulledRequest,
  type PullPage,
} from '../../operations/context.ts';
import { loadRawSources } from '../../operations/emails/attachments.ts';
import { readPayloadTexts } from '../../operations/emails/html-text.ts';
import { readSenderFacts } from '../../operations/emails/sender-facts.ts';
import { buildInTurns } from '../../operations/endpoints/build-in-turns.ts';
import { buildDeliveryPayloads } from '../../operations/endpoints/delivery-payloads.ts';
import { endpointNotFound, loadEndpoints, validSecrets } from '../../operations/endpoints/endpoints.ts';
import { findLinkHolder } from '../../operations/endpoints/payload-queries.ts';
import { awaitEvents, encodeCursor, type FeedEvent } from '../../operations/events/events.ts';
import { buildEventBodies, type EventEndpoint } from './event-payload.ts';

/** Whose requests are built. */
interface Target {
  endpoint: EventEndpoint;
  isListener: boolean;
  isActive: boolean;
  config: WebhookConfig;
  secrets: SigningSecret[];
  patterns: readonly string[];
}

/** Bytes of bodies after which a page ends. @limit */
export const MAX_PAGE_BYTES = 1_000_000;
/** Bytes of mail and events that are read together. */
const GROUP_BYTES = 1_000_000;
/** What an event counts among them, beside its email. */
const EVENT_BYTES = 10_000;
/** A body, and its Base64 in the response. */
const BYTES_PER_BODY_BYTE = 7 / 3;
/** Pages are built one at a time, in turns between accounts, so that programs that pull at once do not take each other's room. */
const turns = createTurns();
/** Milliseconds between looks at mail whose route is not decided yet. */
const ROUTE_POLL_MS = 100;
/** Mail that has no route after this time is passed over: its routing failed, and its webhook would not be posted either. Milliseconds. */
const MAX_ROUTING_MS = 300_000;

/**
 * Returns the requests that the events after a cursor cause, oldest first and without gaps, as the delivery actor builds them: with the same
 * headers and bytes, and with a current signature. Waits for the first one for a limited time. Throws not_found, validation, and what awaitEvents throws.
 */
export async function pullRequests(context: OperationContext, pull: Pull): Promise<PullPage> {
  const target = await readTarget(context, pull);
  const kinds = listKinds(target.patterns);
  const endAt = performance.now() + pull.waitMs;
  let start = pull.start;
  for (;;) {
    const left = () => Math.max(0, endAt - performance.now());
    const page = await awaitEvents(context, { start, kinds }, { limit: pull.limit, waitMs: left() });
    const { requests, stoppedAt } = await buildRequests(context, target, page.events);
    const nextCursor = stoppedAt === null ? page.nextCursor : encodeEventCursor(context.workspaceId, stoppedAt.seq - 1);
    const hasMore = stoppedAt !== null || page.hasMore;
    const isOver = left() === 0 || context.caller.gone.aborted;
    if (requests.length > 0 || (isOver && (stoppedAt !== null || !page.hasMore)))
      return { requests, nextCursor, hasMore };
    if (stoppedAt !== null) await sleep(Math.min(ROUTE_POLL_MS, left()));
    start = { cursor: nextCursor };
  }
}

async function readTarget(context: OperationContext, { endpointId, patterns }: Pull): Promise<Target> {
  const mistake = patterns === null ? null : checkEventPatterns(patterns);
  if (mistake !== null) throw invalid(mistake.message, 'events');
  if (subscribesToAudit(patterns ?? []))
    throw invalid('Events of the audit log are posted to webhooks only. Read the audit log with GET /audit.', 'events');
  if (endpointId === null) {
    const { workspaceId, rights, settings } = context;
    const { signingSecret, verificationToken } = deriveListenerSecrets(settings.secretKey, {
      workspaceId,
      keyId: rights.keyId,
    });
    const config = readWebhookConfig({ url: settings.publicUrl, verificationToken });
    return {
      endpoint: {
        id: LISTENER_ID,
        name: 'postroom listen',
        type: 'webhook',
        webhookFormat: 'native',
        config: { ...config },
        payloadQuery: null,
        filter: null,
      },
      isListener: true,
      isActive: true,
      config,
      secrets: [{ secret: signingSecret, validUntil: null }],
      patterns: patterns ?? ['email.received'],
    };
  }
  const [endpoint] = await loadEndpoints(context, [endpointId]);
  if (endpoint == null) throw endpointNotFound();
  if (endpoint.type !== 'webhook')
    throw invalid('Only webhooks have requests. Use the ID of an endpoint of type webhook.', 'id');
  const { events } = endpoint;
  return {
    endpoint,
    isListener: false,
    isActive: endpoint.isActive,
    config: readWebhookConfig(endpoint.config),
    secrets: validSecrets(context, endpoint),
    patterns: patterns === null ? events : commonPatterns(events, patterns),
  };
}

/** Returns the kinds of events to read. Received mail is posted by its receipt, or its release. */
function listKinds(patterns: readonly string[]): EventKind[] {
  const kinds = (Object.keys(EVENT_KINDS) as EventKind[]).filter((kind) => matchesEvent(patterns, kind));
  return kinds.includes('email.received') ? [...new Set([...kinds, 'email.released' as const])] : kinds;
}

/** What is posted of an event. */
interface Plan {
  event: FeedEvent;
  /** the received mail that it posts; null: none */
  mail: PulledMail | null;
  /** the creation time of the delivery that posts the event itself; null: nothing does */
  linksFrom: Date | null;
  /** bytes that are read for it, about */
  sizeBytes: number;
}

/** Requests, and the first event of which there are none yet; null: there are those of all events. */
interface Built {
  requests: PulledRequest[];
  stoppedAt: FeedEvent | null;
}

/** Builds the requests of these events, up to the first one that cannot be built yet, or is too much for the page. */
async function buildRequests(context: OperationContext, target: Target, events: readonly FeedEvent[]): Promise<Built> {
  const { plans, stoppedAt } = await planRequests(context, target, events);
  const [first] = plans;
  if (first === undefined) return { requests: [], stoppedAt };
  return turns.run(context.workspaceId, async () => {
    // The turn may have come after the client has gone.
    if (context.caller.gone.aborted) return { requests: [], stoppedAt: first.event };
    const requests: PulledRequest[] = [];
    let bytes = 0;
    for (const group of groupBySize(plans)) {
      if (bytes >= MAX_PAGE_BYTES) return { requests, stoppedAt: group[0]?.event ?? null };
      const built = await context.room.borrow(() => buildGroup(context, target, group));
      const more = built.reduce((sum, { body }) => sum + body.length, 0);
      context.room.take(more * BYTES_PER_BODY_BYTE);
      bytes += more;
      requests.push(...built);
    }
    return { requests, stoppedAt };
  });
}

/** Groups plans in their order so that what is read for each group has at most GROUP_BYTES, unless a single one has more. */
function groupBySize(plans: readonly Plan[]): Plan[][] {
  const groups: Plan[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const plan of plans) {
    bytes += plan.sizeBytes;
    if (bytes > GROUP_BYTES) {
      groups.push([]);
      bytes = plan.sizeBytes;
    }
    groups.at(-1)?.push(plan);
  }
  return groups;
}

/** Reads together what decides about all events. */
async function planRequests(
  context: OperationContext,
  target: Target,
  events: readonly FeedEvent[],
): Promise<{ plans: Plan[]; stoppedAt: FeedEvent | null }> {
  const { database, workspaceId } = context;
  const { endpoint, isListener, patterns } = target;
  const endpointId = isListener ? null : endpoint.id;
  const emailIds = events.flatMap(({ kind, emailId }) => (isArrival(kind) ? (emailId ?? []) : []));
  const seqs = events.map(({ seq }) => seq);
  const [position, mails, sizes, linkTimes] = await asWorkspace(database, workspaceId, async (transaction) => [
    // Before the deliveries: those of events up to the position exist.
    endpointId === null ? null : await readSubscriptionPosition(transaction, workspaceId, endpointId),
    emailIds.length === 0 ? [] : await readPulledMail(transaction, workspaceId, { emailIds, endpointId }),
    await readMailSizes(transaction, workspaceId, [...new Set(events.flatMap(({ emailId }) => emailId ?? []))]),
    endpointId === null
      ? new Map<number, Date>()
      : await readEventDeliveries(transaction, workspaceId, { endpointId, seqs }),
  ]);
  const posted = await findPostedSeqs(context, target, events);
  const mailOf = new Map(mails.map((mail) => [mail.id, mail]));
  const plans: Plan[] = [];
  for (const event of events) {
    const mail = isArrival(event.kind) ? mailOf.get(event.emailId ?? '') : undefined;
    const posting =
      mail !== undefined && matchesEvent(patterns, 'email.received')
        ? toPosting(event.kind === 'email.released' ? 'email.released' : 'email.received', {
            ...mail,
            ofAll: ofAll(target, event, { mail, position }),
          })
        : 'never';
    const isStuck = context.now().getTime() - event.at.getTime() > MAX_ROUTING_MS;
    if (posting === 'later' && !isStuck) return { plans, stoppedAt: event };
    const plan = {
      event,
      sizeBytes: EVENT_BYTES + (sizes.get(event.emailId ?? '') ?? 0),
      mail: posting === 'now' ? (mail ?? null) : null,
      linksFrom: posted.has(event.seq) ? (linkTimes.get(event.seq) ?? event.at) : null,
    };
    if (plan.mail !== null || plan.linksFrom !== null) plans.push(plan);
  }
  return { plans, stoppedAt: null };
}

/** See ReceivedState. */
function ofAll(
  { patterns, isListener, isActive }: Target,
  { seq }: FeedEvent,
  { mail, position }: { mail: PulledMail; position: number | null },
): ReceivedState['ofAll'] {
  if (!isPostedFromFeed(patterns, 'email.received')) return null;
  if (isListener || mail.deliveryId !== null) return 'created';
  return isActive && position !== null && position < seq ? 'waiting' : 'none';
}

function isArrival(kind: EventKind): kind is 'email.received' | 'email.released' {
  return kind === 'email.received' || kind === 'email.released';
}

/** Returns the numbers of those events that the fan-out posts to this target themselves. */
async function findPostedSeqs(
  { database, workspaceId }: OperationContext,
  { patterns, endpoint: { filter } }: Target,
  events: readonly FeedEvent[],
): Promise<Set<number>> {
  const seqs = events
    .filter(({ kind }) => !isPostedAsMail(kind) && isPostedFromFeed(patterns, kind))
    .map(({ seq }) => seq);
  if (seqs.length === 0) return new Set();
  const found = await inWorkspaceTransaction(database, workspaceId, { lockTimeoutMs: 0 }, (client) =>
    findFanOutEvents(client, workspaceId, { seqs, withPlaces: filter !== null }),
  );
  return new Set(
    found.filter((event) => !event.is_quiet && matchesFilter(filter, event)).map(({ seq }) => Number(seq)),
  );
}

/** Builds the requests of some events, whose rows are read together. Mail that the endpoint has no delivery of, or whose content is gone, has none. */
async function buildGroup(context: OperationContext, target: Target, plans: readonly Plan[]): Promise<PulledRequest[]> {
  const { endpoint, isListener } = target;
  const mails = plans.flatMap(({ mail }) => mail ?? []);
  const mailBodies = await (isListener ? buildListenerBodies : buildDeliveryBodies)(context, target, mails);
  const posted = plans.flatMap(({ event, linksFrom }) =>
    linksFrom === null ? [] : [{ event, posting: { event, endpoint, linksFrom } }],
  );
  const bodies = await buildEventBodies(
    context,
    posted.map(({ posting }) => posting),
  );
  const eventBodies = new Map(posted.map(({ event }, at) => [event, bodies[at]]));
  return plans.flatMap(({ event, mail }) => {
    const ofMail = mail === null ? undefined : mailBodies.get(mail);
    const ofEvent = eventBodies.get(event);
    return [
      ...(mail === null || ofMail === undefined
        ? []
        : [
            signed(context, target, event, {
              id: isListener ? deriveDeliveryId(LISTENER_ID, event) : (mail.deliveryId ?? ''),
              email: { id: mail.id, messageId: mail.messageId },
              body: ofMail,
              isTest: mail.isTest,
            }),
          ]),
      ...(ofEvent === undefined
        ? []
        : [
            signed(context, target, event, {
              id: deriveDeliveryId(endpoint.id, event),
              email: null,
              body: ofEvent,
              isTest: false,
            }),
          ]),
    ];
  });
}

/** Returns the bodies that post mail to its endpoint; mail without a delivery has none. */
async function buildDeliveryBodies(
  context: OperationContext,
  _target: Target,
  mails: readonly PulledMail[],
): Promise<Map<PulledMail, Buffer>> {
  const delivered = mails.flatMap((mail) => (mail.deliveryId === null ? [] : [{ mail, deliveryId: mail.deliveryId }]));
  if (delivered.length === 0) return new Map();
  const ids = delivered.map(({ deliveryId }) => deliveryId);
  const bodies = await buildDeliveryPayloads(context, ids, ({ body }) => body);
  return new Map(
    delivered.flatMap(({ mail }, at): [PulledMail, Buffer][] => {
      const body = bodies[at];
      return body == null ? [] : [[mail, body]];
    }),
  );
}

/** Returns the bodies that post mail to a program that listens without an endpoint. */
async function buildListenerBodies(
  context: OperationContext,
  { endpoint, config }: Target,
  deliveries: readonly PulledMail[],
): Promise<Map<PulledMail, Buffer>> {
  const bodies = new Map<PulledMail, Buffer>();
  if (deliveries.length === 0) return bodies;
  const { database, workspaceId, settings } = context;
  const ids = deliveries.map(({ id }) => id);
  const mails = await asWorkspace(database, workspaceId, (transaction) =>
    findDeliveryContents(transaction, workspaceId, ids),
  );
  const needing = ids.filter((id) => {
    const mail = mails.get(id);
    return mail !== undefined && isRawNeeded({ endpoint, config, mail });
  });
  const raws = needing.length === 0 ? [] : await loadRawSources(context, needing, null);
  const rawOf = new Map(needing.map((id, at) => [id, raws[at] ?? null]));
  const linkKey = deriveDownloadLinkKey(settings.secretKey);
  const { publicUrl } = settings;
  const linkHolder = findLinkHolder(context, endpoint.id);
  for (const delivery of deliveries) {
    const mail = mails.get(delivery.id);
    if (mail === undefined) continue;
    const removed = await readPayloadTexts(mail);
    const sender = readSenderFacts(mail.authentication);
    const raw = rawOf.get(delivery.id) ?? null;
    const parts = { delivery, endpoint, config, mail, removed, sender, raw, publicUrl, linkKey, linkHolder };
    bodies.set(delivery, await buildInTurns(workspaceId, buildMailPayload(parts), context.caller.gone));
  }
  return bodies;
}

function signed(
  context: OperationContext,
  { endpoint, config, secrets }: Target,
  event: FeedEvent,
  facts: Omit<RequestFacts, 'event'>,
): PulledRequest {
  const kind = facts.email === null ? event.kind : 'email.received';
  const headers = signedHeaders(
    { endpointId: endpoint.id, webhook: { config, secrets }, sentAt: context.now() },
    { ...facts, event: kind },
  );
  return { event, cursor: encodeCursor(context, event), headers: listPairs(headers), body: facts.body };
}

function listPairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as [string, string]] : []));
}
