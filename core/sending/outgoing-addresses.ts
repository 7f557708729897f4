import addressparser from 'nodemailer/lib/addressparser';
import { canonicalDomainName } from '../domains/domain-name.ts';
import type { Mailbox } from '../mime/address.ts';
import { decodeEncodedWords } from '../mime/header-fields.ts';

/** The sender of a message, or the text for the user. `domain` is canonical: the one that must be verified. */
export type SenderResult =
  | { sender: Mailbox; domain: string; error?: undefined }
  | { error: string; sender?: undefined; domain?: undefined };

/** The mailboxes of one address field in their order, or the text for the user. */
export type RecipientsResult = { recipients: Mailbox[]; error?: undefined } | { error: string; recipients?: undefined };

/** Mailboxes of To, Cc and Bcc each; bounds of the reference service. */
export const MAX_RECIPIENTS = 50;
export const MAX_REPLY_TO = 10;
/** Characters of one mailbox with its name. */
const MAX_MAILBOX_LENGTH = 500;
/** Characters of a display name in a header field of ours. */
const MAX_NAME_LENGTH = 200;
/** Characters of a wrong text that are told back. */
const MAX_SHOWN_LENGTH = 200;

/** RFC 5321 §4.5.3.1 */
const MAX_LOCAL_PART_LENGTH = 64;
const MAX_ADDRESS_LENGTH = 254;
/** RFC 5321 §4.1.2, ASCII only; Quoted-string is left out, as nothing but trickery uses it. */
const DOT_STRING = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
/** Line ends of ASCII and Unicode, all other control characters, and halves of characters. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const UNWRITABLES = new RegExp(UNWRITABLE, 'gu');
/** Marks that turn the direction of writing, and with it what a name seems to say. */
const DIRECTION_MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Reads `from` of a send request: exactly one mailbox, as `address` or `Name <address>`. A name that shows an address of another
 * domain is refused, since readers take it for the sender's.
 */
export function parseSender(text: string): SenderResult {
  const mailboxes = text.length > MAX_MAILBOX_LENGTH ? null : readMailboxes(text);
  const [sender, ...others] = mailboxes ?? [];
  if (sender === undefined || others.length > 0) return { error: invalid(text) };
  const domain = domainOf(sender.address);
  const shown = (sender.name ?? '').normalize('NFKC').toLowerCase().match(SHOWN_ADDRESS) ?? [];
  if (shown.some((address) => domainOf(address) !== domain)) return { error: invalid(text) };
  return { sender, domain };
}

/** An at sign between other characters, as people read it. */
const SHOWN_ADDRESS = /[^\s<>"'(),;:@]{1,500}@[^\s<>"'(),;:@]{1,500}/g;

/**
 * Reads `to`, `cc`, `bcc` or `reply_to` of a send request; a text may list several mailboxes. `field` names it in the text for the
 * user. An empty text is an empty list; an empty entry of a list is not.
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
 * The addresses that a message goes to: those of all its address fields, each once. Addresses that differ in the case of their
 * local-part are different ones (RFC 5321 §2.4).
 */
export function envelopeRecipients(...fields: readonly (readonly Mailbox[])[]): string[] {
  return [...new Set(fields.flat().map((mailbox) => mailbox.address))];
}

/**
 * The mailbox as it may stand in a header field and an envelope of ours: a dot-string and an A-label domain (RFC 5890 §2.3.2.1), the
 * name in one line. Null when mail cannot be sent there; local-parts beyond ASCII (RFC 6531) are among these.
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

/** A display name in one line, at most {@link MAX_NAME_LENGTH} characters. */
export function writableName(name: string): string {
  const line = name.replace(DIRECTION_MARKS, '').replace(UNWRITABLES, ' ').replace(/\s+/g, ' ').trim();
  return line.length <= MAX_NAME_LENGTH ? line : line.slice(0, MAX_NAME_LENGTH).toWellFormed().trimEnd();
}

/** The mailboxes of a text; null when it is not a list of plain mailboxes and nothing else. */
function readMailboxes(text: string): Mailbox[] | null {
  if (UNWRITABLE.test(text)) return null;
  const outside = withoutQuotedStrings(text);
  // Groups, source routes and what follows a header field's name all bear a colon.
  if (outside?.includes(':') !== false) return null;
  const entries = addressparser(text);
  // The parser makes names of what it has no place for, as of the second of two addresses without a comma.
  if (count(outside, /[^\s<>]@[^\s<>]/g) !== entries.length) return null;
  // Words behind the brackets: the parser makes them part of the name.
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

/**
 * The text without comments (RFC 5322 §3.2.2), each quoted string (§3.2.4) replaced by {@link QUOTED}; null when one is never closed.
 * Linear.
 */
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

/** Stands for a quoted string; no text with control characters gets here. */
const QUOTED = ' \0 ';

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return canonicalDomainName(domain) ?? domain;
}

function invalid(text: string): string {
  const shown = text.slice(0, MAX_SHOWN_LENGTH).replace(UNWRITABLES, '\ufffd');
  return `Invalid email format: ${shown}`;
}
