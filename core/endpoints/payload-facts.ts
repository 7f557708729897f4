import type { AddressFields } from '../mime/address.ts';
import type { Attachment } from '../mime/attachment.ts';
import type { Authentication } from '../mime/authentication.ts';
import type { RemovedPart, RemovedTexts } from '../mime/reply-text.ts';
import type { SenderVerdict } from '../mime/sender-verdict.ts';
import type { Injection } from '../screening/screened-mail.ts';
import type { Screening } from '../screening/spam-check.ts';
import { DOWNLOAD_LINK_LIFE_MS, makeDownloadLink } from './download-link.ts';
import type { WebhookConfig, WebhookFormat } from './endpoint-config.ts';

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
  /** for whom links are made; omitted: the endpoint */
  linkHolder?: string;
}

/** The fields of a received email that the payload contains. */
interface PayloadEmail {
  id: string;
  messageId: string;
  subject: string;
  /** envelope recipient as given */
  recipient: string;
  receivedAt: Date;
  /** the Date field; null when missing or invalid */
  date: Date | null;
  threadId: string | null;
  threadPosition: number | null;
  /** of the reply address that received it; null for other mail */
  metadata: unknown;
}

/** The parsed content of the email (table email_content). */
export interface PayloadContent {
  /** [lower-case name, decoded value] in message order */
  headers: readonly (readonly [string, string])[];
  addresses: AddressFields;
  inReplyTo: readonly string[];
  references: readonly string[];
  textBody: string | null;
  htmlBody: string | null;
  cleanedText: string | null;
  cleanedHtml: string | null;
  /** see core/mime/reply-text.ts */
  quotedText: string | null;
  signature: string | null;
  removedParts: readonly RemovedPart[];
  attachments: readonly Attachment[];
  priority: string | null;
  isTruncated: boolean;
  /** null: not screened */
  injection: Injection | null;
  /** null: not checked */
  screening: Screening | null;
}

export interface PayloadFacts {
  /** creation time of the delivery, not of the attempt, so that every attempt sends the same bytes and links expire together */
  timestamp: Date;
  workspaceId: string;
  email: PayloadEmail;
  content: PayloadContent;
  /** null: not checked */
  sender: { authentication: Authentication | null; verdict: SenderVerdict | null };
  /** the bytes of the message; null when they were removed or are not needed (needsRaw) */
  raw: Buffer | null;
  endpoint: { id: string; name: string; type: string };
  /** without a trailing slash */
  publicUrl: string;
  /** see deriveDownloadLinkKey */
  linkKey: Uint8Array;
  /** see DownloadTarget */
  linkHolder: string;
}

/** Returns the facts of a stored email from which its payload is built. */
export function toPayloadFacts({
  delivery,
  endpoint,
  mail,
  removed,
  sender,
  raw,
  publicUrl,
  linkKey,
  linkHolder = endpoint.id,
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
    linkHolder,
  };
}

/** Signed, so that a receiver without an API key can use it for a limited time, while the holder may read; with a key it always works. */
export function linkTo(
  {
    publicUrl,
    linkKey,
    linkHolder: holder,
    workspaceId,
    email,
    timestamp,
  }: Pick<PayloadFacts, 'publicUrl' | 'linkKey' | 'linkHolder' | 'workspaceId' | 'timestamp'> & {
    email: Pick<PayloadEmail, 'id'>;
  },
  part: number | 'raw',
): string {
  const expiresAt = new Date(timestamp.getTime() + DOWNLOAD_LINK_LIFE_MS);
  return publicUrl + makeDownloadLink(linkKey, { workspaceId, emailId: email.id, part, holder }, expiresAt);
}
