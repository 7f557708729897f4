import { canonicalDomainName } from '../domains/domain-name.ts';
import { DAY_MS } from '../shared/durations.ts';
import { UserError } from '../shared/errors.ts';
import { labelKey, normalizeLabel } from '../threads/label.ts';
import { countErrors } from './near-words.ts';
import { splitWords } from './search-words.ts';
import type { WordStem } from './word-stem.ts';

/** Maximum length of a search with operators; UTF-16 units. */
export const MAX_QUERY_LENGTH = 500;
/** Maximum words, phrases and operators of a search. */
const MAX_QUERY_TERMS = 20;

/** Consecutive words of an email. */
export interface SearchedWords {
  kind: 'words';
  place: 'anywhere' | 'subject' | 'from' | 'to';
  /** in order, at least one; see core/search/search-words.ts */
  words: string[];
  /** false: the last word may be a prefix */
  isWhole: boolean;
  /** of the only word, when words of its stem are wanted as well; see core/search/word-stem.ts */
  stem?: WordStem | null;
}

/** A condition of a search; an email must match all of them. */
export type SearchTerm = (
  | SearchedWords
  /** domain of the sender, a recipient or the user's own address; canonical */
  | { kind: 'domain'; name: string }
  /** label of the email's thread, in its comparison form */
  | { kind: 'label'; key: string }
  /** created before an instant, or not before it */
  | { kind: 'before' | 'after'; at: Date }
  | { kind: 'flag'; flag: SearchFlag }
  | AssignedTerm
  | UnreadByTerm
) & { isNegated: boolean };

/** Who works on the email's thread. */
interface AssignedTerm {
  kind: 'assigned';
  /** `me`, `none`, or the address of a member in lower case */
  to: string;
  /** the member; null: none; absent until operations/search/prepare-search.ts has looked the member up */
  personId?: string | null;
}

/** The email's thread has something that the person of the request has not read. */
interface UnreadByTerm {
  kind: 'unreadBy';
  /** the person; absent until operations/search/prepare-search.ts has filled it in */
  personId?: string;
}

/** unread, read, archived and inbox match received mail only. Without trashed, no mail in the trash is found. */
type SearchFlag =
  | 'unread'
  | 'read'
  | 'archived'
  | 'inbox'
  | 'sent'
  | 'received'
  | 'scheduled'
  | 'attachment'
  | 'snoozed'
  | 'trashed';

/**
 * Parses a search with operators (docs/search.md). Words without a letter or digit are ignored. Throws validation for a value that its
 * operator does not accept, for an operator of other services that is not supported here, and for a search that is too long.
 */
export function parseSearch(text: string, now: Date): SearchTerm[] {
  if (text.length > MAX_QUERY_LENGTH)
    throw refused(`A search must not be longer than ${MAX_QUERY_LENGTH} characters; this one has ${text.length}`);
  const pieces = listPieces(text);
  if (pieces.length > MAX_QUERY_TERMS)
    throw refused(
      `A search must not have more than ${MAX_QUERY_TERMS} words and operators; this one has ${pieces.length}`,
    );
  return pieces.map((piece) => findTerm(piece, now)).filter((term) => term !== null);
}

/** The search of a list that also finds parts of subjects and addresses. */
export interface ListSearch {
  /** found as a part of the subject or an address; null: the search has operators, and its terms alone decide */
  part: string | null;
  /** found as in parseSearch; empty: the part alone decides */
  terms: SearchTerm[];
}

/**
 * Parses the search of a list: plain words find parts of subjects and addresses as well as what a search finds; operators, phrases and
 * negated words find only the latter. Null for an empty text. Throws what parseSearch throws.
 */
export function parseListSearch(text: string, now: Date): ListSearch | null {
  const part = text.trim();
  if (part === '') return null;
  const pieces = listPieces(part);
  const isPlain = pieces.every(
    ({ operator, isNegated, isQuoted, value }) => operator === null && !isQuoted && (!isNegated || value === ''),
  );
  if (isPlain && (pieces.length > MAX_QUERY_TERMS || part.length > MAX_QUERY_LENGTH)) return { part, terms: [] };
  const terms = parseSearch(part, now);
  return { part: isPlain || terms.length === 0 ? part : null, terms };
}

/** Returns the error of an invalid search, for the field `search`. */
export function refused(message: string): UserError {
  return new UserError('validation', message, { details: [{ field: 'search', message }] });
}

interface Piece {
  isNegated: boolean;
  /** null: words */
  operator: string | null;
  value: string;
  isQuoted: boolean;
}

const OPERATORS = [
  'from',
  'to',
  'subject',
  'domain',
  'label',
  'assigned',
  'unread',
  'before',
  'after',
  'has',
  'is',
  'in',
] as const;
type Operator = (typeof OPERATORS)[number];
/** Operators of other mail services, which would otherwise be searched for as words. */
const UNKNOWN_OPERATORS: readonly string[] =
  'bcc cc category deliveredto filename larger larger_than newer newer_than older older_than rfc822msgid smaller smaller_than'.split(
    ' ',
  );

/** Splits the text at white space outside quotes. An unclosed quote extends to the end of the text. */
function listPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at++;
      continue;
    }
    const isNegated = text[at] === '-';
    if (isNegated) at++;
    const operator = operatorAt(text, at);
    if (operator !== null) at += operator.length + 1;
    const isQuoted = text[at] === '"';
    const found = isQuoted ? text.indexOf('"', at + 1) : nextSpace(text, at);
    const end = found === -1 ? text.length : found;
    const value = text.slice(isQuoted ? at + 1 : at, end);
    pieces.push({ isNegated, operator: operator?.toLowerCase() ?? null, value, isQuoted });
    at = isQuoted ? end + 1 : end;
  }
  return pieces;
}

function operatorAt(text: string, at: number): string | null {
  NAME.lastIndex = at;
  const name = NAME.exec(text)?.[1];
  if (name === undefined) return null;
  const lower = name.toLowerCase();
  return isOperator(lower) || UNKNOWN_OPERATORS.includes(lower) ? name : null;
}

const NAME = /([a-z0-9_]{2,12}):/iy;

function nextSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  return SPACE.exec(text)?.index ?? -1;
}

const SPACE = /\s/g;

function isOperator(name: string): name is Operator {
  return (OPERATORS as readonly string[]).includes(name);
}

function findTerm({ operator, value, isQuoted, isNegated }: Piece, now: Date): SearchTerm | null {
  if (operator === null) {
    const mistyped = isQuoted ? null : mistypedOperator(value);
    if (mistyped !== null) throw refused(mistyped);
    const words = splitWords(value);
    return words.length === 0 ? null : { kind: 'words', place: 'anywhere', words, isWhole: isQuoted, isNegated };
  }
  if (!isOperator(operator))
    throw refused(
      `${operator}: is not a search operator. Operators are ${OPERATORS.map((name) => `${name}:`).join(' ')}`,
    );
  if (value.trim() === '') throw refused(`${operator}: needs a value directly after it: ${TAKEN[operator]}`);
  const term = findValue(operator, value.trim(), isQuoted, now);
  if (term === null) {
    const meant = nearestFlag(operator, value.trim().toLowerCase());
    throw refused(
      `${operator}: does not take ${JSON.stringify(shortened(value))}. It takes ${TAKEN[operator]}${
        meant === null ? '' : `. Did you mean ${operator}:${meant}?`
      }`,
    );
  }
  return { ...term, isNegated };
}

/** Returns what to say of a word before a colon that is one letter, or two swapped ones, from an operator; null: it is text. */
function mistypedOperator(value: string): string | null {
  const name = /^([a-z]{4,12}):(?=[^\s/:])/i.exec(value)?.[1]?.toLowerCase();
  if (name === undefined) return null;
  const meant = OPERATORS.find((operator) => operator.length > 3 && countErrors(operator, name, 1) === 1);
  if (meant === undefined) return null;
  return `${name}: is not a search operator. Did you mean ${meant}:? To search for the words, write them in quotes: "${shortened(value)}"`;
}

const TAKEN: Readonly<Record<Operator, string>> = {
  from: 'a name, an address or part of one, such as from:ann@example.com',
  to: 'a name, an address or part of one, such as to:ann@example.com',
  subject: 'words, such as subject:invoice or subject:"annual report"',
  domain: 'a domain name, such as domain:example.com',
  label: 'a label, such as label:urgent or label:"to do"',
  assigned: 'me, none, or the address of a member, such as assigned:ann@example.com',
  unread: 'me',
  before: 'a date such as 2026-01-31, a time such as 2026-01-31T10:00:00Z, or an age such as 7d (12h, 7d, 4w, 1y)',
  after: 'a date such as 2026-01-31, a time such as 2026-01-31T10:00:00Z, or an age such as 7d (12h, 7d, 4w, 1y)',
  has: 'attachment',
  is: 'unread, read, archived or snoozed',
  in: 'inbox, archive, sent, received, scheduled or trash',
};

/** The flags, by operator and its word. */
const FLAGS: Readonly<Record<'has' | 'is' | 'in', Readonly<Record<string, SearchFlag>>>> = {
  has: { attachment: 'attachment', attachments: 'attachment' },
  is: { unread: 'unread', read: 'read', archived: 'archived', snoozed: 'snoozed' },
  in: {
    inbox: 'inbox',
    archive: 'archived',
    sent: 'sent',
    received: 'received',
    scheduled: 'scheduled',
    trash: 'trashed',
  },
};

/** Changed, added, missing and swapped letters with which a word still counts as mistyped. */
const MAX_TYPOS = 2;

/** Returns the value of `has:`, `is:` or `in:` that was probably meant; null: none is near. */
function nearestFlag(operator: Operator, value: string): string | null {
  if (operator !== 'has' && operator !== 'is' && operator !== 'in') return null;
  const near = Object.keys(FLAGS[operator])
    .map((word) => ({ word, errors: countErrors(word, value, MAX_TYPOS) ?? Infinity }))
    .filter(({ errors }) => errors <= MAX_TYPOS);
  return near.toSorted((one, other) => one.errors - other.errors)[0]?.word ?? null;
}

type Bare<T> = T extends unknown ? Omit<T, 'isNegated'> : never;

function findValue(operator: Operator, value: string, isQuoted: boolean, now: Date): Bare<SearchTerm> | null {
  switch (operator) {
    case 'from':
    case 'to':
    case 'subject': {
      const words = splitWords(value);
      return words.length === 0 ? null : { kind: 'words', place: operator, words, isWhole: isQuoted };
    }
    case 'domain': {
      const name = canonicalDomainName(value.replace(/^@/, ''));
      return name === null ? null : { kind: 'domain', name };
    }
    case 'label': {
      const label = normalizeLabel(value);
      return label === null ? null : { kind: 'label', key: labelKey(label) };
    }
    case 'assigned': {
      const to = value.toLowerCase();
      return to === 'me' || to === 'none' || /^[^\s@]+@[^\s@]+$/.test(to) ? { kind: 'assigned', to } : null;
    }
    case 'unread':
      return value.toLowerCase() === 'me' ? { kind: 'unreadBy' } : null;
    case 'before':
    case 'after': {
      const at = findInstant(value, now);
      return at === null ? null : { kind: operator, at };
    }
    case 'has':
    case 'is':
    case 'in': {
      const name = value.toLowerCase();
      const flags = FLAGS[operator];
      const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
      return flag === undefined ? null : { kind: 'flag', flag };
    }
  }
}

const AGE_MS = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS, y: 365 * DAY_MS };
const AGE = /^(\d{1,4})([hdwy])$/i;
const DAY = /^([1-9]\d{3})([-/])(\d{2})\2(\d{2})$/;
const INSTANT = /^([1-9]\d{3}-\d{2}-\d{2})[Tt](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+-]\d{2}:\d{2})?$/;

/**
 * Parses an instant. A date is its beginning in UTC; a time without an offset is UTC. Null for anything else, or for years outside 1000
 * to 9999.
 */
function findInstant(value: string, now: Date): Date | null {
  const [, count, unit] = AGE.exec(value) ?? [];
  if (unit !== undefined) {
    const at = new Date(now.getTime() - Number(count) * AGE_MS[unit.toLowerCase() as keyof typeof AGE_MS]);
    return at.getTime() > 0 ? at : new Date(0);
  }
  const [, year, , month, day] = DAY.exec(value) ?? [];
  if (day !== undefined) return realDay(`${year}-${month}-${day}`);
  const [, date, time, offset = 'Z'] = INSTANT.exec(value) ?? [];
  if (date === undefined || realDay(date) === null) return null;
  const at = new Date(`${date}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** Returns null for a day that does not exist, such as February 30. */
function realDay(date: string): Date | null {
  const at = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== date ? null : at;
}

function shortened(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60).toWellFormed()}…` : value;
}
