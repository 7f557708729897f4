import addressparser from 'nodemailer/lib/addressparser';
import { canonicalDomainName } from '../domains/domain-name.ts';
import type { Mailbox } from '../mime/address.ts';
import { decodeEncodedWords } from '../mime/encoded-words.ts';

/** The sender of a message, or an error for the user. `domain` is canonical: the one that must be verified. */
export type SenderResult =
  | { sender: Mailbox; domain: string; error?: undefined }
  | { error: string; sender?: undefined; domain?: undefined };

/** The mailboxes of an address field in order, or an error for the user. */
export type RecipientsResult = { recipients: Mailbox[]; error?: undefined } | { error: string; recipients?: undefined };

/** Maximum mailboxes of each of To, Cc and Bcc; the limits of the reference service. */
export const MAX_RECIPIENTS = 50;
export const MAX_REPLY_TO = 10;
/** Maximum characters of a mailbox with its name. */
const MAX_MAILBOX_LENGTH = 500;
/** Maximum characters of a display name that we write. */
const MAX_NAME_LENGTH = 200;
/** Maximum characters of an invalid text that an error repeats. */
const MAX_SHOWN_LENGTH = 200;

/** RFC 5321 §4.5.3.1 */
const MAX_LOCAL_PART_LENGTH = 64;
const MAX_ADDRESS_LENGTH = 254;
/** RFC 5321 §4.1.2, ASCII only. Quoted-string is not accepted: it is used only to deceive. */
const DOT_STRING = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
/** Line ends of ASCII and Unicode, other control characters, and lone surrogates. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const UNWRITABLES = new RegExp(UNWRITABLE, 'gu');
/** Marks that change the direction of writing, and so what a name seems to say. */
const DIRECTION_MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Parses `from` of a send request: exactly one mailbox, as `address` or `Name <address>`. A name that shows an address of another domain
 * is rejected, because readers would take it for the sender's.
 */
export function parseSender(text: string): SenderResult {
  const mailboxes = text.length > MAX_MAILBOX_LENGTH ? null : (readNamed(text) ?? readMailboxes(text));
  const [sender, ...others] = mailboxes ?? [];
  if (sender === undefined || others.length > 0) return { error: invalid(text) };
  const domain = readDomain(sender.address);
  const shown = (sender.name ?? '').normalize('NFKC').toLowerCase().match(SHOWN_ADDRESS) ?? [];
  if (shown.some((address) => readDomain(address) !== domain)) return { error: invalid(text) };
  return { sender, domain };
}

/** Text that people read as an email address. */
const SHOWN_ADDRESS = /[^\s<>"'(),;:@]{1,500}@[^\s<>"'(),;:@]{1,500}/g;

/**
 * Parses `to`, `cc`, `bcc` or `reply_to` of a send request; a text may list several mailboxes. `field` is its name for the error. An
 * empty text is an empty list; an empty entry of a list is an error.
 */
export function parseRecipients(
  given: string | readonly string[],
  field: string,
  most: number = MAX_RECIPIENTS,
): RecipientsResult {
  if (given === '') return { recipients: [] };
  const recipients: Mailbox[] = [];
  for (const text of typeof given === 'string' ? [given] : given) {
    const mailboxes = text.length > MAX_MAILBOX_LENGTH * most ? null : readMailboxes(text);
    if (mailboxes === null || mailboxes.length === 0) return { error: invalid(text) };
    recipients.push(...mailboxes);
    if (recipients.length > most) return { error: `Too many addresses in ${field}: at most ${most} are allowed` };
  }
  return { recipients };
}

/**
 * Returns the envelope recipients of a message: the addresses of all its address fields, without duplicates. Local-parts that differ in
 * case are different (RFC 5321 §2.4).
 */
export function envelopeRecipients(...fields: readonly (readonly Mailbox[])[]): string[] {
  return [...new Set(fields.flat().map((mailbox) => mailbox.address))];
}

/**
 * Returns the mailbox in the form that we write in header fields and envelopes: a dot-string and an A-label domain (RFC 5890 §2.3.2.1),
 * the name on one line. Null when mail cannot be sent to it; this includes local-parts beyond ASCII (RFC 6531).
 */
export function outgoingMailbox(mailbox: Mailbox): Mailbox | null {
  const at = mailbox.address.lastIndexOf('@');
  const localPart = mailbox.address.slice(0, at);
  const domain = canonicalDomainName(mailbox.address.slice(at + 1));
  if (at < 1 || domain === null || localPart.length > MAX_LOCAL_PART_LENGTH || !DOT_STRING.test(localPart)) return null;
  const address = `${localPart}@${domain}`;
  if (address.length > MAX_ADDRESS_LENGTH) return null;
  const name = writableName(mailbox.name ?? '');
  return { name: name === '' ? null : name, address };
}

/** Returns a display name on one line, at most {@link MAX_NAME_LENGTH} characters. */
export function writableName(name: string): string {
  const line = name.replace(DIRECTION_MARKS, '').replace(UNWRITABLES, ' ').replace(/\s+/g, ' ').trim();
  return line.length <= MAX_NAME_LENGTH ? line : line.slice(0, MAX_NAME_LENGTH).toWellFormed().trimEnd();
}

/**
 * Parses a text as one mailbox with a name that is not quoted. It is the text of a request, not a header field: parentheses and commas belong to
 * the name. Null when the text is anything else.
 */
function readNamed(text: string): Mailbox[] | null {
  if (UNWRITABLE.test(text) || count(text, /\(/g) !== count(text, /\)/g)) return null;
  const [, name = '', address = ''] = /^([^<>"@\\:;]+)<([^<>"\s]+)>\s*$/.exec(text) ?? [];
  const mailbox = name === '' ? null : outgoingMailbox({ name: decodeEncodedWords(name.trim()), address });
  return mailbox === null ? null : [mailbox];
}

/** An address alone in the characters of nearly all, without the parser of lists. */
const ADDRESS_ALONE = /^[\w.+-]+@[a-z0-9.-]+$/i;

/** Parses a text as mailboxes; null when it is anything but a list of plain mailboxes. */
function readMailboxes(text: string): Mailbox[] | null {
  if (ADDRESS_ALONE.test(text)) {
    const mailbox = outgoingMailbox({ name: null, address: text });
    return mailbox === null ? null : [mailbox];
  }
  if (UNWRITABLE.test(text)) return null;
  const outside = withoutQuotedStrings(text);
  // Groups, source routes and header field names all contain a colon.
  if (outside?.includes(':') !== false) return null;
  const entries = addressparser(text);
  // The parser turns text it cannot place into names, such as the second of two addresses without a comma.
  if (count(outside, /[^\s<>]@[^\s<>]/g) !== entries.length) return null;
  // Text after the brackets, which the parser would add to the name.
  if (/>\s*[^\s,;]/.test(outside)) return null;
  if (count(outside, /</g) !== count(outside, />/g) || count(outside, /</g) > entries.length) return null;
  const mailboxes: Mailbox[] = [];
  for (const entry of entries) {
    if (entry.group !== undefined || !text.includes(entry.address)) return null;
    const mailbox = outgoingMailbox({ name: decodeEncodedWords(entry.name), address: entry.address });
    if (mailbox === null) return null;
    mailboxes.push(mailbox);
  }
  return mailboxes;
}

/** Removes comments (RFC 5322 §3.2.2) and replaces each quoted string (§3.2.4) by {@link QUOTED}; null when one is not closed. Linear. */
function withoutQuotedStrings(text: string): string | null {
  let outside = '';
  let isQuoted = false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    const isInside = isQuoted || depth > 0;
    if (isInside && character === '\\') at++;
    else if (depth === 0 && character === '"') {
      if (!isQuoted) outside += QUOTED;
      isQuoted = !isQuoted;
    } else if (!isQuoted && character === '(') depth++;
    else if (depth > 0 && character === ')') depth--;
    else if (!isInside) outside += character;
  }
  return isQuoted || depth > 0 ? null : outside;
}

/** Placeholder of a quoted string; texts with control characters are rejected before. */
const QUOTED = ' \0 ';

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function readDomain(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return canonicalDomainName(domain) ?? domain;
}

function invalid(text: string): string {
  const shown = text.slice(0, MAX_SHOWN_LENGTH).replace(UNWRITABLES, '\ufffd');
  return `Invalid email format: ${shown}`;
}
