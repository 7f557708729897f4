import { excerptOfHtml, MAX_CLEANED_HTML_LENGTH, sanitizeHtmlBody } from '../html/sanitize-html.ts';
import type { Injection } from '../screening/screened-mail.ts';
import { loadOnce } from '../shared/load-once.ts';
import type { PublicSuffixes } from '../shared/registrable-domain.ts';
import { decodeCharset, storableText } from '../shared/text.ts';
import { type AddressFields, isFull, readAddressFields } from './address.ts';
import { readAttachedTexts } from './attached-texts.ts';
import { type Attachment, attachmentFilename, decodeAttachment, MAX_ATTACHMENTS } from './attachment.ts';
import { readCalendarEvent } from './calendar-event.ts';
import { isEnrichedType, readEnrichedText } from './enriched-text.ts';
import {
  decodeText,
  endOfFirstEmptyLine,
  firstField,
  type HeaderSection,
  type Priority,
  readableFields,
  readHeaderSection,
  readPriority,
} from './header-fields.ts';
import { chooseHtmlCharset } from './html-charset.ts';
import { parseMessageId, parseReferences } from './message-id.ts';
import { type Leaf, readParts } from './message-parts.ts';
import { isReportPart } from './parse-bounce.ts';
import { parseDate } from './parse-date.ts';
import { announcesForward } from './quote-introductions.ts';
import { readHtmlReply } from './reply-html.ts';
import { isAsciiText } from './reply-line.ts';
import { type RemovedPart, type Reply, readReply } from './reply-text.ts';
import { readScreenedNames } from './screened-names.ts';
import { readShownParts, type ShownPart } from './signed-content.ts';
import { isForwardSubject, isReplySubject } from './subject.ts';

/** The stored fields of a received message besides its bytes. All texts are well-formed and without U+0000. */
export interface ParsedMessage {
  /** `<local@domain>`; null when missing or invalid */
  messageId: string | null;
  inReplyTo: string[];
  references: string[];
  /** empty when missing */
  subject: string;
  /** the Date field; null when missing or invalid */
  date: Date | null;
  addresses: AddressFields;
  /** the plain-text parts; null when there are none */
  textBody: string | null;
  /** the HTML parts as sent, not safe to show; null when there are none */
  htmlBody: string | null;
  /** the author's own text, without quoted mail and signature; null like textBody */
  cleanedText: string | null;
  /** what textBody has besides cleanedText, in its order */
  removedParts: RemovedPart[];
  /** safe to show, without quoted mail and signature; null when there is no HTML, or it is too large to clean */
  cleanedHtml: string | null;
  /** the start of the text on one line, at most 200 characters */
  preview: string;
  /** `[lower-case name, decoded value]` in order, including repeats, at most 1,000 */
  headers: [string, string][];
  priority: Priority | null;
  /** at most 1,000 */
  attachments: Attachment[];
  hasAttachments: boolean;
  /**
   * whether something was left out: header fields, mailboxes, attachments or parts over their limits, or the cleaned copy of large HTML
   */
  isTruncated: boolean;
  /** whether there are several From fields */
  hasSeveralFromFields: boolean;
  /** whether text or a file begins above the first empty line, where no signature covers it */
  hasUnsignedContent: boolean;
  /** whether one of its parts is the machine-readable part of a report (core/mime/parse-bounce.ts) */
  holdsReport: boolean;
  /** text that is aimed at an agent which reads the mail; null: the message could not be parsed */
  injection: Injection | null;
  /** why only the header section was read; null when the message was parsed */
  parseError: string | null;
}

/** Incremented with every change of the parsed fields, so that stored mail can be parsed again. */
export const PARSER_VERSION = 10;

/** Maximum characters. */
const PREVIEW_LENGTH = 200;
/** Characters of a text that are read per character of the preview: padding may come first. */
const PREVIEW_OVERHEAD = 100;
/**
 * Spaces and invisible characters: soft hyphen, grapheme joiner, Hangul fillers, zero-width and fixed-width spaces, joiners. A joiner alone
 * is part of a word or an emoji, and marks of writing direction are part of their text.
 */
const PADDING =
  /[\u034f\s\u00ad\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2000-\u200d\u205f-\u2064\u2800\u3164\uffa0]{2,}|\s/gu;
const UNSEEN = /[\u034f\u00ad\u200b\u2060\ufeff]/g;
/** Maximum bytes of the header section, and characters of a field, that are read of an unparsable message. */
const MAX_SCANNED_BYTES = 65_536;
const MAX_SCANNED_FIELD_LENGTH = 4_000;

/** Its words and weights take several megabytes: only threads that parse load them. */
export const loadScreening = loadOnce(() => import('../screening/screen-mail.ts'));

/**
 * Parses a message (RFC 5322, MIME). Rejects when the bytes cannot be split into parts; may be slow for hostile input. `readSuffixes` returns the
 * Public Suffix List, by which the screening compares the addresses of the text and the HTML.
 */
export async function parseMessage(bytes: Buffer, readSuffixes?: () => PublicSuffixes): Promise<ParsedMessage> {
  const section = readHeaderSection(bytes);
  const { leaves, bodyCharset, isTruncated } = await readParts(bytes);
  const head = readHead(section, bodyCharset);
  const attached = leaves.filter((leaf) => leaf.isAttachment);
  const bodies = readBodies(await readShownParts(bytes, leaves), head);
  const attachments = attached.slice(0, MAX_ATTACHMENTS).map((leaf, index) => toAttachment(bytes, leaf, index));
  addEvent(bytes, attached, attachments);
  const { screenMail } = await loadScreening();
  const { texts, rest } = await readAttachedTexts(bytes, leaves);
  const injection = screenMail({
    subject: head.subject,
    senderName: head.addresses.from?.addresses[0]?.name ?? null,
    otherNames: readScreenedNames(section, bodyCharset),
    text: bodies.textBody,
    html: bodies.htmlBody,
    fileNames: attachments.map(({ filename }) => filename),
    attachedTexts: texts,
    readSuffixes,
    attachedRest: rest ?? (isTruncated ? 'The message has more parts than are read.' : null),
  });
  return {
    ...head,
    ...bodies,
    injection,
    preview: makePreview(bodies),
    attachments,
    hasAttachments: attachments.length > 0,
    hasUnsignedContent: beginsAbove(leaves, endOfFirstEmptyLine(bytes)),
    isTruncated: head.isTruncated || isTruncated || attached.length > attachments.length || isUncleaned(bodies),
    holdsReport: leaves.some((leaf) => isReportPart(leaf.contentType)),
    parseError: null,
  };
}

function beginsAbove(leaves: readonly Leaf[], end: number): boolean {
  return leaves.some(({ start, length }) => length > 0 && start < end);
}

/**
 * Reads only the header section of a message that cannot be parsed. Linear, never throws: fields longer than any honest field are left
 * out.
 */
export function scanHeaders(bytes: Uint8Array, parseError: string): ParsedMessage {
  const whole = readHeaderSection(
    Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MAX_SCANNED_BYTES)),
  );
  const fields = whole.fields.filter((field) => field.raw.length <= MAX_SCANNED_FIELD_LENGTH);
  return {
    ...readHead({ ...whole, fields, isTruncated: true }, null),
    textBody: null,
    htmlBody: null,
    cleanedText: null,
    removedParts: [],
    cleanedHtml: null,
    preview: '',
    attachments: [],
    hasAttachments: false,
    hasUnsignedContent: false,
    isTruncated: true,
    holdsReport: false,
    injection: null,
    parseError: storableText(parseError),
  };
}

type Head = Pick<
  ParsedMessage,
  | 'messageId'
  | 'inReplyTo'
  | 'references'
  | 'subject'
  | 'date'
  | 'addresses'
  | 'headers'
  | 'priority'
  | 'isTruncated'
  | 'hasSeveralFromFields'
>;
type Bodies = Pick<ParsedMessage, 'textBody' | 'htmlBody' | 'cleanedText' | 'removedParts' | 'cleanedHtml'>;

function readHead(section: HeaderSection, bodyCharset: string | null): Head {
  const addresses = readAddressFields(section, bodyCharset);
  const value = (name: string): string => decodeText(firstField(section, name)?.raw ?? '', bodyCharset);
  return {
    messageId: parseMessageId(idsText(section, 'message-id')),
    inReplyTo: parseReferences(idsText(section, 'in-reply-to')),
    references: parseReferences(idsText(section, 'references')),
    subject: value('subject'),
    date: parseDate(firstField(section, 'date')?.raw ?? ''),
    addresses,
    headers: readableFields(section, bodyCharset),
    priority: readPriority(section),
    isTruncated: section.isTruncated || Object.values(addresses).some(isFull),
    hasSeveralFromFields: section.fields.filter((field) => field.name === 'from').length > 1 || section.hidesFrom,
  };
}

/**
 * Decodes the field but keeps its folding, which matters within a msg-id (seen: mail programs that encode every long field). Of several
 * References, which relays write that add their own, all count.
 */
function idsText(section: HeaderSection, name: 'message-id' | 'in-reply-to' | 'references'): string {
  const fields = section.fields.filter((field) => field.name === name).slice(0, name === 'references' ? 10 : 1);
  const raw = fields.map((field) => field.raw).join(' ');
  return raw.includes('=?') ? decodeText(raw) : decodeCharset(Buffer.from(raw, 'latin1'), null);
}

function readBodies(parts: readonly ShownPart[], { subject, inReplyTo, references }: Head): Bodies {
  const texts: string[] = [];
  const htmls: string[] = [];
  const hasHtml = parts.some(({ leaf }) => leaf.contentType === 'text/html');
  for (const { bytes, leaf } of parts) {
    const text = storableText(decodeLeafText(bytes, leaf));
    if (leaf.contentType === 'text/html') {
      htmls.push(text);
    } else {
      texts.push(text);
      // A footer next to an HTML body, as mailing lists add one, is part of what HTML readers see.
      if (hasHtml && !leaf.isAlternative) htmls.push(`<pre>${escapeHtml(text)}</pre>`);
    }
  }
  const textBody = texts.length === 0 ? null : texts.join('\n');
  const htmlBody = htmls.length === 0 ? null : htmls.join('\n');
  // A reply may quote a forwarded message, which then is no part of it.
  const isReplyTitle = isReplySubject(subject);
  const isForward = isForwardSubject(subject) || announcesForward((textBody ?? '').split('\n'), isReplyTitle);
  const isReply = isReplyTitle || inReplyTo.length > 0 || references.length > 0;
  const whole: Reply = { text: textBody?.trim() ?? '', removed: [] };
  const reply = textBody === null || isForward ? whole : readReply(textBody, isReply);
  const htmlReply = htmlBody === null || isForward ? null : readHtmlReply(htmlBody, { isReply, isReplyTitle });
  return {
    textBody,
    htmlBody,
    cleanedText: textBody === null ? null : reply.text,
    removedParts: textBody === null ? (htmlReply?.removed ?? []) : reply.removed,
    cleanedHtml: htmlBody === null ? null : sanitizeHtmlBody(htmlReply?.html ?? htmlBody),
  };
}

function decodeLeafText(bytes: Buffer, leaf: Leaf): string {
  const content = decodeContent(bytes, leaf);
  const isHtml = leaf.contentType === 'text/html';
  const text = decodeCharset(content, isHtml ? chooseHtmlCharset(content, leaf.charset) : leaf.charset);
  // Seen: `=0D` before a line end.
  const lines = text.includes('\r') ? text.replace(/\r{1,2}\n/g, '\n') : text;
  return isEnrichedType(leaf.contentType) ? readEnrichedText(lines, leaf.contentType) : unflow(lines, leaf.flowed);
}

function decodeContent(bytes: Buffer, leaf: Leaf): Buffer {
  const decoded = decodeAttachment(bytes.subarray(leaf.start, leaf.start + leaf.length), leaf.transferEncoding);
  return Buffer.from(decoded.buffer, decoded.byteOffset, decoded.byteLength);
}

/** Joins the lines of format=flowed (RFC 3676 §4.2): a line that ends in a space continues on the next line of the same quote depth. */
function unflow(text: string, flowed: Leaf['flowed']): string {
  if (flowed === null) return text;
  const lines: { depth: string; text: string; isFlowed: boolean }[] = [];
  for (const line of text.split('\n')) {
    const depth = /^>*/.exec(line)?.[0] ?? '';
    const content = line.slice(depth.length).replace(/^ /, '');
    const last = lines.at(-1);
    const isFlowed = content.endsWith(' ') && content !== '-- ';
    const shown = isFlowed && flowed === 'delete-space' ? content.slice(0, -1) : content;
    if (last?.isFlowed === true && last.depth === depth && content !== '-- ') {
      last.text += shown;
      last.isFlowed = isFlowed;
    } else {
      lines.push({ depth, text: shown, isFlowed });
    }
  }
  return lines.map((line) => (line.depth === '' ? line.text : `${line.depth} ${line.text}`)).join('\n');
}

function toAttachment(bytes: Buffer, leaf: Leaf, index: number): Attachment {
  return {
    index,
    filename: attachmentFilename(leaf.filename, leaf.contentType, index),
    contentType: storableText(leaf.contentType),
    size: decodeContent(bytes, leaf).length,
    contentId: leaf.contentId,
    contentDisposition: leaf.disposition,
    start: leaf.start,
    length: leaf.length,
    transferEncoding: leaf.transferEncoding,
  };
}

/** Calendars that are read, and bytes of one. */
const MAX_CALENDARS = 10;
const MAX_CALENDAR_BYTES = 1_000_000;

/** Adds its event to the first calendar that has one. */
function addEvent(bytes: Buffer, leaves: readonly Leaf[], attachments: readonly Attachment[]): void {
  let calendars = 0;
  for (const attachment of attachments) {
    const leaf = leaves[attachment.index];
    if (leaf === undefined || !isCalendar(attachment)) continue;
    const content = decodeContent(bytes, leaf).subarray(0, MAX_CALENDAR_BYTES);
    const event = readCalendarEvent(decodeCharset(content, leaf.charset ?? 'utf-8'), leaf.method);
    if (event !== null) attachment.event = event;
    if (event !== null || ++calendars === MAX_CALENDARS) return;
  }
}

/** Some programs send calendars as unknown bytes. */
function isCalendar({ contentType, filename }: Attachment): boolean {
  if (contentType === 'application/octet-stream') return /\.ics$/i.test(filename);
  return /^(?:text|application)\/(?:x-)?v?(?:calendar|ics|ical)$/.test(contentType);
}

/** Returns the start of the text on one line, at most 200 characters; without text, that of the HTML. */
export function makePreview(bodies: Pick<Bodies, 'cleanedText' | 'cleanedHtml' | 'htmlBody'>): string {
  const text = (bodies.cleanedText ?? '').slice(0, PREVIEW_LENGTH * PREVIEW_OVERHEAD);
  // Most mail has enough text within the first lines. Only the last characters could differ from those of the whole text.
  const front = withoutPadding(text.slice(0, PREVIEW_LENGTH * 4));
  if (front.length > PREVIEW_LENGTH + 2) return shortened(front);
  const preview = cut(text);
  if (preview !== '') return preview;
  const { cleanedHtml, htmlBody } = bodies;
  if (cleanedHtml !== null) return cut(excerptOfHtml(cleanedHtml, PREVIEW_LENGTH));
  if (htmlBody === null) return '';
  return cut(excerptOfHtml(sanitizeHtmlBody(htmlBody.slice(0, MAX_CLEANED_HTML_LENGTH / 10)) ?? '', PREVIEW_LENGTH));
}

/** Removes padding: newsletters fill the preview with hundreds of spaces and characters that are not seen. */
function cut(text: string): string {
  return shortened(withoutPadding(text));
}

function withoutPadding(text: string): string {
  if (isAsciiText(text)) return text.replace(/\s+/g, ' ').trim();
  return text.replace(PADDING, ' ').replace(UNSEEN, '').trim();
}

function shortened(trimmed: string): string {
  return trimmed.length <= PREVIEW_LENGTH ? trimmed : trimmed.slice(0, PREVIEW_LENGTH).toWellFormed().trimEnd();
}

function isUncleaned(bodies: Bodies): boolean {
  return bodies.htmlBody !== null && bodies.cleanedHtml === null;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
