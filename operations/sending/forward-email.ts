import { requireRights } from '../../core/accounts/rights.ts';
import { MAX_CLEANED_HTML_LENGTH } from '../../core/html/sanitize-html.ts';
import { type Attachment, decodeAttachment } from '../../core/mime/attachment.ts';
import type { SentDraft } from '../../core/sending/draft.ts';
import { type Bodies, type ForwardedMail, forwardSubject } from '../../core/sending/forwarded-content.ts';
import {
  asOutgoingAttachments,
  MAX_CONTENT_BYTES,
  type OutgoingAttachment,
} from '../../core/sending/outgoing-attachments.ts';
import { checkOutgoingHeaders, THREADING_FIELDS } from '../../core/sending/outgoing-headers.ts';
import { freeTexts, LargeText, textBeginning, wholeText } from '../../core/shared/large-text.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { type ReadEmail, readEmail } from '../../db/queries/emails/email-read.ts';
import { findOriginalBytes } from '../../db/queries/sending/outgoing-original.ts';
import { emailNotFound, invalid, isValidId, type MailContext, type OperationContext } from '../context.ts';
import { readRawMessage } from '../emails/attachments.ts';
import { withText } from '../emails/html-text.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { type CheckedEmail, checkOutgoing, type NewEmail } from './check-outgoing.ts';
import { inComposingTurn } from './composing-turns.ts';
import { makeForwardBodies } from './forward-bodies.ts';
import type { Accepted, Idempotency } from './idempotency.ts';
import { replayOrNow, sendChecked } from './send-email.ts';

/** Input of a forward. The subject defaults to the original's; text and html are placed above the original. */
export interface NewForward extends Omit<NewEmail, 'attachments'> {
  /** whether the original's attachments are included */
  attachments: 'all' | 'none';
}

/**
 * Forwards a stored email as a new message in a thread of its own. A key also needs the scope `read`; `draft` is removed
 * when the forward is stored, and who sends it has its composing turn. Throws not_found, and what sendEmail throws.
 */
export async function forwardEmail(
  context: OperationContext,
  emailId: string,
  input: NewForward,
  idempotency: Idempotency | null,
  draft?: SentDraft,
): Promise<Accepted> {
  // The recipients get to read the original.
  requireRights(context.rights, 'Forwarding an email', ['read']);
  // For a key that is limited to a domain, sendChecked looks for the replay after checking the sender.
  const isLimited = context.database.limit !== undefined;
  const before = idempotency === null || isLimited ? null : await replayOrNow(context, idempotency);
  if (before !== null && 'receipt' in before) return before;
  const readRaw = async () => (await readRawMessage(context, emailId)).bytes;
  const forward = async () => {
    const email = await waitUntilParsed(context, [emailId], () => prepareForward(context, emailId, input, readRaw));
    return sendChecked(context, [email], { idempotency, batchId: null, repliedTo: null, draft });
  };
  if (draft !== undefined) return forward();
  const bytes = await waitUntilParsed(context, [emailId], () => readOriginalBytes(context, emailId, input.attachments));
  return inComposingTurn(context, bytes, forward);
}

/** Returns how much is loaded of an email that is forwarded, or included in a reply; bytes. Throws not_found. */
export async function readOriginalBytes(
  { database, workspaceId }: MailContext,
  emailId: string,
  attachments: NewForward['attachments'],
): Promise<number> {
  const found = isValidId(emailId)
    ? await asWorkspace(database, workspaceId, (transaction) => findOriginalBytes(transaction, workspaceId, emailId))
    : null;
  if (found === null) throw emailNotFound();
  return found.bodyBytes + (attachments === 'all' ? found.attachedBytes : 0);
}

/** Returns a forward ready to be composed. `readRaw` reads the stored message. Throws not_found, validation. */
export async function prepareForward(
  context: MailContext,
  emailId: string,
  input: NewForward,
  readRaw: () => Promise<Uint8Array>,
): Promise<CheckedEmail> {
  const header = checkOutgoingHeaders(input.headers ?? {}, THREADING_FIELDS);
  if (header.error !== undefined) throw invalid(header.error, 'headers');
  const original = await readOriginal(context, emailId);
  const { text, html } = await makeForwardBodies({
    kind: 'forward',
    mail: asForwarded(original),
    note: { text: input.text || null, html: input.html || null },
  });
  const subject = input.subject == null || input.subject === '' ? forwardSubject(original.subject) : input.subject;
  const checked = checkOutgoing({ ...input, attachments: null, subject, text, html });
  const bodyBytes = Buffer.byteLength(text ?? '') + Buffer.byteLength(html ?? '');
  const attachments = input.attachments === 'none' ? [] : await readAttachments(original, bodyBytes, readRaw);
  return { ...checked, attachments, forwardedId: original.id };
}

/** Returns the bodies of a reply with the original below it. Throws not_found, validation. */
export async function quoteInReply(context: MailContext, emailId: string, reply: Bodies): Promise<Bodies> {
  const mail = asForwarded(await readOriginal(context, emailId));
  return makeForwardBodies({ kind: 'reply', mail, note: reply });
}

/** Of HTML that is too large to be sanitized, it has the beginning. The texts of the email are gone then. Throws validation. */
function asForwarded(email: ReadEmail): ForwardedMail {
  const { text, html, addresses, subject, date, createdAt } = email;
  if (text instanceof LargeText && text.bytes > MAX_CONTENT_BYTES)
    throw invalid(
      `The text of the email is larger than the ${MAX_CONTENT_BYTES} bytes that can be sent. Send its raw message in parts, or a link to it.`,
      'id',
    );
  const shown = html === null ? null : textBeginning(html, MAX_CLEANED_HTML_LENGTH + 1);
  const whole = wholeText(text);
  freeTexts(email);
  return { addresses, subject, date: date ?? createdAt, text: whole, html: shown };
}

/** Throws not_found, validation. */
async function readOriginal({ database, workspaceId }: MailContext, emailId: string): Promise<ReadEmail> {
  const email = isValidId(emailId)
    ? await asWorkspace(database, workspaceId, (transaction) => readEmail(transaction, workspaceId, emailId))
    : null;
  if (email === null) throw emailNotFound();
  if (email.type === 'scheduled') throw invalid('Cannot forward an email that has not been sent', 'id');
  return withText(workspaceId, email);
}

/** Decodes the attachments of the stored message. Throws validation when they are too large to send. */
async function readAttachments(
  { attachments }: ReadEmail,
  bodyBytes: number,
  readRaw: () => Promise<Uint8Array>,
): Promise<OutgoingAttachment[]> {
  if (attachments.length === 0) return [];
  const bytes = attachments.reduce((sum, { size }) => sum + size, bodyBytes);
  if (bytes > MAX_CONTENT_BYTES)
    throw invalid(
      `The email with its attachments is larger than the ${MAX_CONTENT_BYTES} bytes that can be sent. Forward it without attachments.`,
      'attachments',
    );
  const raw = await readRaw();
  return asOutgoingAttachments(
    attachments.map((attachment) => ({ ...attachment, content: readContent(raw, attachment) })),
  );
}

function readContent(raw: Uint8Array, { start, length, transferEncoding }: Attachment): Uint8Array {
  return decodeAttachment(raw.subarray(start, start + length), transferEncoding);
}
