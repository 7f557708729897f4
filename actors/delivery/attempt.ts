import { SpanKind } from '@opentelemetry/api';
import type { Dispatcher } from 'undici';
import { readActions } from '../../core/endpoints/actions.ts';
import { createKeyedSemaphore } from '../../core/shared/semaphore.ts';
import type { Database } from '../../db/connection/database.ts';
import { isTransient } from '../../db/errors.ts';
import { readPlaced } from '../../db/queries/emails/bodies-in-message.ts';
import {
  type DeliveryContentRow,
  readDeliveryContentSql,
  type StoredContentRow,
} from '../../db/queries/endpoints/delivery-body.ts';
import { type FinishRecord } from '../../db/queries/endpoints/record-outcome.ts';
import { readPayloadTexts } from '../../operations/emails/html-text.ts';
import type { BuildEventPayload, SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import { actorMetrics, deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';
import type { Leases } from '../work/leases.ts';
import type { Acting } from './act-on-response.ts';
import type { DeliveryContent, DeliveryJob } from './delivery-job.ts';
import type { DeliveryEndpoint, EndpointLookup } from './endpoint-lookup.ts';
import {
  buildPayload,
  buildSelected,
  isRawNeeded,
  makeEventRequest,
  makeWebhookRequest,
  type OpenRequest,
  type PayloadParts,
  postWebhook,
  RESPONSE_MEMORY_BYTES,
  type WebhookRequest,
  type WebhookResponse,
} from './post-webhook.ts';
import { makeOutcome, outcomeOfGivingUp } from './record-outcomes.ts';

export interface AttemptOptions {
  context: ActorContext;
  endpoints: EndpointLookup;
  leases: Leases<DeliveryJob>;
  dispatcher: Dispatcher;
  publicUrl: string;
  /** see core/endpoints/download-link.ts */
  linkKey: Uint8Array;
  /** runs the payload queries of endpoints */
  selectPayload: SelectPayload;
  /** builds the bodies that post events */
  buildEventPayload: BuildEventPayload;
  /** requests open at once to one endpoint */
  requestsPerEndpoint: number;
}

/** The outcome of an attempt, with the actions that its response asks for; null: none. */
export interface AttemptEnd {
  record: FinishRecord;
  acting: Acting | null;
}

/** Gets the outcome of a job; null when the job was not started, because the actor stops or the lease was lost. */
type OnAttemptEnd = (job: DeliveryJob, outcome: AttemptEnd | null) => void;

/** Content that was read with the route is used for this long; milliseconds. */
const MAX_CONTENT_AGE_MS = 1_000;

/**
 * Makes attempts. An attempt posts one delivery to its webhook, outside any database transaction:
 *
 * 1. Read the emails of all jobs of the batch in one statement, and the raw messages that their payloads contain, unless the router has
 *    just read them (decide-routes.ts).
 * 2. Wait until the endpoint has room for another request.
 * 3. Stop if the lease has ended, or the endpoint or the email is gone or disabled.
 * 4. Build, sign and post the request (post-webhook.ts).
 * 5. Pass the outcome to `onEnd`, which records it (record-outcomes.ts).
 */
export interface Attempter {
  /**
   * Attempts these deliveries independently, and calls `onEnd` with the outcome of each.
   * Rejects before any attempt when PostgreSQL is unreachable.
   */
  attempt(jobs: readonly DeliveryJob[], onEnd: OnAttemptEnd): Promise<void>;
  /** Starts no further attempt; queued ones end with null. Open requests continue. */
  close(): void;
  /** Ends every open request with the outcome `interrupted`. Nothing is sent after that. */
  interrupt(): void;
}

/** What attempts need of their emails. */
interface Contents {
  /** by user id and email id */
  emails: ReadonlyMap<string, DeliveryContentRow>;
  /** by raw id; a missing one is read by its own attempt */
  raws: ReadonlyMap<string, Buffer>;
}

const NO_RAWS: Contents['raws'] = new Map();

export function createAttempter(options: AttemptOptions): Attempter {
  const { context } = options;
  const requests = createKeyedSemaphore(options.requestsPerEndpoint);
  const open = new Set<OpenRequest>();
  const memory = { leftBytes: RESPONSE_MEMORY_BYTES };
  let isClosed = false;

  const readEmails = async (jobs: readonly DeliveryJob[]): Promise<Contents['emails']> => {
    if (jobs.length === 0) return new Map();
    const { rows } = await context.database.pool.query<StoredContentRow>({
      name: 'delivery-read-content',
      text: readDeliveryContentSql,
      values: [jobs.map((job) => job.workspaceId), jobs.map((job) => job.emailId)],
    });
    return new Map(rows.map((row) => [`${row.workspace_id} ${row.id}`, readPlaced(row)]));
  };

  /** Reads the message bytes that these attempts need in one query; large ones, and ones that fail, are left out. */
  const readRaws = async (jobs: readonly DeliveryJob[], { emails, raws }: Contents): Promise<Contents['raws']> => {
    try {
      const { endpoints } = options;
      const unknown = jobs.filter((job) => endpoints.known(job) === undefined);
      await Promise.all(unknown.map((job) => endpoints.recent(job)));
      const rawIds = jobs.flatMap((job) => {
        const email = emails.get(`${job.workspaceId} ${job.emailId}`);
        const endpoint = endpoints.known(job);
        const webhook = endpoint?.webhook ?? null;
        const isNeeded = email !== undefined && endpoint?.isActive === true && webhook !== null;
        const isMissing =
          isNeeded &&
          endpoint.payloadQuery === null &&
          isRawNeeded({ endpoint, webhook, email }) &&
          !raws.has(email.raw_id ?? '');
        return isMissing ? (email.raw_id ?? []) : [];
      });
      return rawIds.length === 0 ? NO_RAWS : await context.bytes.readTogether(rawIds);
    } catch (error) {
      context.log.warn({ err: error, count: jobs.length }, 'delivery: message bytes could not be read together');
      return NO_RAWS;
    }
  };

  const attemptOne = async (job: DeliveryJob, { emails, raws }: Contents): Promise<AttemptEnd | null> => {
    if (isClosed || options.leases.isLost(job)) return null;
    try {
      const email = emails.get(`${job.workspaceId} ${job.emailId}`);
      const endpoint = options.endpoints.known(job) ?? (await options.endpoints.recent(job));
      if (endpoint === undefined) return givenUp(job, 'Endpoint not found');
      if (!endpoint.isActive) return givenUp(job, 'Endpoint is inactive');
      if (endpoint.webhook === null) return givenUp(job, 'Endpoint configuration cannot be used');
      if (job.eventSeq !== null) return await postEvent(job, { endpoint, webhook: endpoint.webhook });
      if (email === undefined) return givenUp(job, 'Email content not available');
      const { webhook } = endpoint;
      const selectedBody = endpoint.payloadQuery === null ? null : await selectBody({ job, endpoint, webhook, email });
      const needsRaw = selectedBody === null && isRawNeeded({ endpoint, webhook, email });
      const rawId = needsRaw ? email.raw_id : null;
      const raw = rawId === null ? null : (raws.get(rawId) ?? (await context.bytes.get(rawId)));
      return await post(job, { endpoint, webhook, email, raw, selectedBody });
    } catch (error) {
      // The row was claimed and nothing was sent: its lease is released.
      if (isTransient(error)) return null;
      return faulted(job, error);
    }
  };

  const selectBody = (parts: Pick<PayloadParts, 'job' | 'endpoint' | 'webhook' | 'email'>): Promise<Buffer | null> => {
    const { selectPayload, publicUrl, linkKey } = options;
    return buildSelected(selectPayload, { ...parts, publicUrl, linkKey });
  };

  const post = async (
    job: DeliveryJob,
    {
      selectedBody,
      ...parts
    }: Pick<PayloadParts, 'endpoint' | 'webhook' | 'email' | 'raw'> & { selectedBody: Buffer | null },
  ): Promise<AttemptEnd | null> => {
    const body = selectedBody ?? (await buildDefault(job, parts));
    // Its endpoint or its bytes may have been read, and its body built, in the meantime.
    if (body === null || isClosed || options.leases.isLost(job)) return null;
    const { endpoint, webhook, email } = parts;
    const sentAt = context.now();
    const made = makeWebhookRequest({ endpoint, webhook, email, body, deliveryId: job.deliveryId, sentAt });
    return send(job, { endpoint, sentAt, since: email.created_at }, made);
  };

  /** Returns the default payload; null when the job was lost while its texts were read. */
  const buildDefault = async (
    job: DeliveryJob,
    parts: Pick<PayloadParts, 'endpoint' | 'webhook' | 'email' | 'raw'>,
  ): Promise<Buffer | null> => {
    const removed = await readPayloadTexts(parts.email);
    if (isClosed || options.leases.isLost(job)) return null;
    const { publicUrl, linkKey } = options;
    return buildPayload({ ...parts, removed, job, publicUrl, linkKey });
  };

  /** Posts an event, whose subject is shown as the interfaces show it. */
  const postEvent = async (
    job: DeliveryJob,
    target: Pick<PayloadParts, 'endpoint' | 'webhook'>,
  ): Promise<AttemptEnd | null> => {
    const built = await options.buildEventPayload(job.workspaceId, job.deliveryId);
    if (isClosed || options.leases.isLost(job)) return null;
    if (built.verdict === 'gone') return givenUp(job, built.reason);
    const sentAt = context.now();
    const made = makeEventRequest({ ...target, sentAt }, { ...built, deliveryId: job.deliveryId });
    return send(job, { ...target, sentAt, since: job.createdAt }, made);
  };

  const send = async (
    job: DeliveryJob,
    { endpoint, sentAt: startedAt, since }: { endpoint: DeliveryEndpoint; sentAt: Date; since: Date },
    made: WebhookRequest,
  ): Promise<AttemptEnd> => {
    const startedTick = performance.now();
    const request = postWebhook(options.dispatcher, made, memory);
    open.add(request);
    const response = await request.response;
    open.delete(request);
    const durationMs = Math.round(performance.now() - startedTick);
    const outcome = makeOutcome(context, job, { startedAt, durationMs, response, sentHeaders: made.headers });
    measure(outcome, response, since);
    noteAttempt(context.database, job, startedTick, response);
    return withActions(outcome, response, endpoint);
  };

  const givenUp = (job: DeliveryJob, error: string): AttemptEnd => ({
    record: outcomeOfGivingUp(context, job, error),
    acting: null,
  });

  /** An internal fault. It counts as an attempt, so that a delivery that always fails comes to an end. */
  const faulted = (job: DeliveryJob, error: unknown): AttemptEnd => {
    context.log.error({ err: error, deliveryId: job.deliveryId }, 'delivery: attempt failed');
    const response: WebhookResponse = { kind: 'unanswered', error: 'Internal error' };
    return { record: makeOutcome(context, job, { startedAt: context.now(), durationMs: 0, response }), acting: null };
  };

  const begin = (jobs: readonly DeliveryJob[], contents: Contents, onEnd: OnAttemptEnd): void => {
    for (const job of jobs)
      void requests.run(job.endpointId, () => attemptOne(job, contents)).then((outcome) => onEnd(job, outcome));
  };

  const attempt = async (jobs: readonly DeliveryJob[], onEnd: OnAttemptEnd): Promise<void> => {
    const routed = jobs.flatMap((job) => takeContent(job) ?? []);
    const emails = new Map(routed.map(({ email }) => [`${email.workspace_id} ${email.id}`, email]));
    const unread = jobs.filter((job) => job.eventSeq === null && !emails.has(`${job.workspaceId} ${job.emailId}`));
    try {
      for (const [key, email] of await readEmails(unread)) emails.set(key, email);
    } catch (error) {
      if (isTransient(error)) throw error;
      // One of them cannot be read: each is attempted on its own.
      for (const job of jobs) await attemptAlone(job, onEnd);
      return;
    }
    const raws = new Map(
      routed.flatMap(({ email, raw }) => (email.raw_id === null || raw === null ? [] : [[email.raw_id, raw]])),
    );
    for (const [rawId, raw] of await readRaws(jobs, { emails, raws })) raws.set(rawId, raw);
    begin(jobs, { emails, raws }, onEnd);
  };

  /** Never rejects: other attempts are in progress and must not start again. */
  const attemptAlone = async (job: DeliveryJob, onEnd: OnAttemptEnd): Promise<void> => {
    let emails: Contents['emails'];
    try {
      emails = await readEmails(job.eventSeq === null ? [job] : []);
    } catch (error) {
      onEnd(job, isTransient(error) ? null : faulted(job, error));
      return;
    }
    begin([job], { emails, raws: NO_RAWS }, onEnd);
  };

  const close = () => {
    isClosed = true;
    requests.startWaiting();
  };

  return {
    attempt,
    close,
    interrupt() {
      close();
      for (const request of open) request.interrupt();
    },
  };
}

/** Adds the actions that a response asks for, or why they cannot run. */
function withActions(record: FinishRecord, response: WebhookResponse, endpoint: DeliveryEndpoint): AttemptEnd {
  if (!endpoint.allowsActions || record.outcome !== 'success' || response.kind !== 'responded')
    return { record, acting: null };
  const { headers, bytes, isTooLong } = response;
  const asked = readActions({ contentType: headers['content-type'] ?? '', body: bytes, isTooLong });
  switch (asked.kind) {
    case 'none':
      return { record, acting: null };
    case 'invalid':
      return { record: { ...record, actions: { problem: asked.problem, results: [] } }, acting: null };
    case 'some':
      return { record, acting: { actions: asked.actions, endpoint } };
  }
}

/** Returns the content that was read with the route, once and only while it is recent. */
function takeContent(job: DeliveryJob): DeliveryContent | null {
  const { content } = job;
  job.content = null;
  return content !== null && content.readAt >= performance.now() - MAX_CONTENT_AGE_MS ? content : null;
}

function measure(
  { outcome, attempt, status_code: code }: FinishRecord,
  response: WebhookResponse,
  acceptedAt: Date,
): void {
  const label = code === null ? response.kind : `${Math.floor(code / 100)}xx`;
  deliveryMetrics.attemptSeconds.observe({ outcome, response: label }, attempt.duration_ms / 1_000);
  if (outcome !== 'success') return;
  const sinceMs = Math.max(0, Date.now() - acceptedAt.getTime());
  actorMetrics.sinceAcceptSeconds.observe({ stage: 'delivered' }, sinceMs / 1_000);
}

/** Records the span of a request, without the URL, which belongs to the user. */
function noteAttempt(database: Database, job: DeliveryJob, startedTick: number, response: WebhookResponse): void {
  const statusCode = response.kind === 'responded' ? response.statusCode : null;
  const isTaken = statusCode !== null && statusCode >= 200 && statusCode < 300;
  const { workspaceId, emailId } = job;
  noteStage(database, emailId === null ? [] : [{ workspaceId, emailId }], {
    name: 'webhook attempt',
    kind: SpanKind.CLIENT,
    startedTick,
    attributes: {
      'postroom.delivery.id': job.deliveryId,
      'postroom.endpoint.id': job.endpointId,
      'postroom.attempt': job.attempts + 1,
      'http.request.method': 'POST',
      ...(statusCode === null ? {} : { 'http.response.status_code': statusCode }),
    },
    error: isTaken ? null : statusCode === null ? response.kind : String(statusCode),
  });
}
