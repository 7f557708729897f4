import type { z } from 'zod';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { findEvent } from '../../../core/mime/calendar-event.ts';
import { listedEmailShape, openedEmailShape, threadMessageShape } from '../../../operations/emails/email-shapes.ts';
import type { Email, EmailContent, EmailDetails, EmailSummary } from '../../../operations/emails/emails.ts';
import { describeRecipient } from '../../../operations/sending/recipient-capability.ts';
import { snakeOutput } from '../capability-shapes.ts';
import { plainRecord } from '../shapes.ts';

const { body: emailBody, write: writeEmail } = snakeOutput(openedEmailShape);
const { body: emailListItem, write: writeListItem } = snakeOutput(listedEmailShape);
const { body: threadMessageBody, write: writeThreadMessage } = snakeOutput(threadMessageShape);

export { emailBody, emailListItem, threadMessageBody };

/** Converts an email to an item of a list. `addresses` come from its content; null if it has none. */
export function makeEmailListItem(email: EmailSummary, addresses: AddressFields | null): z.infer<typeof emailListItem> {
  return writeListItem({
    ...email,
    from: email.fromAddress,
    bcc: addressesIn(addresses, 'bcc'),
    replyTo: findReplyTo(addresses),
    status: toWireStatus(email),
    lastEvent: toLastEvent(email),
    envelopeRecipient: email.recipient,
  });
}

/** Converts an email. `publicUrl` is the base URL of download links. Only sent mail has recipients. */
export function makeEmailBody(email: Email & Partial<EmailDetails>, publicUrl: string): z.infer<typeof emailBody> {
  return writeEmail({
    ...email,
    object: 'email',
    from: email.fromText,
    bcc: addressesIn(email.addresses, 'bcc'),
    replyTo: findReplyTo(email.addresses),
    cleanedContent: email.type === 'received' ? toCleanedContent(email) : null,
    status: toWireStatus(email),
    lastEvent: toLastEvent(email),
    attachments: toAttachments(email, publicUrl),
    event: findEvent(email.attachments),
    envelopeRecipient: email.recipient,
    headers: toHeaders(email),
    recipients: (email.recipients ?? []).map(describeRecipient) as never,
  });
}

function toCleanedContent({
  cleanedText: text = null,
  cleanedHtml: html = null,
  quotedText = null,
  signature = null,
  removedFrom = 'text',
  removedParts = [],
}: Partial<EmailDetails>) {
  return { text, html, quotedText, signature, removedFrom, removedParts };
}

/** Converts the body for `@inboundemail/sdk`, whose type does not allow null and has fewer statuses than the type of `resend`. */
export function makeLegacyEmailBody(body: z.infer<typeof emailBody>): z.infer<typeof emailBody> {
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
} as const satisfies Record<z.infer<typeof emailBody>['last_event'], string>;

/** `publicUrl` is the base URL of download links. */
export function makeThreadMessage(email: Email, publicUrl: string): z.infer<typeof threadMessageBody> {
  const isInbound = email.type === 'received';
  return writeThreadMessage({
    ...email,
    type: isInbound ? 'inbound' : 'outbound',
    textBody: email.text,
    htmlBody: email.html,
    from: email.fromText,
    bcc: addressesIn(email.addresses, 'bcc'),
    date: email.date ?? email.createdAt,
    receivedAt: isInbound ? email.createdAt : null,
    attachments: toAttachments(email, publicUrl),
    inReplyTo: email.inReplyTo[0] ?? null,
    headers: toHeaders(email),
    status: isInbound ? undefined : toOutboundStatus(email),
    failureReason: isInbound ? undefined : email.failureReason,
  });
}

function toAttachments(email: { id: string } & Pick<EmailContent, 'attachments'>, publicUrl: string) {
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

function findReplyTo(addresses: AddressFields | null): string[] | null {
  const replyTo = addressesIn(addresses, 'replyTo');
  return replyTo.length === 0 ? null : replyTo;
}

/** Returns the headers by lower-case name. Values of a repeated header are joined by a line feed. */
function toHeaders(email: Email): Record<string, string> {
  const values = Map.groupBy(email.headers, ([name]) => name);
  return plainRecord([...values].map(([name, fields]) => [name, fields.map(([, value]) => value).join('\n')] as const));
}

function toWireStatus({ status }: Pick<EmailSummary, 'status'>) {
  if (status === 'awaiting_approval') return 'queued';
  return status === 'rejected' ? 'cancelled' : status;
}

/** Returns the status in the terms of the `resend` client. */
function toLastEvent(email: EmailSummary): z.infer<typeof emailBody>['last_event'] {
  if (email.status === 'cancelled' || email.status === 'rejected') return 'canceled';
  if (email.status === 'awaiting_approval') return 'queued';
  if (email.status === 'paused') return 'scheduled';
  return email.status === 'pending' ? 'queued' : email.status;
}

function toOutboundStatus(email: Email): 'pending' | 'sent' | 'bounced' | 'failed' {
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
