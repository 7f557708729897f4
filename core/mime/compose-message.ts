import { createHash } from 'node:crypto';
import * as base64 from 'nodemailer/lib/base64';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import type MimeNode from 'nodemailer/lib/mime-node';
import * as quotedPrintable from 'nodemailer/lib/qp';
import { writableName } from '../sending/outgoing-addresses.ts';
import type { OutgoingAttachment } from '../sending/outgoing-attachments.ts';
import { isHeaderText, MAX_WORD_LENGTH } from '../sending/outgoing-headers.ts';
import { storableText } from '../shared/text.ts';
import type { Mailbox } from './address.ts';
import { type Attachment, attachmentFilename, toTransferEncoding } from './attachment.ts';
import { composePlain, type PlainMessage } from './compose-plain.ts';
import { decodeEncodedWords } from './encoded-words.ts';
import { type HeaderSection, readHeaderSection, unfold } from './header-fields.ts';

/**
 * A message to compose; addresses, fields and attachments have been checked. Bcc recipients are not part of it: they are only in the
 * envelope.
 */
export interface Draft {
  /** `<local@domain>`, ours */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly Mailbox[];
  subject: string;
  /** null: none */
  text: string | null;
  html: string | null;
  inReplyTo: string | null;
  references: readonly string[];
  /** custom header fields, from checkOutgoingHeaders */
  fields: readonly (readonly [name: string, value: string])[];
  attachments: readonly OutgoingAttachment[];
}

/** Maximum bytes of a line without its end (RFC 5322 §2.1.1). */
const MAX_LINE_BYTES = 998;
const LARGE_MESSAGE = 1_000_000;
/** Characters of an encoded word, as nodemailer writes them (RFC 2047 §2 allows 75). */
const ENCODED_WORD_LENGTH = 52;
/** Occurs in no line of quoted-printable or base64 (RFC 2045 §6.7). */
export const BOUNDARY_PREFIX = '=_';
const BOUNDARY_DIGITS = 32;

/**
 * Composes a message (RFC 5322, MIME) in ASCII lines of at most 998 bytes that end in CRLF. The same draft gives the same bytes. Texts
 * that are invalid in a header field are made valid, as a second safeguard after the checks of a request. Rejects when the result
 * violates these rules, which is a bug. `otherWork` lets other requests go on while a large message is composed.
 */
export async function composeMessage(draft: Draft, otherWork?: () => Promise<unknown>): Promise<Buffer> {
  const plain =
    draft.attachments.length === 0 && draft.fields.length === 0 ? composePlain(toPlainMessage(draft), encoded) : null;
  const pieces = plain === null ? mimePieces(compile(draft)) : [Buffer.from(plain, 'latin1')];
  if (pieces.some(({ length }) => length >= LARGE_MESSAGE)) await otherWork?.();
  const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  // Composing and checking 14 MB take some 50 ms each, between which other requests go on.
  if (bytes.length >= LARGE_MESSAGE) await otherWork?.();
  return checked(bytes);
}

function toPlainMessage(draft: Draft): PlainMessage {
  const withName = (mailbox: Mailbox) => ({ ...mailbox, name: writableName(mailbox.name ?? '') });
  const { from, to, cc, replyTo, text, html } = draft;
  return {
    ...draft,
    from: withName(from),
    to: to.map(withName),
    cc: cc.map(withName),
    replyTo: replyTo.map(withName),
    subject: toFieldValue(draft.subject).value,
    bodies: [
      ...(text === null ? [] : [{ type: 'text/plain', content: toLines(text) } as const]),
      ...(html === null ? [] : [{ type: 'text/html', content: toLines(html) } as const]),
    ],
    boundary: `${BOUNDARY_PREFIX}-${makeBoundary(draft.messageId)}-Part_1`,
  };
}

/** Encodes a body in the shorter way, as nodemailer does: base64 unless most of its characters are Latin letters. */
function encoded(content: string): { encoding: 'quoted-printable' | 'base64'; text: string } {
  return isMostlyLatin(content)
    ? { encoding: 'quoted-printable', text: quotedPrintable.wrap(quotedPrintable.encode(content)) }
    : { encoding: 'base64', text: base64.wrap(base64.encode(content)) };
}

/** Whether there are more Latin letters than characters that quoted-printable encodes. */
function isMostlyLatin(content: string): boolean {
  let letters = 0;
  let others = 0;
  for (let at = 0; at < content.length; at++) {
    const code = content.charCodeAt(at);
    if (code >= 0x80 || (code < 0x20 && (code < 0x09 || (code > 0x0a && code !== 0x0d)))) others++;
    else if ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) letters++;
  }
  return others < letters;
}

/** Composes any draft. */
export function composeWithNodemailer(draft: Draft): Buffer {
  return writeMime(compile(draft));
}

function compile(draft: Draft): MimeNode {
  const message = new MailComposer({
    disableFileAccess: true,
    disableUrlAccess: true,
    boundaryPrefix: BOUNDARY_PREFIX,
    baseBoundary: makeBoundary(draft.messageId),
    messageId: draft.messageId,
    date: draft.date,
    from: toAddress(draft.from),
    to: draft.to.map(toAddress),
    cc: draft.cc.map(toAddress),
    replyTo: draft.replyTo.map(toAddress),
    ...(draft.inReplyTo === null ? {} : { inReplyTo: draft.inReplyTo }),
    references: [...draft.references],
    ...(draft.text === null ? {} : { text: toLines(draft.text) }),
    ...(draft.html === null ? {} : { html: toLines(draft.html) }),
    alternatives: draft.attachments
      .filter(isAlternative)
      .map(({ contentType, content }) => ({ contentType, content: Buffer.from(content) })),
    attachments: draft.attachments.filter((attachment) => !isAlternative(attachment)).map(toPart),
  }).compile();
  for (const attachment of draft.attachments.filter(isAlternative)) nameAlternative(message, attachment);
  message.setHeader('Subject', toFieldValue(draft.subject));
  for (const [name, value] of draft.fields) message.addHeader(name, toFieldValue(value));
  return message;
}

function isAlternative({ event }: OutgoingAttachment): boolean {
  return event !== undefined;
}

/** Gives an alternative a name, by which it is an attachment, too. */
function nameAlternative(node: MimeNode, attachment: OutgoingAttachment): void {
  // The type of a part is known from its header only until it is written.
  if (node.getHeader('Content-Type') === attachment.contentType)
    node.setHeader('Content-Disposition', `inline; filename="${attachment.filename}"`);
  for (const child of node.childNodes) nameAlternative(child, attachment);
}

/** Returns the bytes if every SMTP server can carry them unchanged; otherwise throws, because that is a bug. */
export function checked(bytes: Buffer): Buffer {
  const flaw = findFlaw(bytes);
  if (flaw !== null) throw new Error(`the composed message has ${flaw}`);
  return bytes;
}

/** Returns the prefix of every delimiter line in the message with this id; no other line has it. */
function makeDelimiter(messageId: string): string {
  return `--${BOUNDARY_PREFIX}-${makeBoundary(messageId)}-Part_`;
}

/** Unpredictable before the message has its id, so that no content can contain it. */
export function makeBoundary(messageId: string): string {
  return createHash('sha256').update(messageId).digest('hex').slice(0, BOUNDARY_DIGITS);
}

function toAddress({ name, address }: Mailbox): { name: string; address: string } {
  return { name: writableName(name ?? ''), address };
}

/**
 * Returns the value of an unstructured field. ASCII is written unchanged: nodemailer would encode values with quotation marks, such as
 * JSON or List-Id.
 */
function toFieldValue(text: string): { prepared: true; foldLines: true; value: string } {
  const line = oneLine(text);
  const isPlain =
    /^[\x20-\x7e]*$/.test(line) &&
    !/ {2}|=\?/.test(line) &&
    line.split(' ').every((word) => word.length <= MAX_WORD_LENGTH);
  return { prepared: true, foldLines: true, value: isPlain || isEncoded(line) ? line : encode(line) };
}

/** Clients that encode by themselves send only encoded words; their decoded text must also be one line. */
function isEncoded(line: string): boolean {
  return line.split(' ').every((word) => ENCODED_WORD.test(word)) && isHeaderText(decodeEncodedWords(line));
}

/** RFC 2047 §2 */
const ENCODED_WORD = /^(?=.{1,75}$)=\?[a-z0-9_-]{1,40}\?[bq]\?[\x21-\x3e\x40-\x7e]*\?=$/i;

function encode(line: string): string {
  const beyondAscii = line.replace(/[\0-\x7f]+/g, '').length;
  return encodeWord(line, beyondAscii * 2 > line.length ? 'B' : 'Q', ENCODED_WORD_LENGTH);
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
    .trim();
}

/** Converts every line end to CRLF: a lone CR or LF is a line end for some servers and ends the message for others (SMTP smuggling). */
function toLines(text: string): string {
  return storableText(text).replace(/\r\n|\r|\n/g, '\r\n');
}

function toPart(attachment: OutgoingAttachment, index: number) {
  const { buffer, byteOffset, byteLength } = attachment.content;
  const content = Buffer.from(buffer, byteOffset, byteLength);
  const part = {
    filename: attachmentFilename(attachment.filename, attachment.contentType, index),
    contentDisposition: attachment.contentId === null ? 'attachment' : 'inline',
    ...(attachment.contentId === null ? {} : { cid: attachment.contentId.slice(1, -1) }),
  };
  if (!/^message\//i.test(attachment.contentType)) return { ...part, contentType: attachment.contentType, content };
  // Messages must not be encoded (RFC 2046 §5.2.1), so one that is not plain ASCII, or not a message at all, is attached as bytes.
  const lines = Buffer.from(content.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1');
  return /^message\/rfc822$/i.test(attachment.contentType) && findFlaw(lines) === null
    ? { ...part, contentType: 'message/rfc822', content: lines }
    : { ...part, contentType: 'application/octet-stream', content };
}

/** Returns what keeps bytes from being carried unchanged by every SMTP server (RFC 5321 §2.3.8, §4.5.3.1.6); null when nothing does. */
function findFlaw(bytes: Uint8Array): string | null {
  let lineStart = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x20 && byte < 0x80) continue;
    if (byte === 0 || byte >= 0x80) return 'a non-ASCII byte';
    if (byte === LINE_FEED && bytes[at - 1] !== CARRIAGE_RETURN) return 'a line feed alone';
    if (byte !== CARRIAGE_RETURN) continue;
    if (bytes[at + 1] !== LINE_FEED) return 'a carriage return alone';
    if (at - lineStart > MAX_LINE_BYTES) return 'a line that is too long';
    lineStart = at + 2;
  }
  return bytes.length - lineStart > MAX_LINE_BYTES ? 'a line that is too long' : null;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Returns the attachments of a composed message in stored form, in order. They are found by the message's delimiters, which occur nowhere
 * else in it; parsing would take as long as everything else when a large message is sent. Throws when they differ from the draft's, which
 * is a bug.
 */
export function listComposedAttachments(bytes: Buffer, draft: Pick<Draft, 'messageId' | 'attachments'>): Attachment[] {
  const named = draft.attachments.map((attachment, place) => ({ attachment, place }));
  const listed = attachedParts(bytes, makeDelimiter(draft.messageId)).map((part, index) => {
    const contentId = readValue(part.section, 'content-id');
    const at = named.findIndex(({ attachment }) => (attachment.contentId ?? '') === contentId);
    const [found] = at === -1 ? [] : named.splice(at, 1);
    if (found === undefined) throw new Error('a composed message has an attachment that its draft does not have');
    return toAttachment(part, found, index);
  });
  if (named.length > 0) throw new Error('a composed message is missing an attachment of its draft');
  return listed;
}

interface Part {
  section: HeaderSection;
  start: number;
  length: number;
}

function attachedParts(bytes: Buffer, delimiter: string): Part[] {
  const parts: Part[] = [];
  for (let at = bytes.indexOf(delimiter); at !== -1; ) {
    const next = bytes.indexOf(delimiter, at + delimiter.length);
    const head = bytes.indexOf('\r\n', at) + 2;
    const start = bytes.indexOf('\r\n\r\n', head) + 4;
    // No part follows a closing delimiter.
    if (next !== -1 && start > head + 4 && start <= next) {
      const section = readHeaderSection(bytes.subarray(head, start));
      const isAttached = readValue(section, 'content-disposition') !== '';
      // The line end before a delimiter belongs to the delimiter (RFC 2046 §5.1.1).
      if (isAttached) parts.push({ section, start, length: Math.max(0, next - 2 - start) });
    }
    at = next;
  }
  return parts;
}

function toAttachment(
  { section, start, length }: Part,
  { attachment, place }: { attachment: OutgoingAttachment; place: number },
  index: number,
): Attachment {
  const contentType = readValue(section, 'content-type').replace(/;.*/s, '').trim().toLowerCase();
  const transferEncoding = toTransferEncoding(readValue(section, 'content-transfer-encoding'));
  return {
    index,
    filename: attachmentFilename(attachment.filename, attachment.contentType, place),
    contentType,
    size: transferEncoding === 'base64' ? attachment.content.length : length,
    contentId: attachment.contentId,
    contentDisposition: /^inline\b/i.test(readValue(section, 'content-disposition')) ? 'inline' : 'attachment',
    start,
    length,
    transferEncoding,
    ...(attachment.event === undefined ? {} : { event: attachment.event }),
  };
}

function readValue(section: HeaderSection, name: string): string {
  const field = section.fields.find((each) => each.name === name);
  return field === undefined ? '' : unfold(field.raw);
}

/**
 * Returns the bytes of a message that nodemailer has compiled from strings and buffers, equal to those of its own `build`. That one uses
 * streams, which for a typical message cost more than everything else (0.34 ms against 0.14; 2 cores, November 2026).
 */
export function writeMime(message: MimeNode): Buffer {
  return Buffer.concat(mimePieces(message));
}

function mimePieces(message: MimeNode): Buffer[] {
  const pieces: Buffer[] = [];
  writePart(message, pieces);
  const last = pieces.findLast(({ length }) => length > 0);
  if (last?.at(-1) !== LINE_FEED) pieces.push(Buffer.from('\r\n'));
  return pieces;
}

function writePart(part: MimeNode, pieces: Buffer[]): void {
  pieces.push(Buffer.from(`${bytesAsText(part.buildHeaders())}\r\n\r\n`, 'latin1'));
  if (!part.multipart) {
    pieces.push(contentBytes(part));
    return;
  }
  for (const child of part.childNodes) {
    pieces.push(Buffer.from(`--${part.boundary}\r\n`));
    writePart(child, pieces);
    pieces.push(Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${part.boundary}--\r\n`));
}

function contentBytes(part: MimeNode): Buffer {
  const { content = '' } = part;
  if (typeof content !== 'string' && !Buffer.isBuffer(content))
    throw new Error('a part is neither a string nor a buffer');
  const encoding = part.getTransferEncoding();
  const bytes = () => (typeof content === 'string' ? Buffer.from(content, 'utf8') : content);
  if (encoding === 'base64') return base64Lines(bytes());
  if (encoding === 'quoted-printable')
    return Buffer.from(quotedPrintable.wrap(quotedPrintable.encode(content)), 'latin1');
  return bytes();
}

/** Returns base64 in lines, as base64.wrap of nodemailer does, which takes several times as long. */
function base64Lines(content: Buffer): Buffer {
  const digits = Math.ceil(content.length / 3) * 4;
  const lines = Buffer.allocUnsafeSlow(digits + 2 * Math.max(0, Math.ceil(digits / LINE_DIGITS) - 1));
  let used = 0;
  for (let at = 0; at < content.length; at += STEP_BYTES) {
    const step = Buffer.from(content.toString('base64', at, at + STEP_BYTES), 'latin1');
    for (let from = 0; from < step.length; from += LINE_DIGITS) {
      if (used > 0) {
        lines[used++] = CARRIAGE_RETURN;
        lines[used++] = LINE_FEED;
      }
      used += step.copy(lines, used, from, from + LINE_DIGITS);
    }
  }
  return lines;
}

const LINE_DIGITS = 76;
/** Of which each three become four digits: 4,096 lines. */
const STEP_BYTES = 57 * 4_096;

function bytesAsText(content: string | Buffer): string {
  return (typeof content === 'string' ? Buffer.from(content, 'utf8') : content).toString('latin1');
}
