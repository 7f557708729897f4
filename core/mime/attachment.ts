import libmime from 'libmime';
import { storableText } from '../shared/text.ts';
import type { CalendarEvent } from './calendar-event.ts';
import { decodeEncodedWords } from './encoded-words.ts';

/** An attachment of a stored message and the position of its encoded bytes. Stored in email_content.attachments. */
export interface Attachment {
  /** 0-based, in message order */
  index: number;
  /** never empty; `attachment-N.ext` or `message-N.eml` when the part has no name (N from 1) */
  filename: string;
  contentType: string;
  /** decoded size in bytes */
  size: number;
  /** `<local@host>`; null when missing */
  contentId: string | null;
  contentDisposition: 'attachment' | 'inline' | null;
  /** offset of the encoded body in the raw message */
  start: number;
  /** length of the encoded body in bytes */
  length: number;
  /** lower-case Content-Transfer-Encoding */
  transferEncoding: TransferEncoding;
  /** what a calendar says; omitted for everything else */
  event?: CalendarEvent;
}

export type TransferEncoding = 'base64' | 'quoted-printable' | '7bit' | '8bit' | 'binary' | 'uuencode';

/** Maximum attachments listed per message; the rest is only in its raw bytes. */
export const MAX_ATTACHMENTS = 1_000;

/** Maximum characters; longer names keep their extension. */
const MAX_FILENAME_LENGTH = 200;
const MAX_EXTENSION_LENGTH = 20;

/** Decodes the transfer encoding of a part's body (RFC 2045 §6). Broken encodings are decoded as far as possible; never throws. */
export function decodeAttachment(encoded: Uint8Array, encoding: TransferEncoding): Uint8Array {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  switch (encoding) {
    case 'base64':
      return decodeBase64(bytes);
    case 'quoted-printable':
      return decodeQuotedPrintable(bytes);
    case 'uuencode':
      return decodeUuencode(bytes);
    case '7bit':
    case '8bit':
    case 'binary':
      return bytes;
  }
}

/**
 * Parses a Content-Transfer-Encoding value. Comments, quotes, encoded words, parameters and separators around or within the token do not
 * count; unknown ones are treated as binary (RFC 2045 §6.4).
 */
export function toTransferEncoding(value: string): TransferEncoding {
  const key = decodeEncodedWords(value)
    .slice(0, MAX_ENCODING_LENGTH)
    .toLowerCase()
    .replace(/\([^()]*\)/g, '')
    .replace(/[^a-z0-9]/g, '');
  if (key === '') return '7bit';
  return ENCODINGS.find(([start]) => key.startsWith(start))?.[1] ?? 'binary';
}

const MAX_ENCODING_LENGTH = 200;
/** How values begin, without separators. */
const ENCODINGS: readonly (readonly [start: string, encoding: TransferEncoding])[] = [
  ['base64', 'base64'],
  ['xbase64', 'base64'],
  ['b64', 'base64'],
  ['quotedprintable', 'quoted-printable'],
  ['quotedprint', 'quoted-printable'],
  ['quoteprintable', 'quoted-printable'],
  ['xuu', 'uuencode'],
  ['uue', 'uuencode'],
  ['7bit', '7bit'],
  ['8bit', '8bit'],
];

/**
 * Returns the display and download name of an attachment. It comes from the sender, so it is made safe: separators, control characters
 * and marks that change the direction of writing (which show `txt.exe` as `exe.txt`) become `_`. A part without a name gets one from its
 * number and type.
 */
export function attachmentFilename(given: string | null, contentType: string, index: number): string {
  const name = storableText(given ?? '')
    .normalize('NFC')
    .replace(/[\0-\x1f\x7f-\x9f/\\\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/g, '_')
    .replace(/\s+/g, ' ')
    .replace(/^ | $/g, '');
  if (/^[_.]*$/.test(name)) {
    const isMessage = contentType === 'message/rfc822' || contentType === 'message/global';
    if (isMessage) return `message-${index + 1}.eml`;
    return `attachment-${index + 1}.${findExtension(contentType.replace(/;.*/s, '').trim())}`;
  }
  if (name.length <= MAX_FILENAME_LENGTH) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= MAX_EXTENSION_LENGTH ? name.slice(dot) : '';
  return `${name.slice(0, MAX_FILENAME_LENGTH - extension.length)}${extension}`.toWellFormed();
}

/** Extensions of types that the list of the library lacks. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    vcf: 'text/vcard text/directory',
    vcs: 'text/vcalendar',
    ics: 'text/ical application/ics',
    csv: 'text/comma-separated-values text/x-csv application/csv',
    rtf: 'text/rtf',
    diff: 'text/x-diff text/x-patch',
    yaml: 'text/yaml application/x-yaml',
    py: 'text/x-python',
    sh: 'text/x-sh',
    sql: 'text/sql',
    gz: 'application/gzip application/x-gzip',
    pdf: 'application/x-pdf',
    pkpass: 'application/pkpass application/vnd.apple.pkpass',
    jpg: 'image/jpg',
  }).flatMap(([extension, types]) => types.split(' ').map((type) => [type, extension] as const)),
);
/** The structure that a type is based on: `application/ld+json` (RFC 6839). */
const SUFFIX = /\+(json|xml|zip)$/;

function findExtension(contentType: string): string {
  const known = EXTENSIONS.get(contentType);
  if (known !== undefined) return known;
  const extension = libmime.detectExtension(contentType);
  const suffix = SUFFIX.exec(contentType)?.[1];
  if (extension === 'bin' && suffix !== undefined) return suffix;
  if (extension !== 'bin' || !contentType.startsWith('text/')) return extension;
  return contentType.endsWith('html') ? 'html' : 'txt';
}

/**
 * Padding ends a block (RFC 2045 §6.8). Blocks of base64 may follow it, as mailing lists append their footers encoded; other text after it
 * does not belong to the encoding. Padding in the wrong place is ignored.
 */
function decodeBase64(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const first = text.indexOf('=');
  if (first === -1 || text.length - first <= LONGEST_END) return Buffer.from(text, 'base64');
  const decoded = Buffer.allocUnsafe(text.length);
  let length = 0;
  let block = '';
  let digits = 0;
  let from = 0;
  for (let padding = first; padding !== -1; padding = text.indexOf('=', from)) {
    const run = text.slice(from, padding);
    // After the first block, anything but base64 is a footer in plain text.
    if (length > 0 && !BASE64.test(run)) return decoded.subarray(0, length);
    digits += countDigits(run);
    block += run;
    from = padding + 1;
    if (digits % 4 < 2) continue;
    length += decoded.write(block, length, 'base64');
    [block, digits] = ['', 0];
    while (text[from] === '=') from++;
  }
  const rest = text.slice(from);
  const isBlock = length === 0 || block !== '' || (BASE64.test(rest) && countDigits(rest) % 4 === 0);
  return decoded.subarray(0, isBlock ? length + decoded.write(block + rest, length, 'base64') : length);
}

/** Characters of `==`, a line end and an empty line. */
const LONGEST_END = 6;
const BASE64 = /^[A-Za-z0-9+/\s]*$/;

function countDigits(text: string): number {
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at) | 0x20;
    const isDigit = (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2f;
    if (isDigit && text.charCodeAt(at) > 0x20) digits++;
  }
  return digits;
}

/** White space at the end of a line is kept: most decoders keep it, and it has a meaning in format=flowed. */
function decodeQuotedPrintable(bytes: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === EQUALS) {
      const value = hexPair(bytes[at + 1], bytes[at + 2]);
      if (value !== -1) {
        decoded[length++] = value;
        at += 2;
        continue;
      }
      const lineEnd = softLineBreak(bytes, at + 1);
      if (lineEnd !== -1) {
        at = lineEnd - 1;
        continue;
      }
    }
    decoded[length++] = byte;
  }
  return decoded.subarray(0, length);
}

const EQUALS = 0x3d;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/** Returns the index after a soft line break (`=`, optional white space, line end); -1 when there is none. */
function softLineBreak(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === SPACE || bytes[at] === TAB) at++;
  if (at >= bytes.length) return at;
  if (bytes[at] === CARRIAGE_RETURN) at++;
  return bytes[at] === LINE_FEED ? at + 1 : -1;
}

function hexPair(high: number | undefined, low: number | undefined): number {
  const [first, second] = [hexDigit(high), hexDigit(low)];
  return first === -1 || second === -1 ? -1 : first * 16 + second;
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const upper = byte & ~0x20;
  return upper >= 0x41 && upper <= 0x46 ? upper - 0x37 : -1;
}

/** Decodes the lines between `begin MODE NAME` and `end`; without a `begin` line nothing is decoded. */
function decodeUuencode(bytes: Buffer): Buffer {
  const lines = bytes.toString('latin1').split(/\r?\n/);
  const begin = lines.findIndex((line) => /^begin [0-7]{3,4} /.test(line));
  if (begin === -1) return bytes;
  const decoded: Buffer[] = [];
  for (const line of lines.slice(begin + 1)) {
    if (line === 'end') break;
    decoded.push(decodeUuencodedLine(line));
  }
  return Buffer.concat(decoded);
}

function decodeUuencodedLine(line: string): Buffer {
  const length = (line.charCodeAt(0) - 32) & 63;
  const decoded = Buffer.alloc(Math.ceil(length / 3) * 3);
  const digit = (at: number): number => (at < line.length ? (line.charCodeAt(at) - 32) & 63 : 0);
  for (let group = 0; group * 3 < length; group++) {
    const at = 1 + group * 4;
    const bits = (digit(at) << 18) | (digit(at + 1) << 12) | (digit(at + 2) << 6) | digit(at + 3);
    decoded.writeUIntBE(bits, group * 3, 3);
  }
  return Number.isNaN(length) ? Buffer.alloc(0) : decoded.subarray(0, length);
}
