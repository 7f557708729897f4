import type { Transaction } from 'kysely';
import { EMAIL_STATUSES as storedStatuses } from '../../core/emails/email-status.ts';
import type { AddressFields } from '../../core/mime/address.ts';
import type { SpamChoice } from '../../core/screening/spam-check.ts';
import { requireRankedWords } from '../../core/search/relevance.ts';
import type { RelevanceCursor } from '../../core/search/relevance-cursor.ts';
import { MAX_QUERY_LENGTH, refused } from '../../core/search/search-query.ts';
import type { StemLanguage } from '../../core/search/word-stem.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import type { Database } from '../../db/connection/database.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import * as finds from '../../db/queries/emails/email-find.ts';
import * as lists from '../../db/queries/emails/email-list.ts';
import {
  type ContentPart,
  type EmailParts,
  findContentParts,
  type PartSizes,
} from '../../db/queries/emails/email-parts.ts';
import * as reads from '../../db/queries/emails/email-read.ts';
import type { EmailContent, EmailSummary } from '../../db/queries/emails/email-row.ts';
import type { EmailSearch } from '../../db/queries/emails/email-search.ts';
import { findRawSizes } from '../../db/queries/emails/raw-bytes.ts';
import { emailNotFound, invalid, isValidId, type OperationContext } from '../context.ts';
import { prepareListSearch, prepareSearch } from '../search/prepare-search.ts';
import { type EmailDetails, withTexts } from './html-text.ts';
import { loadOnceParsed, waitUntilParsed } from './pending-emails.ts';

export type { EmailContent, EmailSummary } from '../../db/queries/emails/email-row.ts';

export const EMAIL_TYPES = ['all', 'sent', 'received', 'scheduled'] as const;
export const EMAIL_STATUSES = [
  'all',
  'delivered',
  'pending',
  ...lists.SENDING_STATES,
  'failed',
  'bounced',
  'scheduled',
  'cancelled',
  'paused',
  'awaiting_approval',
  'rejected',
  'unread',
  'read',
  'archived',
  'blocked',
] as const;
export const TIME_RANGES = ['1h', '24h', '7d', '30d', '90d', 'all'] as const;
/** Characters of a search text, for lists without operators. */
export const MAX_SEARCH_LENGTH = 100;

/** Filters of a list of emails; omitted filters match all. */
export interface EmailQuery {
  type?: (typeof EMAIL_TYPES)[number] | undefined;
  /**
   * unread, read, archived and blocked (held by a guard rule, or for review) match received mail only; queued, deferred and complained
   * sent mail only
   */
  status?: (typeof EMAIL_STATUSES)[number] | undefined;
  /** matches received mail by its archived flag */
  isArchived?: boolean | undefined;
  /** matches test mail, or all other mail */
  isTest?: boolean | undefined;
  /** true: mail in the trash, which is left out otherwise */
  isTrashed?: boolean | undefined;
  /** mail in the folder Spam and in quarantine: with other mail, or alone; it is left out otherwise */
  spam?: SpamChoice | undefined;
  /** 30d when omitted */
  timeRange?: (typeof TIME_RANGES)[number] | undefined;
  /** id or name */
  domain?: string | undefined;
  /** id or address */
  address?: string | undefined;
  /** words, which also match as parts of subject, sender and recipients, and operators (docs/search.md) */
  search?: string | undefined;
  /** words also match other forms of the language */
  language?: StemLanguage | undefined;
}

/** Filters of lists with cursors. */
export interface EmailSearchQuery extends EmailQuery {
  /** words and operators (docs/search.md), of any age when timeRange is omitted; excludes `search` */
  words?: string | undefined;
}

export type Email = EmailSummary & EmailContent;
export type { EmailDetails };

export interface EmailPage {
  /** newest first */
  emails: EmailSummary[];
  /** the address fields of each email; null when its content is gone */
  addresses: (AddressFields | null)[];
  /** exact, of all pages */
  total: number;
  hasMore: boolean;
}

/** Returns a page by offset. */
export async function listEmails(context: OperationContext, query: EmailQuery, page: Page): Promise<EmailPage> {
  const conditions = await makeConditions(context, query);
  return asWorkspace(context.database, context.workspaceId, async (transaction) => {
    const { emails, total } = await lists.listEmails(transaction, context.workspaceId, conditions, page);
    const addresses = await loadAddressFields(transaction, context.workspaceId, emails);
    return { emails, addresses, total, hasMore: page.offset + emails.length < total };
  });
}

/**
 * Returns how many emails match the query but are older than its time range; null when the range has no limit. For an empty page, where the
 * range surprises.
 */
export async function countOlder(context: OperationContext, query: EmailQuery): Promise<number | null> {
  if (query.timeRange === 'all') return null;
  return countEmails(context, { ...query, timeRange: 'all' });
}

/** Returns the page after or before an email. Throws validation when the user has no such email. */
export async function listEmailsBeside(
  context: OperationContext,
  query: EmailQuery,
  page: { side: 'after' | 'before'; emailId: string; limit: number },
): Promise<EmailPage> {
  const { database, workspaceId } = context;
  const { side, emailId, limit } = page;
  const conditions = await makeConditions(context, query);
  return asWorkspace(database, workspaceId, async (transaction) => {
    const [email] = isValidId(emailId) ? await lists.findEmails(transaction, workspaceId, [emailId]) : [];
    if (email === undefined) throw invalid('Invalid cursor', side);
    const places = { after: null, before: null, [side]: { at: email.createdAt, id: email.id } };
    const isInverted = side === 'before';
    const found = await lists.pageEmails(transaction, workspaceId, conditions, {
      ...places,
      isInverted,
      limit: limit + 1,
    });
    const emails = isInverted ? found.slice(0, limit).toReversed() : found.slice(0, limit);
    return {
      emails,
      addresses: await loadAddressFields(transaction, workspaceId, emails),
      total: await lists.countEmails(transaction, workspaceId, conditions),
      hasMore: found.length > limit,
    };
  });
}

/** A page by offset, or beside an email. */
export interface RankedPage extends Page {
  beside: { side: 'after' | 'before'; emailId: string } | null;
}

/**
 * Returns a page of found emails, most relevant first, by the words of `search`. The newest MAX_RANKED that match are ranked. Throws validation
 * for a search without words, and for an email that is not among them.
 */
export async function listEmailsByRelevance(
  context: OperationContext,
  { search, timeRange = '30d', ...query }: EmailQuery,
  { limit, offset, beside }: RankedPage,
): Promise<EmailPage> {
  const words: EmailSearchQuery = { ...query, timeRange, words: search };
  const all = { after: null, before: null, isInverted: false };
  const most = beside === null ? offset + limit + 1 : Number.MAX_SAFE_INTEGER;
  const ranked = await pageEmailsByRelevance(context, words, { ...all, limit: most });
  const place = beside === null ? -1 : ranked.findIndex(({ id }) => id === beside.emailId);
  if (beside !== null && place === -1) throw invalid('Invalid cursor', beside.side);
  const isBefore = beside?.side === 'before';
  const from = beside === null ? offset : isBefore ? Math.max(0, place - limit) : place + 1;
  const found = ranked.slice(from, isBefore ? place : from + limit);
  return {
    emails: found,
    addresses: await asWorkspace(context.database, context.workspaceId, (transaction) =>
      loadAddressFields(transaction, context.workspaceId, found),
    ),
    total: await countEmails(context, words),
    hasMore: isBefore ? from > 0 : ranked.length > from + limit,
  };
}

/** Returns a page of emails, newest first; inverted: oldest first. */
export async function pageEmails(
  context: OperationContext,
  query: EmailSearchQuery,
  page: KeysetPage,
): Promise<EmailSummary[]> {
  const { database, workspaceId } = context;
  const search = await prepareEmailSearch(context, query);
  if (search !== null)
    return asWorkspace(database, workspaceId, (transaction) =>
      finds.pageFoundEmails(transaction, workspaceId, search, page),
    );
  const conditions = await makeConditions(context, query);
  return asWorkspace(database, workspaceId, (transaction) =>
    lists.pageEmails(transaction, workspaceId, conditions, page),
  );
}

/**
 * Returns a page of found emails, most relevant first; inverted: last. The newest MAX_RANKED that match are ranked. Throws validation for a search
 * without words.
 */
export async function pageEmailsByRelevance(
  context: OperationContext,
  query: EmailSearchQuery,
  page: KeysetPage<RelevanceCursor>,
): Promise<finds.RankedEmail[]> {
  const { database, workspaceId } = context;
  const search = await prepareEmailSearch(context, query);
  requireRankedWords(search?.terms ?? []);
  if (search === null) return [];
  return asWorkspace(database, workspaceId, (transaction) =>
    finds.rankFoundEmails(transaction, workspaceId, search, page),
  );
}

export async function countEmails(context: OperationContext, query: EmailSearchQuery): Promise<number> {
  const { database, workspaceId } = context;
  const search = await prepareEmailSearch(context, query);
  if (search !== null)
    return asWorkspace(database, workspaceId, (transaction) =>
      finds.countFoundEmails(transaction, workspaceId, search),
    );
  const conditions = await makeConditions(context, query);
  return asWorkspace(database, workspaceId, (transaction) => lists.countEmails(transaction, workspaceId, conditions));
}

/** Returns null when the query has no words or operators. */
async function prepareEmailSearch(context: OperationContext, query: EmailSearchQuery): Promise<EmailSearch | null> {
  const terms = await prepareSearch(context, query.words ?? '', query.language);
  if (terms.length === 0) return null;
  if (query.search !== undefined) throw refused('Use either a search with words or `search`, not both');
  if (toSendingState(query.status) !== null)
    throw refused(`A search with words cannot be limited to ${query.status ?? ''} mail`);
  if (query.isTest !== undefined) throw refused('A search with words cannot be limited to test mail');
  if (query.spam === 'include')
    throw refused('A search with words finds mail in Spam with `spam` `only`, or other mail');
  return { terms, conditions: await makeConditions(context, { ...query, timeRange: query.timeRange ?? 'all' }) };
}

/** Returns an email. Waits for one that SMTP accepted a moment ago. Throws not_found, and unavailable while it is still being parsed. */
export function readEmail(context: OperationContext, emailId: string): Promise<EmailDetails> {
  return waitUntilParsed(context, [emailId], async () => {
    const [email = null] = await readEmails(context, [emailId]);
    if (email === null) throw emailNotFound();
    return email;
  });
}

/** Like `readEmail`, for received mail only: other mail is not found. */
export async function readReceivedEmail(context: OperationContext, emailId: string): Promise<EmailDetails> {
  const email = await readEmail(context, emailId);
  if (email.type !== 'received') throw emailNotFound();
  return email;
}

/** Returns one email per id as it is now, null where the user has none. One statement for all but large ones. */
export async function readEmails(
  context: OperationContext,
  emailIds: readonly string[],
): Promise<(EmailDetails | null)[]> {
  const { database, workspaceId, room } = context;
  const asked = emailIds.filter(isValidId);
  if (asked.length === 0) return emailIds.map(() => null);
  const byId = await asWorkspace(database, workspaceId, (transaction) =>
    reads.readBoundedEmails(transaction, workspaceId, asked, MAX_BODIES_AT_ONCE),
  );
  const emails: (EmailDetails | null)[] = [];
  for (const id of emailIds) {
    let email = byId.get(id) ?? null;
    if (email !== null && 'bodyBytes' in email)
      email = await room.load(email.bodyBytes, () =>
        asWorkspace(database, workspaceId, (transaction) => reads.readEmail(transaction, workspaceId, id)),
      );
    emails.push(email === null ? null : await withTexts(workspaceId, email));
  }
  const shown = emails.filter((email) => email !== null).map(({ id }) => id);
  context.noteReads?.(context, shown);
  return emails;
}

/** Bodies up to this size are read together with the rest of an email; larger ones once there is room for them. Bytes. */
const MAX_BODIES_AT_ONCE = 262_144;

/** Returns one email per id as it is now, null where the user has none. */
export async function loadEmails(
  context: OperationContext,
  emailIds: readonly string[],
): Promise<(EmailSummary | null)[]> {
  const { database, workspaceId } = context;
  const asked = emailIds.filter(isValidId);
  if (asked.length === 0) return emailIds.map(() => null);
  const emails = await asWorkspace(database, workspaceId, (transaction) =>
    lists.findEmails(transaction, workspaceId, asked),
  );
  const byId = new Map(emails.map((email) => [email.id, email]));
  return emailIds.map((id) => byId.get(id) ?? null);
}

/** Like loadEmails, but waits for emails that SMTP accepted a moment ago; an error for each that is still being parsed then. */
export function openEmails(
  context: OperationContext,
  emailIds: readonly string[],
): Promise<(EmailSummary | UserError | null)[]> {
  return loadOnceParsed(context, emailIds, (ids) => loadEmails(context, ids));
}

/** Like openEmails for one email. Throws not_found, and unavailable while it is still being parsed. */
export async function openEmail(context: OperationContext, emailId: string): Promise<EmailSummary> {
  const [email = null] = await openEmails(context, [emailId]);
  if (email === null) throw emailNotFound();
  if (email instanceof UserError) throw email;
  return email;
}

/** Returns the content of each email without its bodies, null where there is none yet. */
export async function loadOutlines(
  context: OperationContext,
  emailIds: readonly string[],
): Promise<(EmailContent | null)[]> {
  const found = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    reads.findOutlines(transaction, context.workspaceId, emailIds.filter(isValidId)),
  );
  return emailIds.map((id) => found.get(id) ?? null);
}

/** Returns the address fields of each email; null where its content is gone. */
async function loadAddressFields(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emails: readonly EmailSummary[],
): Promise<(AddressFields | null)[]> {
  if (emails.length === 0) return [];
  const ids = emails.map(({ id }) => id);
  const found = await reads.findAddresses(transaction, workspaceId, ids);
  return ids.map((id) => found.get(id) ?? null);
}

const RANGE_HOURS = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24, '90d': 90 * 24 };

async function makeConditions(context: OperationContext, query: EmailQuery): Promise<lists.EmailConditions> {
  const {
    type = 'all',
    status = 'all',
    timeRange = '30d',
    isArchived = null,
    isTest = null,
    isTrashed = false,
    spam,
    domain,
    address,
    search,
  } = query;
  if (search !== undefined && search.length > MAX_QUERY_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_QUERY_LENGTH} characters`, 'search');
  if (spam !== undefined && isTrashed)
    throw invalid('`spam` cannot be combined with `trashed`. Use one of them.', 'spam');
  const flags = toFlags(status, isArchived);
  const range = {
    since: timeRange === 'all' ? null : new Date(context.now().getTime() - RANGE_HOURS[timeRange] * 3_600_000),
    isTest,
    isTrashed,
    ...(spam === undefined ? {} : { spam }),
    domain: domain ?? null,
    address: address ?? null,
    search: await prepareListSearch(context, search ?? '', query.language),
  };
  if (flags === null) {
    const isOfStatus = { isRead: null, isArchived, isHeld: false, sending: toSendingState(status) };
    return { ...range, ...isOfStatus, type: type === 'all' ? null : type, status: toStoredStatus(status) };
  }
  // Only received mail has these flags, so other types match nothing.
  const isNone = type !== 'all' && type !== 'received';
  return { ...range, ...flags, type: 'received', status: isNone ? 'paused' : null };
}

type Flags = Pick<lists.EmailConditions, 'isArchived' | 'isRead' | 'isHeld'>;

/**
 * Returns the flags that a status means; null when it is a stored status. `unread` leaves out archived mail unless
 * asked for.
 */
function toFlags(status: (typeof EMAIL_STATUSES)[number], isArchived: boolean | null): Flags | null {
  if (status === 'archived') return { isRead: null, isArchived: true, isHeld: false };
  if (status === 'blocked') return { isRead: null, isArchived, isHeld: true };
  if (status === 'unread') return { isRead: false, isArchived: isArchived ?? false, isHeld: false };
  return status === 'read' ? { isRead: true, isArchived, isHeld: false } : null;
}

function toStoredStatus(status: (typeof EMAIL_STATUSES)[number]): lists.EmailConditions['status'] {
  return storedStatuses.find((stored) => stored === status) ?? null;
}

function toSendingState(status: EmailQuery['status']): lists.SendingState | null {
  return lists.SENDING_STATES.find((state) => state === status) ?? null;
}

export type { ContentPart, EmailParts, PartSizes } from '../../db/queries/emails/email-parts.ts';

/** Parts that show what an email says. */
const TEXTS: readonly ContentPart[] = ['text', 'html', 'cleanedText', 'cleanedHtml'];

/**
 * Returns the given content parts of each email; null where the user has no such email or it has no content yet. `checkSizes` is called
 * before large parts are loaded. Throws what it and ResponseRoom.load throw.
 */
export async function loadContentParts(
  context: OperationContext,
  emailIds: readonly string[],
  parts: ReadonlySet<ContentPart>,
  checkSizes: (sizes: PartSizes) => void = () => undefined,
): Promise<(EmailParts | null)[]> {
  const { database, workspaceId, room } = context;
  const read = (source: Database, maxBytes: number) =>
    asWorkspace(source, workspaceId, (transaction) =>
      findContentParts(transaction, workspaceId, { emailIds: emailIds.filter(isValidId), parts, maxBytes }),
    );
  let found = await read(database, MAX_BODIES_AT_ONCE);
  if (!(found instanceof Map)) {
    checkSizes(found);
    // On a connection of its own, which holds up no other read of the request, and whose results are not counted twice.
    const { reading: _, ...own } = database;
    found = await room.load(found.bytes, () => read(own, Number.MAX_SAFE_INTEGER));
  }
  const contents = found;
  if (TEXTS.some((part) => parts.has(part)))
    context.noteReads?.(
      context,
      emailIds.filter((id) => contents instanceof Map && contents.has(id)),
    );
  return emailIds.map((id) => (contents instanceof Map ? (contents.get(id) ?? null) : null));
}

/** Returns the size of each raw message in bytes; null where it is gone or the user has no such email. */
export async function loadSizes(
  { database, workspaceId }: OperationContext,
  emailIds: readonly string[],
): Promise<(number | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    findRawSizes(transaction, workspaceId, emailIds.filter(isValidId)),
  );
  return emailIds.map((id) => found.get(id) ?? null);
}
