import libmime from 'libmime';
import { decodeRawText, storableText } from '../shared/text.ts';

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
}

const MAX_HEADER_FIELDS = 1_000;

/**
 * Parses the header section at the start of the bytes, at most `maxBytes` of it. Lines that are not fields are skipped, and so is the
 * `From ` line of an mbox. Linear, never throws.
 */
export function readHeaderSection(bytes: Buffer, maxBytes = Number.POSITIVE_INFINITY): HeaderSection {
  const section = bytes.toString('latin1', 0, Math.min(endOfHeaderSection(bytes), maxBytes));
  const fields: HeaderField[] = [];
  let at = 0;
  while (at < section.length) {
    const end = endOfField(section, at);
    const field = toField(section.slice(at, end));
    if (field !== null) {
      if (fields.length === MAX_HEADER_FIELDS) return { fields, isTruncated: true };
      fields.push(field);
    }
    at = end;
  }
  return { fields, isTruncated: false };
}

/** Returns the value on one line: unfolded, trimmed, bytes decoded; encoded words stay. */
export function unfold(raw: string): string {
  const line = raw.includes('\n') ? raw.replace(/\r?\n[ \t]*/g, ' ') : raw;
  return decodeRawText((line.includes('=?') ? escapeEncodedWords(line) : line).trim());
}

/** Bytes above 127 within encoded words belong to the word's charset (seen: `=?iso-8859-1?Q?J<FC>rgen?=`). */
export function escapeEncodedWords(line: string): string {
  if (!/[\x80-\xff]/.test(line)) return line;
  return line.replace(/=\?[^?]{1,40}\?[Qq]\?[^?]*\?=/g, (word) =>
    word.replace(/[\x80-\xff]/g, (byte) => `=${byte.charCodeAt(0).toString(16)}`),
  );
}

/** Returns the value in readable form: unfolded, encoded words decoded (RFC 2047), storable. */
export function decodeText(raw: string): string {
  return storableText(decodeEncodedWords(unfold(raw)));
}

/** Decodes the encoded words of a text (RFC 2047); invalid ones stay. */
export function decodeEncodedWords(text: string): string {
  if (!text.includes('=?')) return text;
  try {
    return libmime.decodeWords(text);
  } catch {
    return text;
  }
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

/** Returns the fields as `[lower-case name, decoded value]`, in order, including repeats. */
export function readableFields(section: HeaderSection): [string, string][] {
  return section.fields.map(({ name, raw }) => [
    CLAIMED_VERDICTS.has(name) ? `x-original-${name}` : name,
    decodeText(raw),
  ]);
}

/**
 * Parses a Date field (RFC 5322 §3.3, including obsolete forms and ISO 8601); null when it is not a date. A missing or unknown zone means
 * UTC (RFC 5322 §4.3).
 */
export function parseDate(raw: string): Date | null {
  const value = unfold(raw)
    .slice(0, MAX_DATE_LENGTH)
    .replace(/\([^()]*\)/g, ' ')
    .trim();
  if (!NAMES_A_DAY.test(value)) return null;
  const hasZone = /(?:[+-]\d{2}:?\d{2}|\b(?:utc|gmt|[ecmp][sd]t)|\dz)$/i.test(value);
  const date = new Date(hasZone ? value : `${value.replace(/ [a-z]{1,5}$/i, '')} UTC`);
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : null;
}

/** `1 Apr`, `Apr 1`, `2026-04-01`: without one of these a date parser would accept any number. */
const NAMES_A_DAY =
  /\b\d{1,2}[ -]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* +\d|^\d{4}-\d{2}-\d{2}/i;
const MAX_DATE_LENGTH = 100;

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

/** Returns the bytes of the header section, without the empty line that ends it. */
export function endOfHeaderSection(bytes: Buffer): number {
  if (bytes[0] === 0x0a || (bytes[0] === 0x0d && bytes[1] === 0x0a)) return 0;
  const end = bytes.indexOf('\n\r\n');
  const bare = bytes.subarray(0, end === -1 ? bytes.length : end + 1).indexOf('\n\n');
  return bare !== -1 ? bare + 1 : end !== -1 ? end + 1 : bytes.length;
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
