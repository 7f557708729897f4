import { decodeRawText } from '../shared/text.ts';
import { decodeAttachment, type TransferEncoding, toTransferEncoding } from './attachment.ts';
import { escapeEncodedWords } from './encoded-words.ts';
import { endOfHeaderSection, firstField, readHeaderSection, unfold } from './header-fields.ts';
import { type PartBody, readPartBodies } from './part-reader.ts';

/** Maximum bytes of a line without its end (RFC 5322 §2.1.1, RFC 5321 §4.5.3.1.6). */
const MAX_LINE_BYTES = 998;
/** Characters of an encoded line (RFC 2045 §6.7, §6.8). */
const ENCODED_LINE_LENGTH = 76;
/** Bytes of text per encoded word, so that it is shorter than 75 characters (RFC 2047 §2). */
const WORD_BYTES = 42;
/** Maximum levels of messages within messages that are opened; each level is read again. Deeper ones are encoded whole. */
const MAX_DEPTH = 5;
/** Text with a larger share of non-ASCII bytes is shorter in base64. */
const QUOTED_SHARE = 1 / 6;

/** The bytes that the SMTP session can carry: ASCII only, or 8-bit (RFC 6152). */
export type TransferForm = '7bit' | '8bit';

/** Returns whether SMTP can carry the bytes unchanged: lines end in CRLF, have at most 998 bytes and no NUL (RFC 5321 §2.3.8). */
export function isTransferable(bytes: Uint8Array, form: TransferForm): boolean {
  let lineStart = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x20 && (byte < 0x80 || form === '8bit')) continue;
    if (byte === 0 || byte >= 0x80) return false;
    if (byte === LINE_FEED && bytes[at - 1] !== CARRIAGE_RETURN) return false;
    if (byte !== CARRIAGE_RETURN) continue;
    if (bytes[at + 1] !== LINE_FEED || at - lineStart > MAX_LINE_BYTES) return false;
    lineStart = at + 2;
  }
  return bytes.length - lineStart <= MAX_LINE_BYTES;
}

/**
 * Returns the message in a form that SMTP can carry, unchanged if possible. Otherwise parts are encoded again, with the same decoded
 * content, and header fields become encoded words (RFC 2047). Rejects when the message cannot be split into parts.
 */
export async function toTransferable(bytes: Buffer, form: TransferForm, depth = 0): Promise<Buffer> {
  if (isTransferable(bytes, form)) return bytes;
  const { bodies } = await readPartBodies(bytes);
  const pieces: Buffer[] = [];
  let at = 0;
  if (bodies[0]?.headStart !== 0) {
    at = Math.min(endOfHeaderSection(bytes), bodies[0]?.headStart ?? bytes.length);
    pieces.push(repairHeader(bytes.subarray(0, at), form));
  }
  for (const body of bodies) {
    // Parts that mailsplit reports twice, or within a part that was already handled, are skipped.
    if (body.headStart < at || body.end < body.start) continue;
    pieces.push(repairLines(bytes.subarray(at, body.headStart), form));
    pieces.push(await repairPart(bytes, body, form, depth));
    at = body.end;
  }
  pieces.push(repairLines(bytes.subarray(at), form));
  return Buffer.concat(pieces);
}

async function repairPart(bytes: Buffer, part: PartBody, form: TransferForm, depth: number): Promise<Buffer> {
  const { start, end } = part;
  const head = bytes.subarray(part.headStart, start);
  const body = bytes.subarray(start, end);
  if (isTransferable(body, form)) return Buffer.concat([repairHeader(head, form), body]);
  const encoding = toTransferEncoding(
    unfold(firstField(readHeaderSection(head), 'content-transfer-encoding')?.raw ?? ''),
  );
  const isMessage = part.node.fields.contentType === 'message/rfc822' && isIdentity(encoding);
  // A message should not be encoded (RFC 2046 §5.2.1), but its content may be.
  if (isMessage && depth < MAX_DEPTH) {
    const inner = await toTransferable(body, form, depth + 1);
    const label = form === '7bit' ? '7bit' : isTransferable(inner, '7bit') ? '7bit' : '8bit';
    return Buffer.concat([withEncoding(head, label, form), closed(inner, bytes, end)]);
  }
  const content = Buffer.from(decodeAttachment(body, encoding));
  const target = isMessage ? 'base64' : chooseEncoding(part.node.fields.contentType, encoding, content);
  const encoded = target === 'base64' ? toBase64(content) : toQuotedPrintable(content);
  return Buffer.concat([withEncoding(head, target, form), closed(encoded, bytes, end)]);
}

function isIdentity(encoding: TransferEncoding): boolean {
  return encoding === '7bit' || encoding === '8bit' || encoding === 'binary';
}

function chooseEncoding(
  contentType: string | null,
  encoding: TransferEncoding,
  content: Buffer,
): 'base64' | 'quoted-printable' {
  if (encoding === 'base64' || encoding === 'quoted-printable') return encoding;
  const isText = contentType === null || /^(?:text|message)\//.test(contentType);
  if (!isText) return 'base64';
  let beyond = 0;
  for (const byte of content) if (byte >= 0x80 || byte === 0) beyond++;
  return beyond > content.length * QUOTED_SHARE ? 'base64' : 'quoted-printable';
}

/** Ends the body with a line end, because a delimiter follows. */
function closed(body: Buffer, bytes: Buffer, end: number): Buffer {
  const next = bytes[end];
  const isOpen = next !== undefined && next !== CARRIAGE_RETURN && next !== LINE_FEED;
  return isOpen && !body.subarray(-2).equals(LINE_END) ? Buffer.concat([body, LINE_END]) : body;
}

/** Replaces the Content-Transfer-Encoding of a header section, which has at least an empty line. */
function withEncoding(head: Buffer, encoding: string, form: TransferForm): Buffer {
  const repaired = repairHeader(head, form).toString('latin1');
  const fields = repaired
    .split(/\r\n(?![ \t])/)
    .filter((field) => field !== '' && !/^content-transfer-encoding[ \t]*:/i.test(field));
  return Buffer.from([...fields, `Content-Transfer-Encoding: ${encoding}`, '', ''].join('\r\n'), 'latin1');
}

/** Returns header fields (RFC 5322 §2.2) in a form that SMTP can carry, with their line ends. */
export function repairHeader(head: Buffer, form: TransferForm): Buffer {
  if (isTransferable(head, form)) return head;
  const lines = head
    .toString('latin1')
    .replace(/\0/g, '')
    .replace(/\r\n/g, '\n')
    .replace(/\r/g, ' ')
    .split('\n')
    .map((line) => foldLine(form === '7bit' ? toWords(line) : line));
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

/**
 * Encodes runs of non-ASCII bytes as encoded words, which most mail programs decode even where RFC 2047 §5 does not allow them: between
 * two delimiters, from the first word with such a byte to the last. Linear.
 */
function toWords(line: string): string {
  const escaped = escapeEncodedWords(line);
  if (!/[\x80-\xff]/.test(escaped)) return escaped;
  return escaped.replace(/[^"(),:;<>@[\\\]\r\n]+/g, (text) => {
    let [first, last] = [0, text.length - 1];
    while (first < text.length && !isBeyondAscii(text, first)) first++;
    if (first === text.length) return text;
    while (!isBeyondAscii(text, last)) last--;
    while (first > 0 && /[^\s=]/.test(text[first - 1] ?? '')) first--;
    while (last + 1 < text.length && /\S/.test(text[last + 1] ?? '')) last++;
    return text.slice(0, first) + encodedWords(text.slice(first, last + 1)) + text.slice(last + 1);
  });
}

function isBeyondAscii(text: string, at: number): boolean {
  return text.charCodeAt(at) >= 0x80;
}

function encodedWords(run: string): string {
  const words: string[] = [];
  let word = '';
  for (const character of decodeRawText(run)) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  words.push(word);
  return words.map((each) => `=?UTF-8?B?${Buffer.from(each).toString('base64')}?=`).join(' ');
}

/** Folds a line that is too long at white space; a line without any is cut. */
function foldLine(line: string): string {
  if (line.length <= MAX_LINE_BYTES) return line;
  const lines: string[] = [];
  let rest = line;
  while (rest.length > MAX_LINE_BYTES) {
    const space = Math.max(rest.lastIndexOf(' ', MAX_LINE_BYTES), rest.lastIndexOf('\t', MAX_LINE_BYTES));
    const isFoldable = space > 0 && /[^ \t]/.test(rest.slice(0, space));
    const end = isFoldable ? space : MAX_LINE_BYTES - 1;
    lines.push(rest.slice(0, end));
    rest = isFoldable ? rest.slice(end) : ` ${rest.slice(end)}`;
  }
  return [...lines, rest].join('\r\n');
}

/** Fixes lines outside parts: delimiters, and text before the first and after the last one (RFC 2046 §5.1.1). */
function repairLines(bytes: Buffer, form: TransferForm): Buffer {
  if (isTransferable(bytes, form)) return bytes;
  const text = bytes
    .toString('latin1')
    .replace(/\0/g, '')
    .replace(/\r\n|\r|\n/g, '\n');
  const plain = form === '7bit' ? text.replace(/[\x80-\xff]/g, '?') : text;
  const lines = plain.split('\n').flatMap((line) => line.match(/.{1,998}/gs) ?? ['']);
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

function toBase64(content: Buffer): Buffer {
  const lines = content.toString('base64').match(/.{1,76}/g) ?? [];
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

/** RFC 2045 §6.7. Only CRLF is a line end; a lone CR or LF is content. Linear. */
export function toQuotedPrintable(content: Uint8Array): Buffer {
  const encoded = Buffer.allocUnsafe(content.length * 4 + 16);
  let length = 0;
  let column = 0;
  const put = (text: string) => {
    if (column + text.length >= ENCODED_LINE_LENGTH) {
      length += encoded.write('=\r\n', length, 'latin1');
      column = 0;
    }
    length += encoded.write(text, length, 'latin1');
    column += text.length;
  };
  for (let at = 0; at < content.length; at++) {
    const byte = content[at] ?? 0;
    if (byte === CARRIAGE_RETURN && content[at + 1] === LINE_FEED) {
      length += encoded.write('\r\n', length, 'latin1');
      column = 0;
      at++;
      continue;
    }
    const isBlank = byte === SPACE || byte === TAB;
    const next = content[at + 1];
    const isAtEnd = next === undefined || (next === CARRIAGE_RETURN && content[at + 2] === LINE_FEED);
    const isPlain = (byte > SPACE && byte < 0x7f && byte !== EQUALS) || (isBlank && !isAtEnd);
    put(isPlain ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`);
  }
  return encoded.subarray(0, length);
}

const LINE_END = Buffer.from('\r\n');
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const EQUALS = 0x3d;
