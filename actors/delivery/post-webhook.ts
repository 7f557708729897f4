import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { MAX_ACTIONS_BYTES } from '../../core/endpoints/actions.ts';
import { linkTo } from '../../core/endpoints/payload-facts.ts';
import { buildSelectedPayload } from '../../core/endpoints/payload-query.ts';
import { MAX_ATTEMPT_SECONDS } from '../../core/endpoints/retry-policy.ts';
import { buildMailPayload, isRawNeeded as isRawNeededFor } from '../../core/endpoints/webhook-payload.ts';
import { type SigningFacts, webhookHeaders } from '../../core/endpoints/webhook-signature.ts';
import type { RemovedTexts } from '../../core/mime/reply-text.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import { readSenderFacts } from '../../operations/emails/sender-facts.ts';
import { buildInTurns } from '../../operations/endpoints/build-in-turns.ts';
import type { SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import type { DeliveryJob } from './delivery-job.ts';
import type { DeliveryEndpoint, WebhookFacts } from './endpoint-lookup.ts';

export interface PayloadParts {
  job: Pick<DeliveryJob, 'createdAt' | 'threadId' | 'threadPosition'>;
  endpoint: DeliveryEndpoint;
  webhook: WebhookFacts;
  email: DeliveryContentRow;
  /** see readPayloadTexts */
  removed: RemovedTexts;
  /** the raw message; null when it was removed, or is not needed (isRawNeeded) */
  raw: Buffer | null;
  /** without a trailing slash */
  publicUrl: string;
  /** see core/endpoints/download-link.ts */
  linkKey: Uint8Array;
}

/**
 * Builds the default body of the request that delivers an email to a webhook, real or test: one with megabytes of mail in turns, while other
 * deliveries go on. Equal input gives equal bytes.
 */
export function buildPayload({ job, webhook, email, ...parts }: PayloadParts): Promise<Buffer> {
  const sender = readSenderFacts(email.authentication);
  const steps = buildMailPayload({ ...parts, sender, delivery: job, config: webhook.config, mail: email });
  return buildInTurns(email.workspace_id, steps);
}

/** Whether the payload of this email for this endpoint is built from the raw message. */
export function isRawNeeded({
  endpoint,
  webhook,
  email,
}: Pick<PayloadParts, 'endpoint' | 'webhook' | 'email'>): boolean {
  return isRawNeededFor({ endpoint, config: webhook.config, mail: email });
}

/** Whether the payload of every email for this endpoint is built from the raw message. */
export function isRawAlwaysNeeded({ endpoint, webhook }: Pick<PayloadParts, 'endpoint' | 'webhook'>): boolean {
  return isRawNeededFor({ endpoint, config: webhook.config, mail: { attachments: [] } });
}

export interface WebhookRequestParts extends Pick<PayloadParts, 'endpoint' | 'webhook' | 'email'> {
  deliveryId: string;
  /** see buildSelected and buildPayload */
  body: Buffer;
  /** of this attempt */
  sentAt: Date;
}

/**
 * Returns the body of a request whose payload is the result of the endpoint's query, or null when the endpoint has none, or its query does not
 * fit the schema: then it is the default payload.
 */
export async function buildSelected(
  select: SelectPayload,
  { job, endpoint, webhook, email, publicUrl, linkKey }: Omit<PayloadParts, 'raw' | 'removed'>,
): Promise<Buffer | null> {
  if (endpoint.payloadQuery === null || endpoint.webhookFormat !== 'native') return null;
  const { workspace_id: workspaceId, id: emailId, created_at: receivedAt } = email;
  const timestamp = job.createdAt;
  const linkHolder = endpoint.id;
  const links = { from: timestamp, holder: linkHolder };
  const selected = await select(workspaceId, endpoint.payloadQuery, { emailId, receivedAt }, links);
  if (selected === null) return null;
  const steps = buildSelectedPayload({
    selected,
    timestamp,
    endpoint,
    maxPayloadOctets: webhook.config.maxPayloadOctets,
    rawLinkOf: (id) => linkTo({ publicUrl, linkKey, linkHolder, workspaceId, email: { id }, timestamp }, 'raw'),
  });
  return buildInTurns(workspaceId, steps);
}

/** Returns the signed request that delivers an email to a webhook, real or test. */
export function makeWebhookRequest(parts: WebhookRequestParts): WebhookRequest {
  const { email } = parts;
  return signedRequest(parts, {
    event: 'email.received',
    id: parts.deliveryId,
    email: { id: email.id, messageId: email.message_id },
    body: parts.body,
    isTest: email.is_test,
  });
}

interface RequestTarget {
  endpoint: Pick<DeliveryEndpoint, 'id' | 'allowsActions'>;
  webhook: WebhookFacts;
  /** of this attempt */
  sentAt: Date;
}

/** Builds the signed request that posts an event with a finished body. */
export function makeEventRequest(
  target: RequestTarget,
  { kind, deliveryId, body }: { kind: string; deliveryId: string; body: Buffer },
): WebhookRequest {
  return signedRequest(target, { event: kind, id: deliveryId, email: null, body, isTest: false });
}

/** What a request is about. */
export type RequestFacts = Pick<SigningFacts, 'event' | 'id' | 'email' | 'body' | 'isTest'>;

function signedRequest(target: RequestTarget, facts: RequestFacts): WebhookRequest {
  const { endpoint, webhook } = target;
  return {
    origin: webhook.origin,
    path: webhook.path,
    headers: signedHeaders({ ...target, endpointId: endpoint.id }, facts),
    body: facts.body,
    timeoutMs: Math.min(webhook.config.timeout, MAX_ATTEMPT_SECONDS) * 1_000,
    allowsActions: endpoint.allowsActions,
  };
}

/** Returns the header fields of a request, signed, as a flat list of names and values. */
export function signedHeaders(
  {
    endpointId,
    webhook: { config, secrets },
    sentAt,
  }: { endpointId: string; webhook: Pick<WebhookFacts, 'config' | 'secrets'>; sentAt: Date },
  facts: RequestFacts,
): string[] {
  return webhookHeaders({
    ...facts,
    endpointId,
    sentAt,
    verificationToken: config.verificationToken,
    signatureScheme: config.signatureScheme,
    secrets,
    customHeaders: config.headers,
  });
}

export interface WebhookRequest {
  /** scheme, host and port */
  origin: string;
  /** path and query */
  path: string;
  /** names and values, alternating */
  headers: string[];
  body: Buffer;
  /** for everything from the name lookup to the last byte */
  timeoutMs: number;
  /** whether the response may hold actions: then its whole body is kept, up to MAX_ACTIONS_BYTES */
  allowsActions: boolean;
}

/** Counts the bytes of responses that are kept at the same time. */
export interface ResponseMemory {
  leftBytes: number;
}

/** For responses that may hold actions: enough for 128 of the longest. */
export const RESPONSE_MEMORY_BYTES = 128 * MAX_ACTIONS_BYTES;

/** The outcome of one request. `error` is a short text for the user. */
export type WebhookResponse =
  | {
      kind: 'responded';
      statusCode: number;
      headers: IncomingHttpHeaders;
      /** its beginning, as it is stored */
      body: string;
      /** as far as it was kept */
      bytes: Buffer;
      /** whether more of it was sent than is ever kept */
      isTooLong: boolean;
    }
  | { kind: 'unanswered'; error: string }
  | { kind: 'interrupted' };

/** A request in progress. */
export interface OpenRequest {
  response: Promise<WebhookResponse>;
  /** Ends it now; its response is `interrupted`, unless it has one already. */
  interrupt(): void;
}

/** Of a response body, at most 20 KB are read and 4 KB stored; of one that may hold actions, MAX_ACTIONS_BYTES are kept. */
const MAX_READ_BYTES = 20 * 1_024;
const MAX_KEPT_BYTES = 4_096;

/** Posts once. Never throws: every failure is a response, and so is a lack of `memory`. */
export function postWebhook(dispatcher: Dispatcher, request: WebhookRequest, memory: ResponseMemory): OpenRequest {
  const exchange = new Exchange(request, memory);
  try {
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: 'POST',
        headers: request.headers,
        body: request.body,
      },
      exchange,
    );
  } catch (error) {
    exchange.onResponseError(null, error as Error);
  }
  return { response: exchange.response, interrupt: () => exchange.end({ kind: 'interrupted' }) };
}

/** Returns the handler of one exchange. It settles once, by response, error, time limit or interruption, and closes what is still open. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<WebhookResponse>;
  readonly #timer: NodeJS.Timeout;
  readonly #settle: (response: WebhookResponse) => void;
  #isSettled = false;
  #controller: Dispatcher.DispatchController | null = null;
  #statusCode = 0;
  #headers: IncomingHttpHeaders = {};
  #kept: Buffer[] = [];
  #readBytes = 0;
  #keptBytes = 0;
  readonly #limits: { read: number; kept: number };
  readonly #memory: ResponseMemory;

  constructor(
    { timeoutMs, allowsActions }: Pick<WebhookRequest, 'timeoutMs' | 'allowsActions'>,
    memory: ResponseMemory,
  ) {
    this.#memory = memory;
    this.#limits = allowsActions
      ? { read: MAX_ACTIONS_BYTES, kept: MAX_ACTIONS_BYTES }
      : { read: MAX_READ_BYTES, kept: MAX_KEPT_BYTES };
    const { promise, resolve } = Promise.withResolvers<WebhookResponse>();
    this.response = promise;
    this.#settle = resolve;
    this.#timer = setTimeout(() => {
      this.end({ kind: 'unanswered', error: `Request timed out after ${timeoutMs / 1_000} seconds` });
    }, timeoutMs);
  }

  /** Settles and closes the connection, which is in the middle of an exchange. */
  end(response: WebhookResponse): void {
    if (this.#isSettled) return;
    this.#finish(response);
    this.#controller?.abort(new Error('ended'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The time limit may have passed during the wait for a connection.
    if (this.#isSettled) controller.abort(new Error('ended'));
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Its memory is given back already.
    if (this.#isSettled) return;
    const missing = this.#limits.kept - this.#readBytes;
    if (missing > 0 && !this.#keep(chunk.subarray(0, missing))) return;
    this.#readBytes += chunk.length;
    if (this.#readBytes > this.#limits.read) this.end(this.#makeResponse());
  }

  onResponseEnd(): void {
    if (!this.#isSettled) this.#finish(this.#makeResponse());
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isSettled) return;
    this.#finish({ kind: 'unanswered', error: describeFailure(error) });
  }

  /** Ends the exchange when there is no memory left; the first bytes of a response are always kept. */
  #keep(part: Buffer): boolean {
    const bytes = Math.max(0, this.#readBytes + part.length - MAX_KEPT_BYTES) - this.#keptBytes;
    if (bytes > this.#memory.leftBytes) {
      this.end({ kind: 'unanswered', error: 'Too many long responses at the same time' });
      return false;
    }
    this.#keptBytes += bytes;
    this.#memory.leftBytes -= bytes;
    // A copy, because the chunk is a view of memory that is reused.
    this.#kept.push(Buffer.from(part));
    return true;
  }

  #makeResponse(): WebhookResponse {
    const bytes = Buffer.concat(this.#kept);
    return {
      kind: 'responded',
      statusCode: this.#statusCode,
      headers: this.#headers,
      body: bytes.toString('utf8', 0, MAX_KEPT_BYTES),
      bytes,
      isTooLong: this.#readBytes > this.#limits.read,
    };
  }

  #finish(response: WebhookResponse): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#memory.leftBytes += this.#keptBytes;
    this.#settle(response);
  }
}

const failureTexts: Readonly<Record<string, string>> = {
  BLOCKED_ADDRESS: 'blocked address',
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset',
  EPIPE: 'Connection reset',
  ETIMEDOUT: 'Connection timed out',
  EHOSTUNREACH: 'Host unreachable',
  ENETUNREACH: 'Network unreachable',
  ENOTFOUND: 'Host not found',
  ENODATA: 'Host not found',
  EAI_AGAIN: 'Name look-up failed',
  ESERVFAIL: 'Name look-up failed',
  ETIMEOUT: 'Name look-up failed',
  EREFUSED: 'Name look-up failed',
  UND_ERR_CONNECT_TIMEOUT: 'Connection timed out',
  UND_ERR_SOCKET: 'Connection closed before the response',
  UND_ERR_HEADERS_OVERFLOW: 'Header section of the response is too large',
};

/** Returns a short text for the user, by the code of the error. */
function describeFailure(error: Error): string {
  const code = findCode(error);
  if (code === null) return 'Request failed';
  const known = failureTexts[code];
  if (known !== undefined) return known;
  if (code.startsWith('HPE_')) return 'Response is not HTTP';
  if (/CERT|TLS|SSL|SELF_SIGNED|ISSUER/.test(code)) return `TLS failed (${code})`;
  return `Request failed (${code})`;
}

function findCode(error: Error): string | null {
  // Several addresses were tried: the first failure is reported.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return findCode(error.errors[0]);
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : null;
}
