import { buildWebhookPayload } from '../../core/webhook-payload.ts';
import type { DeliveryContentRow } from '../../db/queries/delivery-content.ts';
import type { DeliveryEndpoint, WebhookFacts } from './endpoint-lookup.ts';
import type { DeliveryJob } from './job.ts';

export interface PayloadParts {
  job: Pick<DeliveryJob, 'createdAt' | 'threadId' | 'threadPosition'>;
  endpoint: DeliveryEndpoint;
  webhook: WebhookFacts;
  email: DeliveryContentRow;
  /** the octets of the message; null when they are gone, or not needed */
  raw: Buffer | null;
  /** without a slash at its end */
  publicUrl: string;
}

/** The body of the request by which an email is delivered to a webhook. Equal parts give equal text. */
export function buildPayload({ job, endpoint, webhook, email, raw, publicUrl }: PayloadParts): string {
  return buildWebhookPayload(webhook.config.payload, {
    timestamp: job.createdAt,
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
  });
}
