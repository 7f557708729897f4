import { z } from 'zod';
import { EMAIL_STATUSES, EMAIL_TYPES } from '../../../core/emails/email-status.ts';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { findEvent } from '../../../core/mime/calendar-event.ts';
import { REMOVED_KINDS } from '../../../core/mime/reply-text.ts';
import { KEPT_APART } from '../../../core/screening/spam-check.ts';
import { type BodyText, LargeText } from '../../../core/shared/large-text.ts';
import type { Email, EmailContent, EmailDetails, EmailSummary } from '../../../operations/emails/emails.ts';
import { describeRecipient, recipientShape } from '../../../operations/sending/recipient-capability.ts';
import { makeWriter, wireOutput } from '../capability-shapes.ts';
import { instant, plainRecord, trashedAt, wireInstant } from '../shapes.ts';
import { eventBody, eventBodyOf } from './event-wire.ts';

const recipientBody = wireOutput(recipientShape, 'snake').meta({ id: 'Recipient' });
const writeRecipient = makeWriter(recipientShape, 'snake');

function recipientBodyOf(recipient: EmailDetails['recipients'][number]): Record<string, unknown> {
  return writeRecipient?.(describeRecipient(recipient)) as Record<string, unknown>;
}

/** Headers by lower-case name. Not a z.record, which would drop a header named `__proto__`. */
const headers = z.unknown().meta({ type: 'object', additionalProperties: { type: 'string' } });
/** Published clients know no approval: for them, mail that waits for it is queued, and rejected mail was cancelled. `approval` says more. */
const WIRE_STATUSES = { awaiting_approval: 'queued', rejected: 'cancelled' } as const;
const wireStatus = z
  .enum(EMAIL_STATUSES)
  .exclude(['awaiting_approval', 'rejected'])
  .or(z.literal('queued'))
  .meta({ description: '`queued`: it waits for approval; see `approval`. Rejected mail is `cancelled`.' });

function wireStatusOf({ status }: Pick<EmailSummary, 'status'>): z.infer<typeof wireStatus> {
  return status === 'awaiting_approval' || status === 'rejected' ? WIRE_STATUSES[status] : status;
}

const lastEvent = z.enum(['queued', 'delivered', 'bounced', 'failed', 'scheduled', 'canceled', 'pending']).meta({
  description:
    'Status in the terms of the `resend` client. Under `/api/v2`, those of `@inboundemail/sdk`: pending, delivered or failed.',
});
const guardFields = {
  guard_status: z.enum(['blocked', 'review']).nullable().meta({
    description:
      '`blocked`: a guard rule holds the email. `review`: the rule’s language model did not respond, and the email waits for your review.',
  }),
  guard_rule_id: z.string().nullable().meta({ description: 'The guard rule that matched or holds the email.' }),
};
const isTest = z.boolean().meta({ description: 'Whether this is a test email that did not arrive over SMTP.' });
const threadId = z.string().nullable().meta({
  description: 'Null until the email is threaded, which happens shortly after it is received or sent.',
});
const tags = z.array(z.object({ name: z.string(), value: z.string() }));
/** A large one is written as JSON piece by piece (gateway/http/json-stream.ts). */
export const bodyText = z
  .custom<BodyText>((value) => typeof value === 'string' || value instanceof LargeText)
  .meta({ type: 'string' });

const attachmentBody = z
  .object({
    filename: z.string(),
    contentType: z.string(),
    size: z.number().int().meta({ description: 'Size in bytes, decoded.' }),
    contentId: z.string().nullable(),
    contentDisposition: z.enum(['attachment', 'inline']).nullable(),
    downloadUrl: z.string(),
  })
  .meta({ id: 'Attachment' });

const keptApart = z.enum(KEPT_APART).nullable().meta({
  description: '`spam`: it is in the folder Spam. `virus`: it is in quarantine. Null for other mail.',
});

export const emailListItem = z
  .object({
    id: z.string(),
    type: z.enum(EMAIL_TYPES),
    message_id: z.string(),
    from: z.string(),
    from_name: z.string().nullable(),
    to: z.array(z.string()),
    cc: z.array(z.string()),
    bcc: z.array(z.string()),
    reply_to: z.array(z.string()).nullable(),
    subject: z.string(),
    preview: z.string(),
    status: wireStatus,
    last_event: lastEvent,
    created_at: instant,
    sent_at: instant.nullable(),
    scheduled_at: instant.nullable(),
    has_attachments: z.boolean(),
    attachment_count: z.number().int(),
    thread_id: threadId,
    is_read: z.boolean(),
    read_at: instant.nullable(),
    is_archived: z.boolean(),
    kept_apart: keptApart,
    is_test: isTest,
    envelope_recipient: z.string().nullable(),
    ...guardFields,
  })
  .meta({ id: 'EmailListItem' });

const cleanedContentBody = z
  .object({
    text: bodyText.nullable().meta({ description: 'The text the author typed, without quotes and signature.' }),
    html: bodyText.nullable().meta({
      description:
        'The same of the HTML, without anything that can run, load or mislead. Null if it is too long to clean.',
    }),
    quoted_text: bodyText.nullable().meta({ description: 'The quoted mail that was removed, as text.' }),
    signature: bodyText.nullable().meta({ description: 'The signature that was removed, as text.' }),
    removed_from: z.enum(['text', 'html']).meta({
      description: 'The body as received that `removed_parts` are offsets in; `html` when the email came without text.',
    }),
    removed_parts: z
      .array(
        z.object({
          kind: z.enum(REMOVED_KINDS),
          start: z.number().int().meta({
            description: 'Offset in the body, in UTF-16 code units.',
          }),
          end: z.number().int().meta({ description: 'Offset after its last character.' }),
        }),
      )
      .meta({ description: 'Where the body has what was removed, in order.' }),
  })
  .meta({ id: 'CleanedContent' });

export const emailBody = z
  .object({
    object: z.literal('email'),
    id: z.string(),
    type: z.enum(EMAIL_TYPES),
    message_id: z.string(),
    from: z.string(),
    to: z.array(z.string()),
    cc: z.array(z.string()),
    bcc: z.array(z.string()),
    reply_to: z.array(z.string()).nullable(),
    subject: z.string(),
    html: bodyText.nullable(),
    text: bodyText.nullable(),
    cleaned_content: cleanedContentBody.nullable().meta({ description: 'Null for sent mail.' }),
    status: wireStatus,
    last_event: lastEvent,
    created_at: instant,
    updated_at: instant,
    sent_at: instant.nullable(),
    scheduled_at: instant.nullable(),
    has_attachments: z.boolean(),
    attachments: z.array(attachmentBody),
    event: eventBody.nullable().meta({ description: 'The event of its first calendar. Null if it has none.' }),
    is_read: z.boolean(),
    read_at: instant.nullable(),
    is_archived: z.boolean(),
    trashed_at: trashedAt,
    kept_apart: keptApart,
    is_test: isTest,
    thread_id: threadId,
    thread_position: z.number().int().nullable(),
    metadata: z.unknown().meta({
      description:
        'Metadata of the reply address that received the email, or else of the sent email that it answers (In-Reply-To, References). Of a sent email: as it was given. Null if there is none.',
    }),
    envelope_recipient: z.string().nullable(),
    ...guardFields,
    headers,
    tags,
    authentication: z.unknown().meta({ description: 'Results of SPF, DKIM, DMARC and ARC. Null if not checked.' }),
    recipients: z
      .array(recipientBody)
      .meta({ description: 'Delivery status of each recipient. Empty for received mail.' }),
  })
  .meta({ id: 'Email' });

export const threadMessageBody = z
  .object({
    id: z.string(),
    message_id: z.string(),
    type: z.enum(['inbound', 'outbound']),
    thread_position: z.number().int().nullable(),
    subject: z.string(),
    text_body: bodyText.nullable(),
    html_body: bodyText.nullable(),
    from: z.string(),
    from_name: z.string().nullable(),
    from_address: z.string(),
    to: z.array(z.string()),
    cc: z.array(z.string()),
    bcc: z.array(z.string()),
    date: instant,
    received_at: instant.nullable(),
    sent_at: instant.nullable(),
    is_read: z.boolean(),
    read_at: instant.nullable(),
    has_attachments: z.boolean(),
    attachments: z.array(attachmentBody),
    in_reply_to: z.string().nullable(),
    references: z.array(z.string()),
    headers,
    tags,
    status: z.enum(['pending', 'sent', 'bounced', 'failed']).optional(),
    failure_reason: z.string().nullable().optional(),
  })
  .meta({ id: 'ThreadMessage' });

/** Converts an email to an item of a list. `addresses` come from its content; null if it has none. */
export function emailListItemOf(email: EmailSummary, addresses: AddressFields | null): z.infer<typeof emailListItem> {
  return {
    id: email.id,
    type: email.type,
    message_id: email.messageId,
    from: email.fromAddress,
    from_name: email.fromName,
    to: email.to,
    cc: email.cc,
    bcc: addressesIn(addresses, 'bcc'),
    reply_to: replyToOf(addresses),
    subject: email.subject,
    preview: email.preview,
    status: wireStatusOf(email),
    last_event: lastEventOf(email),
    created_at: wireInstant(email.createdAt),
    sent_at: wireInstant(email.sentAt),
    scheduled_at: wireInstant(email.scheduledAt),
    has_attachments: email.hasAttachments,
    attachment_count: email.attachmentCount,
    thread_id: email.threadId,
    is_read: email.isRead,
    read_at: wireInstant(email.readAt),
    is_archived: email.isArchived,
    kept_apart: email.keptApart,
    is_test: email.isTest,
    envelope_recipient: email.recipient,
    guard_status: email.guardStatus,
    guard_rule_id: email.guardRuleId,
  };
}

/** Converts an email. `publicUrl` is the base URL of download links. Only sent mail has recipients. */
export function emailBodyOf(email: Email & Partial<EmailDetails>, publicUrl: string): z.infer<typeof emailBody> {
  return {
    object: 'email',
    id: email.id,
    type: email.type,
    message_id: email.messageId,
    from: email.fromText,
    to: email.to,
    cc: email.cc,
    bcc: addressesIn(email.addresses, 'bcc'),
    reply_to: replyToOf(email.addresses),
    subject: email.subject,
    html: email.html,
    text: email.text,
    cleaned_content: email.type === 'received' ? cleanedContentOf(email) : null,
    status: wireStatusOf(email),
    last_event: lastEventOf(email),
    created_at: wireInstant(email.createdAt),
    updated_at: wireInstant(email.updatedAt),
    sent_at: wireInstant(email.sentAt),
    scheduled_at: wireInstant(email.scheduledAt),
    has_attachments: email.hasAttachments,
    attachments: attachmentsOf(email, publicUrl),
    event: eventBodyOf(findEvent(email.attachments)),
    is_read: email.isRead,
    read_at: wireInstant(email.readAt),
    is_archived: email.isArchived,
    trashed_at: wireInstant(email.trashedAt),
    kept_apart: email.keptApart,
    is_test: email.isTest,
    thread_id: email.threadId,
    thread_position: email.threadPosition,
    metadata: email.metadata,
    envelope_recipient: email.recipient,
    guard_status: email.guardStatus,
    guard_rule_id: email.guardRuleId,
    headers: headersOf(email),
    tags: email.tags,
    authentication: email.authentication,
    recipients: (email.recipients ?? []).map(recipientBodyOf),
  };
}

function cleanedContentOf({
  cleanedText = null,
  cleanedHtml = null,
  quotedText = null,
  signature = null,
  removedFrom = 'text',
  removedParts = [],
}: Partial<EmailDetails>): z.infer<typeof cleanedContentBody> {
  return {
    text: cleanedText,
    html: cleanedHtml,
    quoted_text: quotedText,
    signature,
    removed_from: removedFrom,
    removed_parts: removedParts,
  };
}

/** Converts the body for `@inboundemail/sdk`, whose type does not allow null and has fewer statuses than that of `resend`. */
export function legacyEmailBodyOf(body: z.infer<typeof emailBody>): z.infer<typeof emailBody> {
  return {
    ...body,
    reply_to: body.reply_to ?? [],
    html: body.html ?? '',
    text: body.text ?? '',
    last_event: LEGACY_EVENTS[body.last_event],
  };
}

const LEGACY_EVENTS = {
  queued: 'pending',
  pending: 'pending',
  scheduled: 'pending',
  delivered: 'delivered',
  bounced: 'failed',
  failed: 'failed',
  canceled: 'failed',
} as const satisfies Record<z.infer<typeof lastEvent>, string>;

/** `publicUrl` is the base URL of download links. */
export function threadMessageOf(email: Email, publicUrl: string): z.infer<typeof threadMessageBody> {
  const isInbound = email.type === 'received';
  return {
    id: email.id,
    message_id: email.messageId,
    type: isInbound ? 'inbound' : 'outbound',
    thread_position: email.threadPosition,
    subject: email.subject,
    text_body: email.text,
    html_body: email.html,
    from: email.fromText,
    from_name: email.fromName,
    from_address: email.fromAddress,
    to: email.to,
    cc: email.cc,
    bcc: addressesIn(email.addresses, 'bcc'),
    date: wireInstant(email.date ?? email.createdAt),
    received_at: isInbound ? wireInstant(email.createdAt) : null,
    sent_at: wireInstant(email.sentAt),
    is_read: email.isRead,
    read_at: wireInstant(email.readAt),
    has_attachments: email.hasAttachments,
    attachments: attachmentsOf(email, publicUrl),
    in_reply_to: email.inReplyTo[0] ?? null,
    references: email.references,
    headers: headersOf(email),
    tags: email.tags,
    ...(isInbound ? {} : { status: outboundStatusOf(email), failure_reason: email.failureReason }),
  };
}

function attachmentsOf(email: { id: string } & Pick<EmailContent, 'attachments'>, publicUrl: string) {
  return email.attachments.map((attachment: Attachment) => ({
    filename: attachment.filename,
    contentType: attachment.contentType,
    size: attachment.size,
    contentId: attachment.contentId,
    contentDisposition: attachment.contentDisposition,
    downloadUrl: `${publicUrl}/api/e2/attachments/${email.id}/parts/${attachment.index}`,
  }));
}

function addressesIn(addresses: AddressFields | null, field: 'bcc' | 'replyTo'): string[] {
  return addresses?.[field]?.addresses.map((mailbox) => mailbox.address) ?? [];
}

function replyToOf(addresses: AddressFields | null): string[] | null {
  const replyTo = addressesIn(addresses, 'replyTo');
  return replyTo.length === 0 ? null : replyTo;
}

/** Returns the headers by lower-case name. Values of a repeated header are joined by a line feed. */
function headersOf(email: Email): Record<string, string> {
  const values = Map.groupBy(email.headers, ([name]) => name);
  return plainRecord([...values].map(([name, fields]) => [name, fields.map(([, value]) => value).join('\n')] as const));
}

/** Returns the status in the terms of the `resend` client. */
function lastEventOf(email: EmailSummary): z.infer<typeof lastEvent> {
  if (email.status === 'cancelled' || email.status === 'rejected') return 'canceled';
  if (email.status === 'awaiting_approval') return 'queued';
  if (email.status === 'paused') return 'scheduled';
  return email.status === 'pending' ? 'queued' : email.status;
}

function outboundStatusOf(email: Email): 'pending' | 'sent' | 'bounced' | 'failed' {
  switch (email.status) {
    case 'delivered':
      return 'sent';
    case 'bounced':
      return 'bounced';
    case 'failed':
    case 'cancelled':
    case 'rejected':
      return 'failed';
    case 'pending':
    case 'scheduled':
    case 'paused':
    case 'awaiting_approval':
      return 'pending';
  }
}
