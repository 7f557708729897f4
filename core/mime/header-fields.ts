import { decodeRawText, storableText } from '../shared/text.ts';
import { decodeEncodedWords, escapeEncodedWords } from './encoded-words.ts';
import { parseParameters, readBoundary } from './parameters.ts';

/** A header field as it is in the message. */
export interface HeaderField {
  /** lower case */
  name: string;
  /** bytes after the colon as latin1, including folding and white space */
  raw: string;
}

/** The header section of a message (RFC 5322 §2.2). */
export interface HeaderSection {
  /** in order, at most {@link MAX_HEADER_FIELDS} */
  fields: HeaderField[];
  /** whether there were more */
  isTruncated: boolean;
  /** whether there is a From field between the delimiter that ends it and the empty line, where other programs see it */
  hidesFrom: boolean;
}

const MAX_HEADER_FIELDS = 1_000;

/**
 * Parses the header section at the start of the bytes, at most `maxBytes` of it. Lines that are not fields are skipped, and so is the
 * `From ` line of an mbox. Linear, never throws.
 */
export function readHeaderSection(bytes: Buffer, maxBytes = Number.POSITIVE_INFINITY): HeaderSection {
  const end = endOfHeaderSection(bytes);
  const section = bytes.toString('latin1', 0, Math.min(end, maxBytes));
  const hidesFrom = hasFromBetween(bytes, end);
  const fields: HeaderField[] = [];
  // A byte order mark, which programs that save text write.
  let at = section.startsWith('\xef\xbb\xbf') ? 3 : 0;
  while (at < section.length) {
    const end = endOfField(section, at);
    const field = toField(section.slice(at, end));
    if (field !== null) {
      if (fields.length === MAX_HEADER_FIELDS) return { fields, isTruncated: true, hidesFrom };
      fields.push(field);
    }
    at = end;
  }
  return { fields, isTruncated: false, hidesFrom };
}

/**
 * Returns the value on one line: unfolded, trimmed, bytes decoded as UTF-8, else by the charset of the body; encoded words stay.
 */
export function unfold(raw: string, bodyCharset: string | null = null): string {
  const line = unfoldBytes(raw);
  return decodeRawText((line.includes('=?') ? escapeEncodedWords(line) : line).trim(), bodyCharset);
}

/** Returns the value on one line, each character a byte. */
export function unfoldBytes(raw: string): string {
  return raw.includes('\n') ? raw.replace(/\r?\n[ \t]*/g, ' ') : raw;
}

/** Returns the value in readable form: unfolded, encoded words decoded (RFC 2047), trimmed, storable. */
export function decodeText(raw: string, bodyCharset: string | null = null): string {
  return storableText(decodeEncodedWords(unfold(raw, bodyCharset))).trim();
}

/** Returns the first field with this name; null when there is none. */
export function firstField(section: HeaderSection, name: string): HeaderField | null {
  return section.fields.find((field) => field.name === name) ?? null;
}

/**
 * Fields that claim a verdict on the message. The sender could have written them, so they are returned under `x-original-...` (RFC 8601
 * §5); readers must not take them for our verdict.
 */
const CLAIMED_VERDICTS = new Set(['authentication-results', 'received-spf']);

/** Returns the decoded value of a field, trimmed; empty when it is missing. */
export function fieldText(section: HeaderSection, name: string): string {
  return decodeText(firstField(section, name)?.raw ?? '')
    .slice(0, MAX_TEXT_LENGTH)
    .trim();
}

/** Characters of a value that words are searched in. */
const MAX_TEXT_LENGTH = 1_000;

/** Returns the fields as `[lower-case name, decoded value]`, in order, including repeats. */
export function readableFields(section: HeaderSection, bodyCharset: string | null = null): [string, string][] {
  return section.fields.map(({ name, raw }) => [
    CLAIMED_VERDICTS.has(name) ? `x-original-${name}` : name,
    decodeText(raw, bodyCharset),
  ]);
}

export type Priority = 'high' | 'normal' | 'low';

/** Returns the sender's priority from X-Priority, Importance, Priority or X-MSMail-Priority; null when none is given. */
export function readPriority(section: HeaderSection): Priority | null {
  for (const name of ['x-priority', 'importance', 'priority', 'x-msmail-priority']) {
    const field = firstField(section, name);
    if (field === null) continue;
    const value = unfold(field.raw).toLowerCase();
    const level = Number.parseInt(value, 10);
    if (level >= 1) return level < 3 ? 'high' : level === 3 ? 'normal' : 'low';
    if (value === 'high' || value === 'urgent') return 'high';
    if (value === 'low' || value === 'non-urgent') return 'low';
    return 'normal';
  }
  return null;
}

/**
 * Returns the bytes of the header section, without the empty line that ends it. A line that delimits the parts of the message ends it,
 * too: mail programs that forget the empty line expect readers to notice.
 */
export function endOfHeaderSection(bytes: Buffer): number {
  if (bytes[0] === 0x0a || (bytes[0] === 0x0d && bytes[1] === 0x0a)) return 0;
  const emptyLine = endOfFields(bytes);
  const dashes = bytes.subarray(0, emptyLine).indexOf('\n--');
  return dashes === -1 ? emptyLine : (firstDelimiter(bytes.toString('latin1', 0, emptyLine), dashes + 1) ?? emptyLine);
}

/**
 * Returns the index behind the first empty line, or the length: what signatures take for the header section (RFC 6376 §3.4), whatever a reader
 * takes for text there.
 */
export function endOfFirstEmptyLine(bytes: Buffer): number {
  if (bytes[0] === 0x0a) return 1;
  if (bytes[0] === 0x0d && bytes[1] === 0x0a) return 2;
  const end = endOfFields(bytes);
  return end === bytes.length ? end : end + (bytes[end] === 0x0d ? 2 : 1);
}

function endOfFields(bytes: Buffer): number {
  const end = bytes.indexOf('\n\r\n');
  const bare = bytes.subarray(0, end === -1 ? bytes.length : end + 1).indexOf('\n\n');
  return bare !== -1 ? bare + 1 : end !== -1 ? end + 1 : bytes.length;
}

function hasFromBetween(bytes: Buffer, end: number): boolean {
  // Nearly always the section ends at its empty line.
  if (bytes[end] !== 0x2d) return false;
  return /^from[ \t]*:/im.test(bytes.toString('latin1', end, Math.max(end, endOfFields(bytes))));
}

/** Returns the start of the first line from `start` that delimits the parts of the message; null when there is none. */
function firstDelimiter(section: string, start: number): number | null {
  const contentType = /(?:^|\n)content-type[ \t]*:([^\n]*(?:\n[ \t][^\n]*)*)/i.exec(section.slice(0, start))?.[1];
  const boundary = contentType === undefined ? null : readBoundary(parseParameters(unfoldBytes(contentType).trim()));
  if (boundary === null) return null;
  const delimiter = `\n--${boundary}`;
  for (let at = section.indexOf(delimiter, start - 1); at !== -1; at = section.indexOf(delimiter, at + 1)) {
    const end = section.indexOf('\n', at + 1);
    if (section.slice(at + delimiter.length, end === -1 ? section.length : end).trim() === '') return at + 1;
  }
  return null;
}

function endOfField(section: string, start: number): number {
  let at = start;
  do {
    const lineFeed = section.indexOf('\n', at);
    if (lineFeed === -1) return section.length;
    at = lineFeed + 1;
  } while (section[at] === ' ' || section[at] === '\t');
  return at;
}

function toField(text: string): HeaderField | null {
  const colon = text.indexOf(':');
  if (colon < 1) return null;
  const name = text.slice(0, colon).trimEnd();
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(name)) return null;
  return { name: name.toLowerCase(), raw: text.slice(colon + 1) };
}
