import { parseMessageIds } from '../mime/message-id.ts';

/**
 * Valid custom header fields, or an error for the user. In-Reply-To and References are returned separately, because they decide the
 * thread.
 */
export type OutgoingHeadersResult =
  | { fields: [string, string][]; inReplyTo: string | null; references: string[]; error?: undefined }
  | { error: string; fields?: undefined; inReplyTo?: undefined; references?: undefined };

/** Limits of the reference service; a line of a message has at most 998 bytes (RFC 5322 §2.1.1). */
const MAX_OUTGOING_FIELDS = 50;
const MAX_NAME_LENGTH = 126;
const MAX_VALUE_LENGTH = 998;
export const MAX_SUBJECT_LENGTH = 998;

/** Maximum characters of a value without white space: it must fit on one line after the folding space. */
export const MAX_WORD_LENGTH = 997;

/** A subset of ftext (RFC 5322 §2.2) that every mail program accepts: letters, digits and the marks of RFC 9110 tokens. */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Fields that we write, or that only mail servers may write. */
const REFUSED_FIELDS = new Set([
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'return-path',
  'received',
  'received-spf',
  'delivered-to',
  'x-original-to',
  'envelope-to',
  'apparently-to',
  'dkim-signature',
  'domainkey-signature',
  'authentication-results',
  '__proto__',
]);
const REFUSED_PREFIXES = ['mime-', 'content-', 'resent-', 'arc-'];

/** Fields that have a key in the request. */
const KEY_OF_FIELD = new Map([
  ['from', 'from'],
  ['to', 'to'],
  ['cc', 'cc'],
  ['bcc', 'bcc'],
  ['reply-to', 'reply_to'],
  ['subject', 'subject'],
]);

/** In-Reply-To and References; of a reply we set them. */
export const THREADING_FIELDS: ReadonlySet<string> = new Set(['in-reply-to', 'references']);

/** Checks `headers` of a send request. `ours` are additional lower-case names that this message may not set. */
export function checkOutgoingHeaders(
  headers: Readonly<Record<string, string>>,
  ours: ReadonlySet<string> = new Set(),
): OutgoingHeadersResult {
  const entries = Object.entries(headers);
  if (entries.length > MAX_OUTGOING_FIELDS) return { error: `Headers cannot be more than ${MAX_OUTGOING_FIELDS}` };
  const fields: [string, string][] = [];
  const ids = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    const refusal = nameRefusal(name, ours);
    if (refusal !== null) return { error: refusal };
    if (seen.has(lower)) return { error: `Header is given twice: ${name}` };
    seen.add(lower);
    if (!isFieldValue(value)) return { error: `Invalid value for header: ${name}` };
    const line = value.replace(/[ \t]+/g, ' ').trim();
    if (!THREADING_FIELDS.has(lower)) {
      fields.push([name, line]);
      continue;
    }
    const found = parseMessageIds(line).filter(isWritableId);
    if (found.length === 0 && line !== '') return { error: `Invalid value for header: ${name}` };
    ids.set(lower, found);
  }
  return { fields, inReplyTo: ids.get('in-reply-to')?.[0] ?? null, references: ids.get('references') ?? [] };
}

/** Returns why a text cannot be a subject, for the user; null when it can, and also when it is empty. */
export function checkSubject(subject: string): string | null {
  if (subject.length > MAX_SUBJECT_LENGTH) return `Subject cannot be longer than ${MAX_SUBJECT_LENGTH} characters`;
  return isHeaderText(subject) ? null : 'Subject must be one line of text without control characters';
}

/**
 * Returns whether a text can be the value of a header field: one line for every reader, no control characters but tabs, no lone
 * surrogates.
 */
export function isHeaderText(text: string): boolean {
  return text.isWellFormed() && !/[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/.test(text);
}

/** Returns whether a msg-id can be written in ASCII lines; ids of received mail may be invalid. */
export function isWritableId(id: string): boolean {
  return id.length <= MAX_WORD_LENGTH && /^<[\x21-\x7e]+>$/.test(id);
}

function nameRefusal(name: string, ours: ReadonlySet<string>): string | null {
  const lower = name.toLowerCase();
  if (name.length > MAX_NAME_LENGTH || !FIELD_NAME.test(name))
    return `Invalid header name: ${JSON.stringify(name.slice(0, MAX_NAME_LENGTH))}`;
  const key = KEY_OF_FIELD.get(lower);
  if (key !== undefined) return `Header cannot be set: ${name}. Use ${key} instead`;
  const isRefused =
    REFUSED_FIELDS.has(lower) || ours.has(lower) || REFUSED_PREFIXES.some((prefix) => lower.startsWith(prefix));
  return isRefused ? `Header cannot be set: ${name}` : null;
}

function isFieldValue(value: string): boolean {
  if (value.length > MAX_VALUE_LENGTH || !isHeaderText(value)) return false;
  // Words beyond ASCII are encoded in pieces, so only ASCII words have a limit.
  return value.split(/[ \t]+/).every((word) => word.length <= MAX_WORD_LENGTH || /[^\x21-\x7e]/.test(word));
}
