import { type Attachment, decodeAttachment } from '../../core/mime/attachment.ts';
import { UserError } from '../../core/shared/errors.ts';
import { readRawOctets } from '../../db/queries/emails/raw-bytes.ts';
import { isAskable, type OperationContext } from '../context.ts';
import { loadContents, loadEmails } from './emails.ts';
import { onParsed } from './pending-emails.ts';

export interface AttachmentFile {
  filename: string;
  contentType: string;
  /** decoded */
  octets: Uint8Array;
}

/** More than any message has. */
const WHOLE_MESSAGE = { start: 0, length: 1_000_000_000 };

/** By name (the first of that name) or by place in the message. */
type AttachmentChoice = { filename: string } | { index: number };

/** Reads one attachment of an email. Throws not_found with the texts that clients expect. */
export function readAttachment(
  context: OperationContext,
  emailId: string,
  choice: AttachmentChoice,
): Promise<AttachmentFile> {
  return onParsed(context, [emailId], () => readParsedAttachment(context, emailId, choice));
}

async function readParsedAttachment(
  context: OperationContext,
  emailId: string,
  choice: AttachmentChoice,
): Promise<AttachmentFile> {
  const [email] = isAskable(emailId) ? await loadEmails(context, [emailId]) : [];
  if (email == null) throw new UserError('not_found', 'Email not found or access denied');
  const [content] = await loadContents(context, [emailId]);
  const attachments = content?.attachments ?? [];
  if (attachments.length === 0) throw new UserError('not_found', 'No attachments found in this email');
  const attachment = attachments.find((each) => isChosen(each, choice));
  if (attachment === undefined) throw new UserError('not_found', 'Attachment not found');
  const { filename, contentType, start, length, transferEncoding } = attachment;
  const encoded = await readOctets(context, emailId, { start, length });
  return { filename, contentType, octets: decodeAttachment(encoded, transferEncoding) };
}

/** Reads an email as it came in, or as it was composed. Throws not_found with the texts of readAttachment. */
export function readRawMessage(context: OperationContext, emailId: string): Promise<AttachmentFile> {
  return onParsed(context, [emailId], () => readStoredMessage(context, emailId));
}

async function readStoredMessage(context: OperationContext, emailId: string): Promise<AttachmentFile> {
  const [email] = isAskable(emailId) ? await loadEmails(context, [emailId]) : [];
  if (email == null) throw new UserError('not_found', 'Email not found or access denied');
  const octets = await readOctets(context, emailId, WHOLE_MESSAGE);
  return { filename: `${emailId}.eml`, contentType: 'message/rfc822', octets };
}

async function readOctets(context: OperationContext, emailId: string, range: { start: number; length: number }) {
  const octets = await readRawOctets(context.database, context.userId, emailId, range);
  if (octets !== 'missing' && octets !== 'damaged') return octets;
  context.log.error({ emailId, octets }, 'the octets of a message cannot be served');
  throw new UserError('not_found', 'Email content not available');
}

function isChosen(attachment: Attachment, choice: AttachmentChoice): boolean {
  if ('index' in choice) return attachment.index === choice.index;
  // A client may have normalised the name on its way through a URL.
  return attachment.filename === choice.filename || attachment.filename.normalize() === choice.filename.normalize();
}

/**
 * The octets of an email from its beginning, at most so many; null: all of them. Null when the user has no such email, or its octets are
 * not kept or damaged.
 */
export async function readRawSource(
  { database, userId, log }: OperationContext,
  emailId: string,
  most: number | null,
): Promise<Buffer | null> {
  if (!isAskable(emailId)) return null;
  const octets = await readRawOctets(database, userId, emailId, {
    ...WHOLE_MESSAGE,
    length: most ?? WHOLE_MESSAGE.length,
  });
  if (octets === 'damaged') log.error({ emailId, octets }, 'the octets of a message cannot be served');
  return octets === 'missing' || octets === 'damaged' ? null : octets;
}
