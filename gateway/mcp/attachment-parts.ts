import { freeBytes } from '../../core/shared/free-bytes.ts';
import type { OperationContext } from '../../operations/context.ts';
import { invalid } from '../../operations/context.ts';
import { type AttachmentFile, readAttachment, readRawMessage } from '../../operations/emails/attachments.ts';

/** Bytes of a file in one result; Base64 makes a third more of them. */
export const MAX_PART_BYTES = 1_000_000;

/** Which file of an email: an attachment by its position, or the raw message. */
type FileChoice = number | 'raw';

/** A file in an email. */
export interface MailFile {
  filename: string;
  /** without parameters */
  mimeType: string;
  bytes: Uint8Array;
}

/** A part of a file, from `offset`, in bytes. */
interface FilePart {
  /** null: the file ends here */
  nextOffset: number | null;
  content: { text: string } | { blob: string };
}

/** Returns the URI of the resource of a file. */
export function attachmentUri(emailId: string, choice: FileChoice, offset = 0): string {
  const path = choice === 'raw' ? 'raw' : `attachments/${choice}`;
  return `postroom://emails/${emailId}/${path}${offset === 0 ? '' : `?offset=${offset}`}`;
}

/** Returns what `use` makes of a file, whose memory is given back then: the result has no part of it. Throws not_found, and what `use` throws. */
export async function useMailFile<Result>(
  context: OperationContext,
  { emailId, choice }: { emailId: string; choice: FileChoice },
  use: (file: MailFile) => Result | Promise<Result>,
): Promise<Result> {
  const file = await readMailFile(context, emailId, choice);
  try {
    return await use(file);
  } finally {
    freeBytes(file.bytes);
  }
}

async function readMailFile(context: OperationContext, emailId: string, choice: FileChoice): Promise<MailFile> {
  const file =
    choice === 'raw'
      ? await readRawMessage(context, emailId)
      : await readAttachment(context, emailId, { index: choice });
  return { filename: file.filename, mimeType: readMimeType(file), bytes: file.bytes };
}

/** Returns up to `most` bytes of a file: as text if it is text in UTF-8, else in Base64. Throws validation for an offset after its end. */
export function filePart({ mimeType, bytes }: MailFile, offset: number, most: number): FilePart {
  if (offset > 0 && offset >= bytes.length) throw invalid(`The file has ${bytes.length} bytes`, 'offset');
  const rest = bytes.subarray(offset, offset + most);
  const isLast = offset + rest.length === bytes.length;
  const nextOffset = isLast ? null : offset + rest.length;
  const blob = { nextOffset, content: { blob: Buffer.from(rest).toString('base64') } };
  if (!/^(?:text\/|message\/rfc822$|application\/(?:json|xml)$)/.test(mimeType)) return blob;
  const whole = isLast ? rest : wholeCharacters(rest);
  const text = findText(whole);
  return text === null ? blob : { nextOffset: isLast ? null : offset + whole.length, content: { text } };
}

/** Returns the media type (RFC 9110 §8.3.1) that the sender gave; a made-up one counts as unknown. */
function readMimeType({ contentType }: AttachmentFile): string {
  const [type = ''] = contentType.split(';');
  return /^[a-z0-9!#$&^_.+-]{1,126}\/[a-z0-9!#$&^_.+-]{1,126}$/i.test(type.trim())
    ? type.trim().toLowerCase()
    : 'application/octet-stream';
}

function findText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Leaves out a character of UTF-8 that is cut at the end. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}
