import { buildChatPayload } from '../../core/chat-payload.ts';
import type { PayloadFacts } from '../../core/payload-facts.ts';
import { buildWebhookPayload, needsRaw } from '../../core/webhook-payload.ts';
import type { DeliveryContentRow } from '../../db/queries/delivery-content.ts';
import type { DeliveryEndpoint, WebhookFacts } from './endpoint-lookup.ts';
import type { DeliveryJob } from './job.ts';

export interface PayloadParts {
  job: Pick<DeliveryJob, 'createdAt' | 'threadId' | 'threadPosition'>;
  endpoint: DeliveryEndpoint;
  webhook: WebhookFacts;
  email: DeliveryContentRow;
  /** the octets of the message; null when they are gone, or not needed (isRawNeeded) */
  raw: Buffer | null;
  /** without a slash at its end */
  publicUrl: string;
  /** see core/download-link.ts */
  linkKey: Uint8Array;
}

/**
 * The body of the request by which an email is delivered to a webhook, in the endpoint's format: of real mail and of tests alike.
 * Equal parts give equal text.
 */
export function buildPayload(parts: PayloadParts): string {
  const { endpoint, webhook } = parts;
  const facts = factsOf(parts);
  switch (endpoint.webhookFormat) {
    case 'native':
      return buildWebhookPayload(webhook.config, facts);
    case 'chat_a':
    case 'chat_b':
      return buildChatPayload(endpoint.webhookFormat, facts);
  }
}

/** Whether the payload of that email for that endpoint is made from the octets of the message. */
export function isRawNeeded({
  endpoint,
  webhook,
  email,
}: Pick<PayloadParts, 'endpoint' | 'webhook' | 'email'>): boolean {
  return endpoint.webhookFormat === 'native' && needsRaw(webhook.config, email.attachments);
}

function factsOf({ job, endpoint, email, raw, publicUrl, linkKey }: PayloadParts): PayloadFacts {
  return {
    timestamp: job.createdAt,
    userId: email.user_id,
    email: {
      id: email.id,
      messageId: email.message_id,
      subject: email.subject,
      recipient: email.recipient ?? email.own_address,
      receivedAt: email.created_at,
      date: email.date,
      threadId: job.threadId,
      threadPosition: job.threadPosition,
    },
    content: {
      headers: email.headers,
      addresses: email.addresses,
      inReplyTo: email.in_reply_to,
      references: email.reference_ids,
      textBody: email.text_body,
      htmlBody: email.html_body,
      cleanedText: email.cleaned_text ?? email.text_body?.trim() ?? null,
      cleanedHtml: email.cleaned_html,
      attachments: email.attachments,
      priority: email.priority,
      isTruncated: email.is_truncated,
    },
    raw,
    endpoint,
    publicUrl,
    linkKey,
  };
}
