import { buildMailPayload, isRawNeeded as isRawNeededFor } from '../../core/endpoints/mail-payload.ts';
import { buildSelectedPayload } from '../../core/endpoints/payload-query.ts';
import { MAX_ATTEMPT_SECONDS } from '../../core/endpoints/retry-policy.ts';
import { linkTo } from '../../core/endpoints/webhook-payload.ts';
import { type SigningFacts, webhookHeaders } from '../../core/endpoints/webhook-signature.ts';
import type { RemovedTexts } from '../../core/mime/reply-text.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import { readSenderFacts } from '../../operations/emails/sender-facts.ts';
import type { SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import type { DeliveryEndpoint, WebhookFacts } from './endpoint-lookup.ts';
import type { DeliveryJob } from './job.ts';
import type { WebhookRequest } from './post-webhook.ts';

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

/** Returns the body of the request that delivers an email to a webhook, real or test. Equal input gives equal bytes. */
function buildPayload({ job, webhook, email, ...parts }: PayloadParts): Buffer {
  const sender = readSenderFacts(email.authentication);
  return buildMailPayload({ ...parts, sender, delivery: job, config: webhook.config, mail: email });
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

export interface WebhookRequestParts extends PayloadParts {
  deliveryId: string;
  /** see buildSelected; null: the default payload */
  selectedBody: Buffer | null;
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
  const selected = await select(workspaceId, endpoint.payloadQuery, { emailId, receivedAt }, timestamp);
  if (selected === null) return null;
  return buildSelectedPayload({
    selected,
    timestamp,
    endpoint,
    maxPayloadOctets: webhook.config.maxPayloadOctets,
    rawLinkOf: (id) => linkTo({ publicUrl, linkKey, workspaceId, email: { id }, timestamp }, 'raw'),
  });
}

/** Builds the signed request that delivers an email to a webhook, real or test. */
export function makeWebhookRequest(parts: WebhookRequestParts): WebhookRequest {
  const { email } = parts;
  return signedRequest(parts, {
    event: 'email.received',
    id: parts.deliveryId,
    email: { id: email.id, messageId: email.message_id },
    body: parts.selectedBody ?? buildPayload(parts),
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
