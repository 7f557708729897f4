import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestFacts, signedHeaders } from '../../actors/delivery/webhook-request.ts';
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
} from '../../core/endpoints/endpoint-events.ts';
import { deriveListenerSecrets, LISTENER_ID, postingOf, type ReceivedState } from '../../core/endpoints/listening.ts';
import { buildMailPayload, isRawNeeded } from '../../core/endpoints/mail-payload.ts';
import type { SigningSecret } from '../../core/endpoints/webhook-signature.ts';
import { encodeEventCursor } from '../../core/events/event-cursor.ts';
import { EVENT_KINDS, type EventKind } from '../../core/events/event-kinds.ts';
import { asUser, inUserTransaction } from '../../db/connection/transaction.ts';
import { readFanOutEvents } from '../../db/queries/endpoints/endpoint-subscription.ts';
import {
  type PulledMail,
  readEventDeliveries,
  readPulledContent,
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
import { readRawSource } from '../../operations/emails/attachments.ts';
import { readPayloadTexts } from '../../operations/emails/html-text.ts';
import { readSenderFacts } from '../../operations/emails/sender-facts.ts';
import { buildDeliveryPayload } from '../../operations/endpoints/delivery-payloads.ts';
import { endpointNotFound, loadEndpoints, validSecrets } from '../../operations/endpoints/endpoints.ts';
import { awaitEvents, cursorOf, type FeedEvent } from '../../operations/events/events.ts';
import { buildEventBody, type EventEndpoint } from './event-payload.ts';

/** Whose requests are built. */
interface Target {
  endpoint: EventEndpoint;
  isListener: boolean;
  isActive: boolean;
  config: WebhookConfig;
  secrets: SigningSecret[];
  patterns: readonly string[];
}

/** Bytes of bodies after which a page ends. */
const MAX_PAGE_BYTES = 8_000_000;
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
  const kinds = kindsOf(target.patterns);
  const endAt = performance.now() + pull.waitMs;
  let start = pull.start;
  for (;;) {
    const left = () => Math.max(0, endAt - performance.now());
    const page = await awaitEvents(context, { start, kinds }, { limit: pull.limit, waitMs: left() });
    const { requests, stoppedAt } = await buildRequests(context, target, page.events);
    const nextCursor = stoppedAt === null ? page.nextCursor : encodeEventCursor(context.userId, stoppedAt.seq - 1);
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
  if (endpointId === null) {
    const { userId, rights, settings } = context;
    const { signingSecret, verificationToken } = deriveListenerSecrets(settings.secretKey, {
      userId,
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
function kindsOf(patterns: readonly string[]): EventKind[] {
  const kinds = (Object.keys(EVENT_KINDS) as EventKind[]).filter((kind) => matchesEvent(patterns, kind));
  return kinds.includes('email.received') ? [...new Set([...kinds, 'email.released' as const])] : kinds;
}

/** Builds the requests of these events, up to the first one that cannot be built yet, or is too much for the page. */
async function buildRequests(
  context: OperationContext,
  target: Target,
  events: readonly FeedEvent[],
): Promise<{ requests: PulledRequest[]; stoppedAt: FeedEvent | null }> {
  const { database, userId } = context;
  const { endpoint, isListener, patterns } = target;
  const endpointId = isListener ? null : endpoint.id;
  const emailIds = events.flatMap(({ kind, emailId }) => (isArrival(kind) ? (emailId ?? []) : []));
  const seqs = events.map(({ seq }) => seq);
  const [position, mails, linkTimes] = await asUser(database, userId, async (transaction) => [
    // Before the deliveries: those of events up to the position exist.
    endpointId === null ? null : await readSubscriptionPosition(transaction, userId, endpointId),
    emailIds.length === 0 ? [] : await readPulledMail(transaction, userId, { emailIds, endpointId }),
    endpointId === null
      ? new Map<number, Date>()
      : await readEventDeliveries(transaction, userId, { endpointId, seqs }),
  ]);
  const mailOf = new Map(mails.map((mail) => [mail.id, mail]));
  const requests: PulledRequest[] = [];
  let bytes = 0;
  for (const event of events) {
    const mail = mailOf.get(event.emailId ?? '');
    if (mail !== undefined && isArrival(event.kind) && matchesEvent(patterns, 'email.received')) {
      const posting = postingOf(event.kind, { ...mail, ofAll: ofAll(target, event, { mail, position }) });
      const isStuck = context.now().getTime() - event.at.getTime() > MAX_ROUTING_MS;
      if (posting === 'later' && !isStuck) return { requests, stoppedAt: event };
      const request =
        posting === 'now' ? await context.room.borrow(() => mailRequest(context, target, event, mail)) : null;
      if (request !== null) requests.push(request);
    }
    if (await isPostedFrom(context, target, event)) {
      const id = deriveDeliveryId(endpoint.id, event);
      const linksFrom = linkTimes.get(event.seq) ?? event.at;
      const body = await context.room.borrow(() => buildEventBody(context, { event, endpoint, linksFrom }));
      requests.push(signed(context, target, event, { id, email: null, body, isTest: false }));
    }
    bytes += requests.at(-1)?.event === event ? (requests.at(-1)?.body.length ?? 0) : 0;
    const next = events[events.indexOf(event) + 1];
    if (bytes > MAX_PAGE_BYTES && next !== undefined) return { requests, stoppedAt: next };
  }
  return { requests, stoppedAt: null };
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

/** Returns whether the fan-out posts the event itself to this target. */
async function isPostedFrom(
  { database, userId }: OperationContext,
  { patterns, endpoint: { filter } }: Target,
  { kind, seq }: FeedEvent,
): Promise<boolean> {
  if (isPostedAsMail(kind) || !isPostedFromFeed(patterns, kind)) return false;
  const range = { after: seq - 1, upTo: seq, limit: 1, withPlaces: filter !== null };
  const [event] = await inUserTransaction(database, userId, { lock: null, lockTimeoutMs: 0 }, (client) =>
    readFanOutEvents(client, userId, range),
  );
  return event !== undefined && !event.is_quiet && matchesFilter(filter, event);
}

/** Returns the request that posts received mail; null when the endpoint has no delivery of it, or its content is gone. */
async function mailRequest(
  context: OperationContext,
  target: Target,
  event: FeedEvent,
  mail: PulledMail,
): Promise<PulledRequest | null> {
  const { id, messageId, isTest, deliveryId } = mail;
  const email = { id, messageId };
  if (target.isListener) {
    const body = await buildListenerBody(context, target, mail);
    const listenerId = deriveDeliveryId(LISTENER_ID, event);
    return body === null ? null : signed(context, target, event, { id: listenerId, email, body, isTest });
  }
  const built = deliveryId === null ? null : await buildDeliveryPayload(context, deliveryId);
  if (built === null || deliveryId === null) return null;
  return signed(context, target, event, { id: deliveryId, email, body: built.body, isTest });
}

async function buildListenerBody(
  context: OperationContext,
  { endpoint, config }: Target,
  delivery: PulledMail,
): Promise<Buffer | null> {
  const { database, userId, settings } = context;
  const mail = await asUser(database, userId, (transaction) => readPulledContent(transaction, userId, delivery.id));
  if (mail === null) return null;
  const raw = isRawNeeded({ endpoint, config, mail }) ? await readRawSource(context, delivery.id) : null;
  const linkKey = deriveDownloadLinkKey(settings.secretKey);
  const removed = await readPayloadTexts(mail);
  const sender = readSenderFacts(mail.authentication);
  const { publicUrl } = settings;
  return buildMailPayload({ delivery, endpoint, config, mail, removed, sender, raw, publicUrl, linkKey });
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
  return { event, cursor: cursorOf(context, event), headers: pairsOf(headers), body: facts.body };
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as [string, string]] : []));
}
