import { type Attachment, decodeAttachment, type TransferEncoding } from '../../core/mime/attachment.ts';
import { UserError } from '../../core/shared/errors.ts';
import { freeBytes } from '../../core/shared/free-bytes.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findRawSizes, readRawBeginnings, readRawBytes } from '../../db/queries/emails/raw-bytes.ts';
import { isValidId, type OperationContext } from '../context.ts';
import { loadEmails, loadOutlines, loadSizes } from './emails.ts';
import { waitUntilParsed } from './pending-emails.ts';

export interface AttachmentFile {
  filename: string;
  contentType: string;
  /** decoded */
  bytes: Uint8Array;
}

interface ByteRange {
  start: number;
  length: number;
}

/** By file name (the first match) or by position in the message. */
type AttachmentChoice = { filename: string } | { index: number };

/** Returns one decoded attachment of an email. Throws not_found. */
export function readAttachment(
  context: OperationContext,
  emailId: string,
  choice: AttachmentChoice,
): Promise<AttachmentFile> {
  return waitUntilParsed(context, [emailId], () => readParsedAttachment(context, emailId, choice));
}

async function readParsedAttachment(
  context: OperationContext,
  emailId: string,
  choice: AttachmentChoice,
): Promise<AttachmentFile> {
  const [email] = isValidId(emailId) ? await loadEmails(context, [emailId]) : [];
  if (email == null) throw new UserError('not_found', 'Email not found or access denied');
  const [content] = await loadOutlines(context, [emailId]);
  const attachments = content?.attachments ?? [];
  if (attachments.length === 0) throw new UserError('not_found', 'No attachments found in this email');
  const attachment = attachments.find((each) => isChosen(each, choice));
  if (attachment === undefined) throw new UserError('not_found', 'Attachment not found');
  context.noteReads?.(context, [emailId]);
  const { filename, contentType, start, length, transferEncoding } = attachment;
  const encoded = await readBytes(context, emailId, { start, length });
  return { filename, contentType, bytes: decodeOnce(encoded, transferEncoding) };
}

/** Returns what decodeAttachment does, and gives the memory of the encoded bytes back unless it is the same. */
export function decodeOnce(encoded: Buffer, encoding: TransferEncoding): Uint8Array {
  const bytes = decodeAttachment(encoded, encoding);
  if (bytes.buffer !== encoded.buffer) freeBytes(encoded);
  return bytes;
}

/** Returns an email as it was received or composed. Throws not_found. */
export function readRawMessage(context: OperationContext, emailId: string): Promise<AttachmentFile> {
  return waitUntilParsed(context, [emailId], () => readStoredMessage(context, emailId));
}

async function readStoredMessage(context: OperationContext, emailId: string): Promise<AttachmentFile> {
  const [email] = isValidId(emailId) ? await loadEmails(context, [emailId]) : [];
  if (email == null) throw new UserError('not_found', 'Email not found or access denied');
  const bytes = await readWholeMessage(context, emailId);
  context.noteReads?.(context, [emailId]);
  return { filename: `${emailId}.eml`, contentType: 'message/rfc822', bytes };
}

/** Like readRawBytes, once there is room for them. Throws what ResponseRoom.load throws. */
export function loadRawBytes(
  { database, workspaceId, room }: OperationContext,
  emailId: string,
  range: ByteRange,
): ReturnType<typeof readRawBytes> {
  return room.load(range.length, () => readRawBytes(database, workspaceId, emailId, range));
}

/** Returns a part of the stored bytes of an email that the user has. Throws not_found when they are gone or damaged, and what ResponseRoom.load throws. */
function readBytes(context: OperationContext, emailId: string, range: ByteRange): Promise<Buffer> {
  context.room.take(range.length);
  return readTakenBytes(context, emailId, range);
}

/** Like readBytes, of bytes that room is taken for already. */
export async function readTakenBytes(
  { database, workspaceId, room, log }: OperationContext,
  emailId: string,
  range: ByteRange,
): Promise<Buffer> {
  const bytes = await room.loadTaken(range.length, () => readRawBytes(database, workspaceId, emailId, range));
  if (bytes !== 'missing' && bytes !== 'damaged') return bytes;
  log.error({ emailId, bytes }, 'emails: the raw bytes of a message are missing or damaged');
  throw contentNotAvailable();
}

/** Returns the error for an email whose bytes are gone or damaged. */
export function contentNotAvailable(): UserError {
  return new UserError('not_found', 'Email content not available');
}

/** Returns the stored bytes of an email that the user has. Throws not_found when they are gone or damaged, and what ResponseRoom.load throws. */
export async function readWholeMessage(context: OperationContext, emailId: string): Promise<Buffer> {
  const [size] = await loadSizes(context, [emailId]);
  return readBytes(context, emailId, { start: 0, length: size ?? 0 });
}

function isChosen(attachment: Attachment, choice: AttachmentChoice): boolean {
  if ('index' in choice) return attachment.index === choice.index;
  // A client may have normalized the name when it built the URL.
  return attachment.filename === choice.filename || attachment.filename.normalize() === choice.filename.normalize();
}

/** Bytes of messages that one statement reads. */
const MAX_BATCH_BYTES = 8_000_000;

/**
 * Returns the first `most` bytes of each email, all of them if it is null; null where the user has no such email, or its bytes are missing or
 * damaged. Reads several emails per statement, as far as they are small.
 */
export async function loadRawSources(
  context: OperationContext,
  emailIds: readonly string[],
  most: number | null,
): Promise<(Buffer | null)[]> {
  const { database, workspaceId, room } = context;
  const sources = new Map<string, Buffer | 'damaged'>();
  const sizes = await asWorkspace(database, workspaceId, (transaction) =>
    findRawSizes(transaction, workspaceId, emailIds.filter(isValidId)),
  );
  const readSize = (id: string) => Math.min(sizes.get(id) ?? 0, most ?? Number.POSITIVE_INFINITY);
  // A message is read and unpacked as a whole, whatever is asked of it.
  for (const batch of batchBySize([...sizes.keys()], (id) => sizes.get(id) ?? 0)) {
    const total = batch.reduce((sum, id) => sum + readSize(id), 0);
    const length = Math.max(...batch.map(readSize));
    const found = await room.load(total, () => readRawBeginnings(database, workspaceId, batch, length));
    for (const [id, bytes] of found) sources.set(id, bytes);
  }
  context.noteReads?.(context, [...sources.keys()]);
  return emailIds.map((id) => unlessDamaged(context, id, sources.get(id) ?? null));
}

/** Groups emails in their order so that the bytes of each group stay below MAX_BATCH_BYTES, unless a single email is larger. */
export function batchBySize(emailIds: readonly string[], sizeOf: (emailId: string) => number): string[][] {
  const batches: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const id of emailIds) {
    bytes += sizeOf(id);
    if (bytes > MAX_BATCH_BYTES) {
      batches.push([]);
      bytes = sizeOf(id);
    }
    batches.at(-1)?.push(id);
  }
  return batches;
}

function unlessDamaged({ log }: OperationContext, emailId: string, bytes: Buffer | 'damaged' | null): Buffer | null {
  if (bytes !== 'damaged') return bytes;
  log.error({ emailId, bytes }, 'emails: the raw bytes of a message are missing or damaged');
  return null;
}
