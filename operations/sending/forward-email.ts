import { hasScope, scopeMissing } from '../../core/accounts/key-rights.ts';
import { type Attachment, decodeAttachment } from '../../core/mime/attachment.ts';
import { forwardBodies, forwardSubject } from '../../core/sending/forwarded-content.ts';
import {
  asOutgoingAttachments,
  MAX_CONTENT_OCTETS,
  type OutgoingAttachment,
} from '../../core/sending/outgoing-attachments.ts';
import { checkOutgoingHeaders, THREADING_FIELDS } from '../../core/sending/outgoing-headers.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import { type EmailDetails, readEmail } from '../../db/queries/emails/email-read.ts';
import { invalid, isAskable, type OperationContext } from '../context.ts';
import { readRawMessage } from '../emails/attachments.ts';
import { checkOutgoing, type NewEmail } from './check-outgoing.ts';
import type { Accepted, Idempotency } from './idempotency.ts';
import { lookAhead, sendChecked } from './send-email.ts';

/** An email to be sent on to others; an absent subject comes from the original, and text or html stand above it. */
export interface NewForward extends Omit<NewEmail, 'attachments'> {
  /** whether the original's attachments go with it */
  attachments: 'all' | 'none';
}

/**
 * Sends a stored email on to others as a new mail, which joins no thread of the original's. A key needs to read, too. Throws not_found, and
 * what sendEmail throws.
 */
export async function forwardEmail(
  context: OperationContext,
  emailId: string,
  wish: NewForward,
  idempotency: Idempotency | null,
): Promise<Accepted> {
  // It shows whoever it goes to what the original says.
  if (!hasScope(context.rights, 'read')) throw scopeMissing('Forwarding an email', 'read', context.rights);
  // A key of one domain is answered the same when its sender was looked at.
  const isLimited = context.database.limit !== undefined;
  const before = idempotency === null || isLimited ? null : await lookAhead(context, idempotency);
  if (before !== null && 'receipt' in before) return before;
  const header = checkOutgoingHeaders(wish.headers ?? {}, THREADING_FIELDS);
  if (header.error !== undefined) throw invalid(header.error, 'headers');
  const original = await readOriginal(context, emailId);
  const { text, html } = forwardBodies(
    { ...original, date: original.date ?? original.createdAt },
    { text: wish.text || null, html: wish.html || null },
  );
  const subject = wish.subject == null || wish.subject === '' ? forwardSubject(original.subject) : wish.subject;
  const checked = checkOutgoing({ ...wish, attachments: null, subject, text, html });
  const bodyOctets = Buffer.byteLength(text) + Buffer.byteLength(html ?? '');
  const attachments = wish.attachments === 'none' ? [] : await readAttachments(context, original, bodyOctets);
  const frame = { idempotency, batchId: null, repliedTo: null };
  return sendChecked(context, [{ ...checked, attachments }], frame);
}

/** Throws not_found, validation. */
async function readOriginal({ database, userId }: OperationContext, emailId: string): Promise<EmailDetails> {
  const email = isAskable(emailId)
    ? await asUser(database, userId, (transaction) => readEmail(transaction, userId, emailId))
    : null;
  if (email === null) throw new UserError('not_found', 'Email not found');
  if (email.type === 'scheduled') throw invalid('Cannot forward an email that has not been sent', 'id');
  return email;
}

/** Decodes them out of the stored octets. Throws validation when they are too large to be sent. */
async function readAttachments(
  context: OperationContext,
  { id, attachments }: EmailDetails,
  bodyOctets: number,
): Promise<OutgoingAttachment[]> {
  if (attachments.length === 0) return [];
  const octets = attachments.reduce((sum, { size }) => sum + size, bodyOctets);
  if (octets > MAX_CONTENT_OCTETS)
    throw invalid(
      `The email with its attachments is larger than the ${MAX_CONTENT_OCTETS} octets that can be sent: forward it without them`,
      'attachments',
    );
  const { octets: raw } = await readRawMessage(context, id);
  return asOutgoingAttachments(
    attachments.map((attachment) => ({ ...attachment, content: contentOf(raw, attachment) })),
  );
}

function contentOf(raw: Uint8Array, { start, length, transferEncoding }: Attachment): Uint8Array {
  return decodeAttachment(raw.subarray(start, start + length), transferEncoding);
}
