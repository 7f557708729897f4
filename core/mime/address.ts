import addressparser from 'nodemailer/lib/addressparser';
import { storableText } from '../shared/text.ts';
import { decodeEncodedWords } from './encoded-words.ts';
import { type HeaderSection, unfold } from './header-fields.ts';

/** A mailbox of an address list (RFC 5322 §3.4). `name` is null when missing; `address` is as written. */
export interface Mailbox {
  name: string | null;
  address: string;
}

/** A parsed address field: its decoded text and its mailboxes, groups flattened; at most 1,000 mailboxes. */
export interface AddressList {
  text: string;
  addresses: Mailbox[];
}

/** The address fields of a message; null when missing. Stored as email_content.addresses. */
export interface AddressFields {
  from: AddressList | null;
  to: AddressList | null;
  cc: AddressList | null;
  bcc: AddressList | null;
  replyTo: AddressList | null;
}

/** Maximum mailboxes per field. */
const MAX_MAILBOXES = 1_000;

/**
 * Parses the address fields of a header section. Of repeated fields the first From and Reply-To count, and every To, Cc and Bcc. Never
 * throws.
 */
export function readAddressFields(section: HeaderSection, bodyCharset: string | null = null): AddressFields {
  const read = (name: string, maxFields = Number.POSITIVE_INFINITY) => readList(section, bodyCharset, name, maxFields);
  return { from: read('from', 1), to: read('to'), cc: read('cc'), bcc: read('bcc'), replyTo: read('reply-to', 1) };
}

/** Returns whether a list may have had more mailboxes than are kept; the field's text still contains them all. */
export function isFull(list: AddressList | null): boolean {
  return list !== null && list.addresses.length === MAX_MAILBOXES;
}

function readList(
  section: HeaderSection,
  bodyCharset: string | null,
  name: string,
  maxFields: number,
): AddressList | null {
  const lists: AddressList[] = [];
  for (const field of section.fields) {
    if (field.name !== name || lists.length === maxFields) continue;
    const value = unfold(field.raw, bodyCharset);
    lists.push(name === 'from' ? parseAuthors(value) : parseAddressList(value));
  }
  const [first] = lists;
  if (first === undefined || lists.length === 1) return first ?? null;
  return {
    text: lists.map((list) => list.text).join(', '),
    addresses: lists.flatMap((list) => list.addresses).slice(0, MAX_MAILBOXES),
  };
}

const LOCAL_PART = /^([\w.+-]+)>?$/;
/** `"ann@example.com" <ann@example.com>` */
const ADDRESS_AS_NAME = /"([^"<>\s]{1,320})"\s{0,10}<\1>/g;

/** Parses the mailboxes of an address field's unfolded value. Entries without an address, such as an empty group, are skipped. */
export function parseAddressList(value: string): AddressList {
  const repaired = withQuotedNames(withClosedBrackets(withPlainBrackets(withClosedQuotes(value))));
  const addresses = readMailboxes(value, repaired);
  // Seen: `Ann <ann@example.com, bo@example.com>`.
  for (const mailbox of addresses) mailbox.address = mailbox.address.replace(/>{1,10}$/, '');
  return { text: storableText(decodeEncodedWords(value)), addresses };
}

/**
 * Parses a From field. Repairs may change names, but no addresses: the author that is shown must be the one that DMARC checks, which reads
 * the field as it is.
 */
function parseAuthors(value: string): AddressList {
  const repaired = parseAddressList(value);
  const addresses = readMailboxes(value, withPlainBrackets(withClosedQuotes(value)));
  const isSame =
    addresses.length === repaired.addresses.length &&
    addresses.every(({ address }, at) => address === repaired.addresses[at]?.address);
  return isSame ? repaired : { ...repaired, addresses };
}

/** Reads the mailboxes of a value after its repairs. */
function readMailboxes(value: string, repaired: string): Mailbox[] {
  const mailboxes: Mailbox[] = [];
  const namedAfterAddress = new Set(Array.from(value.matchAll(ADDRESS_AS_NAME), ([, address]) => address));
  for (const entry of addressparser(repaired, { flatten: true })) {
    if (mailboxes.length === MAX_MAILBOXES) break;
    const address = storableText(entry.address.trim());
    const written = storableText(decodeEncodedWords(entry.name)).replace(/\s+/g, ' ').trim();
    if (address === '') {
      // A single word is the local-part of a mailbox on the sender's machine (seen: `To: martin`, `To: rg>`).
      const local = LOCAL_PART.exec(written)?.[1];
      if (local !== undefined) mailboxes.push({ name: null, address: local });
      continue;
    }
    // The address parser drops a name that repeats the address.
    const name = written === '' && namedAfterAddress.has(address) ? address : written;
    mailboxes.push({ name: name === '' ? null : name, address });
  }
  return mailboxes;
}

/** Seen: `"Ann <ann@example.com>`. Of an odd number of quotes the last one is left out, so that it does not hide the address. */
function withClosedQuotes(value: string): string {
  if (!value.includes('"') || value.replace(/\\./gs, '').split('"').length % 2 === 1) return value;
  const last = value.lastIndexOf('"');
  return /^[^"]*<[^<>\s]{1,320}>/.test(value.slice(last + 1)) ? value.slice(0, last) + value.slice(last + 1) : value;
}

/** Seen: `Ann <<ann@example.com>>`, `Ann <mailto:ann@example.com>`. */
function withPlainBrackets(value: string): string {
  if (!/<(?:<|mailto:)/i.test(value)) return value;
  return replaceUnquoted(value, (piece) => piece.replace(/<{1,2}(?:mailto:)?([^<>\s]{1,320})>{1,2}/gi, '<$1>'));
}

/** Seen: `<Ann Lee <ann@example.com>`, `Ann <ann@example.com, Bo <bo@example.com>`. */
function withClosedBrackets(value: string): string {
  if (!value.includes('<')) return value;
  return replaceUnquoted(value, (piece) =>
    piece
      .replace(/<(?=[^<>@,;]{1,200}<)/g, '')
      .replace(/<([^<>\s@,;]{1,64}@[^<>\s,;]{1,255})(?=\s{0,10}(?:[,;]|$))/g, '<$1>'),
  );
}

/** Replaces what is not within quotes, piece by piece. */
function replaceUnquoted(value: string, replace: (piece: string) => string): string {
  let replaced = '';
  let at = 0;
  for (let quote = value.indexOf('"'); quote !== -1; quote = value.indexOf('"', at)) {
    const end = endOfQuotes(value, quote);
    if (end === -1) break;
    replaced += replace(value.slice(at, quote)) + value.slice(quote, end);
    at = end;
  }
  return replaced + replace(value.slice(at));
}

/** Returns the position behind the quotes that begin there; -1 when they have no end. */
function endOfQuotes(value: string, start: number): number {
  for (let at = start + 1; at < value.length; at++) {
    if (value[at] === '"') return at + 1;
    if (value[at] === '\\') at++;
  }
  return -1;
}

/** Commas that a name without quotes may have. */
const MAX_COMMAS = 3;

/**
 * Puts names into quotes that need them and have none: `Smith, John <john@example.com>`, `News: all of it <news@example.com>`,
 * `me @ home <me@example.com>`. A value with a semicolon has groups.
 */
function withQuotedNames(value: string): string {
  if (!value.includes('<') || value.includes(';') || !mayNeedQuotes(value)) return value;
  const entries = splitEntries(value);
  const fixed: string[] = [];
  let words: string[] = [];
  for (const entry of entries) {
    if (!/[<>"@:]/.test(entry) && entry.trim() !== '' && words.length < MAX_COMMAS) {
      words.push(entry);
      continue;
    }
    const { name, address } = splitNamed(entry);
    const isName = words.length > 0 || name.includes('@') || (name.includes(':') && entries.length === 1);
    if (name !== '' && isName)
      fixed.push(
        `"${[...words, name]
          .map((part) => part.trim())
          .join(', ')
          .replace(/[\\"]/g, '\\$&')}" ${address}`,
      );
    else fixed.push(...words, entry);
    words = [];
  }
  return [...fixed, ...words].join(',');
}

function mayNeedQuotes(value: string): boolean {
  const sign = value.indexOf('@');
  return /[,:]/.test(value) || (sign !== -1 && value.includes('<', sign));
}

/** Splits an entry into a name without quotes and the address in brackets behind it; both are empty when it is none. */
function splitNamed(entry: string): { name: string; address: string } {
  const text = entry.trim();
  const open = text.indexOf('<');
  const name = text.slice(0, Math.max(open, 0)).trim();
  const inside = text.slice(open + 1, -1);
  const isNamed = open > 0 && text.endsWith('>') && !/[<>]/.test(inside) && !/[>"]/.test(name);
  return isNamed && inside.slice(1, -1).includes('@') ? { name, address: text.slice(open) } : { name: '', address: '' };
}

/** Splits a list at its commas outside of quotes, comments and brackets. */
function splitEntries(value: string): string[] {
  const entries: string[] = [];
  let isQuoted = false;
  let depth = 0;
  let start = 0;
  for (let at = 0; at < value.length; at++) {
    const character = value[at];
    if (character === '\\') at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === '(' || character === '<') depth++;
    else if (character === ')' || character === '>') depth = Math.max(0, depth - 1);
    else if (character === ',' && depth === 0) {
      entries.push(value.slice(start, at));
      start = at + 1;
    }
  }
  return [...entries, value.slice(start)];
}

/**
 * Returns `news` for `ann+news@example.com` (RFC 5233, subaddress); null when the address has no tag. Mail to it is received for
 * `ann@example.com`. A quoted local-part has no tag.
 */
export function readPlusTag(address: string): string | null {
  const localPart = address.slice(0, address.lastIndexOf('@'));
  const plus = localPart.startsWith('"') ? -1 : localPart.indexOf('+');
  return plus > 0 && plus < localPart.length - 1 ? localPart.slice(plus + 1) : null;
}
