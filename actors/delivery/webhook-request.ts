import { LONGEST_ATTEMPT_SECONDS } from '../../core/endpoints/retry-policy.ts';
import { webhookHeaders } from '../../core/endpoints/webhook-signature.ts';
import { buildPayload, type PayloadParts } from './payload.ts';
import type { WebhookRequest } from './post-webhook.ts';

export interface WebhookRequestParts extends PayloadParts {
  deliveryId: string;
  /** of this attempt */
  sentAt: Date;
}

/** The request by which an email is delivered to a webhook, signed: of real mail and of tests alike. */
export function makeWebhookRequest(parts: WebhookRequestParts): WebhookRequest {
  const { endpoint, webhook, email } = parts;
  const body = Buffer.from(buildPayload(parts), 'utf8');
  return {
    origin: webhook.origin,
    path: webhook.path,
    headers: webhookHeaders({
      deliveryId: parts.deliveryId,
      endpointId: endpoint.id,
      emailId: email.id,
      messageId: email.message_id,
      body,
      sentAt: parts.sentAt,
      verificationToken: webhook.config.verificationToken,
      signatureScheme: webhook.config.signatureScheme,
      secrets: webhook.secrets,
      customHeaders: webhook.config.headers,
      isTest: email.is_test,
    }),
    body,
    timeoutMs: Math.min(webhook.config.timeout, LONGEST_ATTEMPT_SECONDS) * 1_000,
  };
}
