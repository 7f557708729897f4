import libmime from 'libmime';
import { attachmentFilename } from '../mime/attachment.ts';
import type { CalendarEvent } from '../mime/calendar-event.ts';
import { isProgramName } from '../mime/program-names.ts';
import { isHeaderText } from './outgoing-headers.ts';

/** An attachment of a send request. */
export interface GivenAttachment {
  filename: string | null;
  /** base64 (RFC 4648 §4 or §5), or a `data:` URL with base64 */
  content: string;
  contentType: string | null;
  /** the id in `cid:` links of the HTML, with or without angle brackets */
  contentId: string | null;
}

/** An attachment of a message to be composed. */
export interface OutgoingAttachment {
  filename: string;
  content: Uint8Array;
  /** type, subtype and parameters; never a multipart */
  contentType: string;
  /** `<...>`; null when the HTML does not refer to it */
  contentId: string | null;
  /** of a calendar that says the same as the text: it is an alternative to it (RFC 6047 §2.4), not beside it */
  event?: CalendarEvent;
}

export type OutgoingAttachmentsResult =
  | { attachments: OutgoingAttachment[]; error?: undefined; index?: undefined }
  /** `index` of the invalid attachment; null when there are too many */
  | { error: string; index: number | null; attachments?: undefined };

/** Maximum bytes of a message's decoded attachments and bodies together. */
export const MAX_CONTENT_BYTES = 10 * 1_024 * 1_024;
/** Limits of the reference service. */
export const MAX_OUTGOING_ATTACHMENTS = 20;
const MAX_FILENAME_LENGTH = 255;
const MAX_CONTENT_ID_LENGTH = 128;
const MAX_CONTENT_TYPE_LENGTH = 255;

/** RFC 2045 §5.1 */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const CONTENT_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?: *; *${TOKEN}=(?:${TOKEN}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))* *;? *$`,
);
/** Characters of a Content-ID between the brackets and after `cid:`. `@` is optional, because senders often omit it. */
const CONTENT_ID = /^[!#$%&'*+./=?@^_`{|}~0-9A-Za-z:-]+$/;
const DATA_URL = /^data:([^,;]{0,255})((?:;[^,;]{0,255}){0,8}),/i;

export type ContentResult =
  | { content: string; error?: undefined }
  /** `error` continues a sentence that begins with the name of the field */
  | { error: string; content?: undefined };

/**
 * Returns the content of an attachment as base64: of text, which is base64 already, of an array of bytes, or of a Buffer as JSON
 * (`{"type":"Buffer","data":[…]}`). The same bytes give the same text, however they were sent.
 */
export function encodeContent(given: unknown): ContentResult {
  if (typeof given === 'string') return { content: given };
  const bytes = Array.isArray(given) ? given : readBufferJson(given);
  if (bytes === null) return { error: 'must be base64 text, or an array of bytes' };
  if (bytes.length > MAX_CONTENT_BYTES) return { error: `must not have more than ${MAX_CONTENT_BYTES} bytes` };
  const buffer = Buffer.allocUnsafe(bytes.length);
  // A loop by index, because there can be ten million.
  for (let at = 0; at < bytes.length; at++) {
    const byte: unknown = bytes[at];
    if (typeof byte !== 'number' || !Number.isInteger(byte) || byte < 0 || byte > 255)
      return { error: `has ${shortJson(byte)} at position ${at}. Bytes are integers from 0 to 255.` };
    buffer[at] = byte;
  }
  return { content: buffer.toString('base64') };
}

/** The form of JSON.stringify(Buffer). */
function readBufferJson(given: unknown): unknown[] | null {
  if (typeof given !== 'object' || given === null || !('type' in given) || !('data' in given)) return null;
  return given.type === 'Buffer' && Array.isArray(given.data) ? given.data : null;
}

const MAX_SHOWN_LENGTH = 40;

function shortJson(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  const json = typeof value === 'string' ? JSON.stringify(value.slice(0, MAX_SHOWN_LENGTH)) : String(value);
  return json.slice(0, MAX_SHOWN_LENGTH);
}

/** Decodes and checks the attachments of a send request. `bodyBytes`: size of text and HTML, which count too. */
export function readOutgoingAttachments(
  given: readonly GivenAttachment[],
  bodyBytes: number,
): OutgoingAttachmentsResult {
  if (given.length > MAX_OUTGOING_ATTACHMENTS)
    return { error: `Attachments cannot be more than ${MAX_OUTGOING_ATTACHMENTS}`, index: null };
  const attachments: OutgoingAttachment[] = [];
  const contentIds = new Set<string>();
  let bytes = bodyBytes;
  for (const [index, attachment] of given.entries()) {
    const read = readOne(attachment, index);
    if ('error' in read) return { error: read.error, index };
    bytes += read.content.length;
    if (bytes > MAX_CONTENT_BYTES)
      return { error: `Attachment ${read.filename} makes the message larger than ${MAX_CONTENT_BYTES} bytes`, index };
    if (read.contentId !== null && contentIds.has(read.contentId))
      return { error: `Attachment ${read.filename} has the content_id of another attachment`, index };
    if (read.contentId !== null) contentIds.add(read.contentId);
    attachments.push(read);
  }
  return { attachments };
}

/** Returns attachments of a stored message for use in a new one, without types and ids that cannot be written. */
export function asOutgoingAttachments(
  stored: readonly { filename: string; contentType: string; contentId: string | null; content: Uint8Array }[],
): OutgoingAttachment[] {
  const contentIds = new Set<string>();
  return stored.map(({ filename, contentType, contentId: given, content }) => {
    const contentId = given === null ? null : (readContentId(given) ?? null);
    const isTaken = contentId !== null && contentIds.has(contentId);
    if (contentId !== null) contentIds.add(contentId);
    return {
      filename,
      content,
      contentType: isContentType(contentType) ? contentType : 'application/octet-stream',
      contentId: isTaken ? null : contentId,
    };
  });
}

function readOne(given: GivenAttachment, index: number): OutgoingAttachment | { error: string } {
  const named = given.filename ?? '';
  if (named.length > MAX_FILENAME_LENGTH || !isHeaderText(named))
    return { error: `Attachment ${index + 1} has an invalid filename` };
  const dataUrl = DATA_URL.exec(given.content.slice(0, 4_096));
  const contentType = given.contentType || dataUrl?.[1]?.trim() || readType(named);
  const filename = attachmentFilename(given.filename, contentType, index);
  if (isProgramName(filename))
    return {
      error: `Attachment ${filename} is an executable file. Most mailboxes refuse such files. Send a link to it instead.`,
    };
  if (!isContentType(contentType)) return { error: `Attachment ${filename} has an invalid content type` };
  const contentId = given.contentId === null || given.contentId === '' ? null : readContentId(given.contentId);
  if (contentId === undefined) return { error: `Attachment ${filename} has an invalid content_id` };
  const isPlainUrl = dataUrl !== null && !/;base64$/i.test(dataUrl[2] ?? '');
  const content = isPlainUrl ? null : decodeBase64(given.content.slice(dataUrl?.[0].length ?? 0));
  if (content === null) return { error: `Attachment ${filename} is not valid base64` };
  return { filename, content, contentType, contentId };
}

function readType(filename: string): string {
  const dot = filename.lastIndexOf('.');
  return libmime.detectMimeType(dot === -1 ? false : filename.slice(dot + 1).toLowerCase());
}

/** A multipart would contain parts and header sections that have not been checked. */
function isContentType(text: string): boolean {
  return text.length <= MAX_CONTENT_TYPE_LENGTH && CONTENT_TYPE.test(text) && !/^multipart\//i.test(text);
}

function readContentId(text: string): string | undefined {
  const id = text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text;
  return id.length <= MAX_CONTENT_ID_LENGTH && CONTENT_ID.test(id) ? `<${id}>` : undefined;
}

/** Returns null unless all of it is base64; Buffer.from would skip invalid characters. Line ends are allowed, padding is optional. */
export function decodeBase64(text: string): Uint8Array | null {
  const digits = /[\r\n\t ]/.test(text) ? text.replace(/[\r\n\t ]+/g, '') : text;
  const body = digits.replace(/={1,2}$/, '');
  const isWhole = digits.length === body.length || digits.length % 4 === 0;
  if (!isWhole || body.length % 4 === 1 || !/^[A-Za-z0-9+/_-]*$/.test(body)) return null;
  return Buffer.from(body, 'base64');
}
