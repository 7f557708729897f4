import type { AddressFields } from '../mime/address.ts';
import type { Attachment } from '../mime/attachment.ts';
import type { RemovedPart, RemovedTexts } from '../mime/reply-text.ts';
import type { Injection } from '../screening/screened-mail.ts';
import type { Screening } from '../screening/spam-check.ts';
import { buildChatPayload } from './chat-payload.ts';
import type { WebhookConfig, WebhookFormat } from './endpoint-config.ts';
import { buildWebhookPayload, needsRaw, type PayloadFacts } from './webhook-payload.ts';

/** A received email as stored. */
export interface StoredMail {
  workspace_id: string;
  id: string;
  message_id: string;
  subject: string;
  recipient: string | null;
  own_address: string;
  created_at: Date;
  date: Date | null;
  headers: [string, string][];
  addresses: AddressFields;
  in_reply_to: string[];
  reference_ids: string[];
  text_body: string | null;
  html_body: string | null;
  cleaned_text: string | null;
  cleaned_html: string | null;
  removed_parts: RemovedPart[];
  attachments: Attachment[];
  /** see core/mime/authentication.ts; null: not checked */
  authentication: unknown;
  /** null: not screened */
  injection: Injection | null;
  /** what the scanners said; null: not checked */
  screening: Screening | null;
  priority: string | null;
  is_truncated: boolean;
  /** of the reply address that received it; null or omitted for other mail */
  metadata?: unknown;
}

export interface MailPayloadParts {
  /** as of the creation of the delivery */
  delivery: { createdAt: Date; threadId: string | null; threadPosition: number | null };
  endpoint: { id: string; name: string; type: string; webhookFormat: WebhookFormat };
  config: WebhookConfig;
  mail: StoredMail;
  removed: RemovedTexts;
  /** what is known about its sender */
  sender: PayloadFacts['sender'];
  /** the bytes of the message; null when they were removed or are not needed (isRawNeeded) */
  raw: Buffer | null;
  /** without a trailing slash */
  publicUrl: string;
  /** see core/endpoints/download-link.ts */
  linkKey: Uint8Array;
}

/** Returns the body of a webhook request for an email, in the endpoint's format. Equal parts give equal bytes. */
export function buildMailPayload(parts: MailPayloadParts): Buffer {
  const { webhookFormat } = parts.endpoint;
  const facts = toFacts(parts);
  switch (webhookFormat) {
    case 'native':
      return buildWebhookPayload(parts.config, facts);
    case 'chat_a':
    case 'chat_b':
      return Buffer.from(buildChatPayload(webhookFormat, facts));
  }
}

/** Returns whether this payload needs the bytes of the message. */
export function isRawNeeded({
  endpoint,
  config,
  mail,
}: Pick<MailPayloadParts, 'endpoint' | 'config'> & { mail: Pick<StoredMail, 'attachments'> }): boolean {
  return endpoint.webhookFormat === 'native' && needsRaw(config, mail.attachments);
}

function toFacts({
  delivery,
  endpoint,
  mail,
  removed,
  sender,
  raw,
  publicUrl,
  linkKey,
}: MailPayloadParts): PayloadFacts {
  return {
    timestamp: delivery.createdAt,
    workspaceId: mail.workspace_id,
    sender,
    email: {
      id: mail.id,
      messageId: mail.message_id,
      subject: mail.subject,
      recipient: mail.recipient ?? mail.own_address,
      receivedAt: mail.created_at,
      date: mail.date,
      threadId: delivery.threadId,
      threadPosition: delivery.threadPosition,
      metadata: mail.metadata ?? null,
    },
    content: {
      headers: mail.headers,
      addresses: mail.addresses,
      inReplyTo: mail.in_reply_to,
      references: mail.reference_ids,
      textBody: mail.text_body,
      htmlBody: mail.html_body,
      cleanedText: mail.cleaned_text ?? mail.text_body?.trim() ?? null,
      cleanedHtml: mail.cleaned_html,
      ...removed,
      removedParts: mail.removed_parts,
      attachments: mail.attachments,
      priority: mail.priority,
      isTruncated: mail.is_truncated,
      injection: mail.injection,
      screening: mail.screening,
    },
    raw,
    endpoint,
    publicUrl,
    linkKey,
  };
}
