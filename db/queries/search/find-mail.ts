import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { SearchTerm } from '../../../core/search/search-query.ts';
import { wordQuery } from '../../../core/search/word-query.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { type FoundEmail, inOrder, MailMatches, type MatchRange } from './mail-matches.ts';
import { findTimeSpan, isOfIndexedThreads, type SearchConditions, searchPage, searchQuery } from './search-sql.ts';
import { SegmentDamage } from './word-segment.ts';

/*
 * Searches of emails and threads with words. Words are looked up in segments (mail-matches.ts), all other conditions by SQL
 * (search-functions.sql). Neither side alone is fast for every search: where an index of emails or threads leaves few, their words are
 * looked up; else the conditions are checked for the emails with the words, newest first, until the page is full.
 */

/** A search of an account with words. */
export interface WordSearch {
  workspaceId: string;
  terms: readonly SearchTerm[];
  conditions: SearchConditions;
}

/** Maximum emails or threads that each step takes. */
export interface FindBounds {
  /** of the list of an address, whose conditions are read without words */
  near: number;
  /** found by an index or by words, to be read at once */
  few: number;
  /** checked first of what was found, and of the list of threads; each further time four times as many */
  first: number;
  /** messages of a thread that are read with it */
  messages: number;
  /** messages of a longer thread of which only the instants are read, at once */
  instants: number;
}

export const FIND_BOUNDS: FindBounds = { near: 500, few: 4_000, first: 64, messages: 80, instants: 20_000 };

/** The page of a search that wants all. */
export const NO_PAGE: KeysetPage = { after: null, before: null, isInverted: false, limit: 0 };

/** Returns the ids of the found emails of the page, in its order. */
export function findMatchingEmails(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage,
  bounds: FindBounds = FIND_BOUNDS,
): Promise<string[]> {
  return withMatches(transaction, search, (matches) => findEmails(transaction, search, matches, page, bounds));
}

async function findEmails(
  transaction: Transaction<Tables>,
  search: WordSearch,
  matches: MailMatches,
  page: KeysetPage,
  bounds: FindBounds,
): Promise<string[]> {
  const range = matchRange(search, page);
  const indexed = await emailsByIndex(transaction, search, bounds);
  if (indexed !== null) {
    const emails = await matches.pick(await pickEmails(transaction, search, indexed));
    return inOrder(emails, range)
      .map(({ id }) => id)
      .slice(0, page.limit);
  }
  const found: string[] = [];
  let rest = range;
  if (search.conditions.ownAddress != null) {
    const { emails, last } = await walkEmails(transaction, search, page, bounds.near);
    found.push(...inOrder(await matches.pick(emails), range).map(({ id }) => id));
    if (last === null || found.length >= page.limit) return found.slice(0, page.limit);
    rest = { ...range, [page.isInverted ? 'before' : 'after']: last };
  }
  let size = bounds.first;
  let group: FoundEmail[] = [];
  const check = async () => {
    const picked = new Set((await pickEmails(transaction, search, group)).map(({ id }) => id));
    found.push(...group.flatMap(({ id }) => (picked.has(id) ? [id] : [])));
    group = [];
    size = Math.min(size * 4, bounds.few);
  };
  for await (const emails of matches.walk(rest, bounds.first)) {
    group.push(...emails);
    if (group.length < size) continue;
    await check();
    if (found.length >= page.limit) return found.slice(0, page.limit);
  }
  if (group.length > 0) await check();
  return found.slice(0, page.limit);
}

/** Returns how many emails the search finds. */
export function countMatchingEmails(transaction: Transaction<Tables>, search: WordSearch): Promise<number> {
  return withMatches(transaction, search, (matches) => countEmails(transaction, search, matches));
}

async function countEmails(
  transaction: Transaction<Tables>,
  search: WordSearch,
  matches: MailMatches,
): Promise<number> {
  if (isWordsOnly(search) && !matches.isLimited) {
    const trashed = await sql<{ id: string; at: number }>`
      select email_id as id, (extract(epoch from created_at) * 1000)::bigint as at from trashed_email
      where workspace_id = ${search.workspaceId}`.execute(transaction);
    return (await matches.count()) - (await matches.pick(trashed.rows)).length;
  }
  let count = 0;
  for await (const emails of matches.walk(matchRange(search, NO_PAGE), FIND_BOUNDS.few))
    count += (await pickEmails(transaction, search, emails)).length;
  return count;
}

/** A thread of which a message was found. */
export interface FoundThread {
  id: string;
  listedAt: Date;
}

/** Returns the ids of the found threads of the page, in its order. */
export async function findMatchingThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage,
  bounds: FindBounds = FIND_BOUNDS,
): Promise<string[]> {
  const found = await findThreads(transaction, search, page, bounds);
  if ('threadIds' in found) return found.threadIds;
  return (await pickThreads(transaction, search, page, found.emails)).map(({ id }) => id);
}

/** Returns a select of the found threads of the page as thread_id, in any order: for the statement that reads them. */
export async function selectMatchingThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage,
  bounds: FindBounds = FIND_BOUNDS,
): Promise<RawBuilder<unknown>> {
  const found = await findThreads(transaction, search, page, bounds);
  return 'threadIds' in found
    ? sql`select i.thread_id from unnest(${found.threadIds}::text[]) i(thread_id)`
    : sql`select p.thread_id from ${pickedThreads(search, page, found.emails)} p`;
}

/** The threads of a page, or all emails that match, whose threads will be picked. */
type FoundThreads = { threadIds: string[] } | { emails: readonly FoundEmail[] };

function findThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage,
  bounds: FindBounds,
): Promise<FoundThreads> {
  return withMatches(transaction, search, (matches) => lookUpThreads(transaction, search, matches, page, bounds));
}

async function lookUpThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  matches: MailMatches,
  page: KeysetPage,
  bounds: FindBounds,
): Promise<FoundThreads> {
  const range = matchRange(search, NO_PAGE);
  const chosen = await threadsByIndex(transaction, search, bounds);
  // Looking up that many matches takes as long as reading the part of the list in which a page is found.
  const emails = chosen === null ? await matches.upTo(bounds.few, range) : null;
  if (emails !== null) return { emails };
  const found: FoundThread[] = [];
  let at = page;
  let seen = 0;
  for (let walked = bounds.first; ; ) {
    const threads = await walkThreads(transaction, search, at, { walked, messages: bounds.messages, chosen });
    found.push(
      ...(await threadsWithMatch(transaction, search, matches, threads, { bounds, most: page.limit - found.length })),
    );
    seen += threads.length;
    const last = threads.at(-1);
    if (last === undefined || threads.length < walked || found.length >= page.limit)
      return { threadIds: found.map(({ id }) => id) };
    at = { ...at, [page.isInverted ? 'before' : 'after']: { at: last.listedAt, id: last.id } };
    const needed = (((page.limit - found.length) * seen) / found.length) * SPARE;
    walked = Math.ceil(Math.min(Math.max(needed, bounds.first), walked * 4, bounds.few));
  }
}

/** How much more of the list is read than would fill the page if the rest of it matched as often as what was read. */
const SPARE = 1.25;

/** Returns how many threads the search finds. */
export function countMatchingThreads(transaction: Transaction<Tables>, search: WordSearch): Promise<number> {
  return withMatches(transaction, search, (matches) => countThreads(transaction, search, matches));
}

async function countThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  matches: MailMatches,
): Promise<number> {
  const threads = new Set<string>();
  for await (const emails of matches.walk(matchRange(search, NO_PAGE), FIND_BOUNDS.few))
    for (const { id } of await pickThreads(transaction, search, null, emails)) threads.add(id);
  return threads.size;
}

/** Times that a search begins again because a segment is damaged, or was removed while it read. */
const MAX_TRIES = 10;

/**
 * Calls `use` with the emails that match the words. A search reads the emails of a damaged segment themselves. Where the transaction may write, it gives the segment up, so that it is built again;
 * else a later search does, or the scheduling actor when it comes upon it.
 */
export async function withMatches<T>(
  transaction: Transaction<Tables>,
  { workspaceId, terms }: WordSearch,
  use: (matches: MailMatches) => Promise<T>,
): Promise<T> {
  const damaged = new Set<string>();
  for (;;) {
    try {
      return await use(await MailMatches.open(transaction, workspaceId, wordQuery(terms), damaged));
    } catch (error) {
      if (!(error instanceof SegmentDamage) || damaged.size >= MAX_TRIES) throw error;
      damaged.add(error.segmentId);
      const { rows } = await sql<{ may_write: boolean }>`
        select not current_setting('transaction_read_only')::boolean and current_setting('role') <> 'postroom_domain' as may_write`.execute(
        transaction,
      );
      if (rows[0]?.may_write === true)
        await sql`select discard_word_segment(${workspaceId}, ${error.segmentId})`.execute(transaction);
    }
  }
}

/** Returns which emails the search looks through for the page. */
export function matchRange({ terms, conditions }: WordSearch, { after, before, isInverted }: KeysetPage): MatchRange {
  const { since, until } = findTimeSpan(terms, conditions.since ?? null);
  const cursor = (place: KeysetPage['after']) => (place === null ? null : { id: place.id, at: place.at.getTime() });
  return {
    sinceAt: since?.getTime() ?? null,
    untilAt: until?.getTime() ?? null,
    after: cursor(after),
    before: cursor(before),
    isOldestFirst: isInverted,
  };
}

/** Whether the search has no conditions besides words. */
function isWordsOnly({ terms, conditions }: WordSearch): boolean {
  const isOfWords = terms.every(
    (term) =>
      term.kind === 'words' ||
      term.kind === 'domain' ||
      (term.kind === 'flag' && term.flag === 'attachment' && !term.isNegated),
  );
  const { tests = [], status, since, ownAddress, ownDomain } = conditions;
  return isOfWords && tests.length === 0 && status == null && since == null && ownAddress == null && ownDomain == null;
}

const isOfTrash = ({ terms, conditions }: WordSearch) =>
  conditions.tests?.includes('trashed') === true ||
  terms.some((term) => term.kind === 'flag' && term.flag === 'trashed' && !term.isNegated);

/** Returns the emails that an index leaves when they are few, else null. */
export async function emailsByIndex(
  transaction: Transaction<Tables>,
  search: WordSearch,
  { few }: FindBounds,
): Promise<FoundEmail[] | null> {
  if (isOfTrash(search)) {
    const { emails, last } = await walkEmails(transaction, search, { ...NO_PAGE, limit: few }, few);
    return last === null ? emails : null;
  }
  if (!isOfIndexedThreads(search.terms)) return null;
  const { rows } = await sql<EmailRow>`
    select email_id, created_at from labelled_emails(${buildQuery(search)}, ${few + 1})`.execute(transaction);
  return rows.length > few ? null : rows.map(foundEmail);
}

interface EmailRow {
  email_id: string;
  created_at: Date;
}

function foundEmail(row: EmailRow): FoundEmail {
  return { id: row.email_id, at: row.created_at.getTime() };
}

/** A found email with its thread; null: it has none yet. */
type PickedEmail = FoundEmail & { threadId: string | null };

/** Returns those of the emails that meet the conditions on emails besides words, in any order. */
export async function pickEmails(
  transaction: Transaction<Tables>,
  search: WordSearch,
  emails: readonly FoundEmail[],
): Promise<PickedEmail[]> {
  if (emails.length === 0) return [];
  const { rows } = await sql<EmailRow & { thread_id: string | null }>`
    select * from pick_emails(${buildQuery(search)}, ${emails.map(({ id }) => id)}::text[])`.execute(transaction);
  return rows.map((row) => ({ ...foundEmail(row), threadId: row.thread_id }));
}

/** Returns those of the next `walked` emails of the list that meet all conditions, and the last one read; null when no more follow. */
async function walkEmails(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage,
  walked: number,
): Promise<{ emails: FoundEmail[]; last: FoundEmail | null }> {
  const { rows } = await sql<EmailRow & { is_met: boolean }>`
    select email_id, created_at, is_met from walk_emails(${buildQuery(search)}, ${searchPage(page)}, ${walked})`.execute(
    transaction,
  );
  const last = rows.length < walked ? undefined : rows.at(-1);
  return {
    emails: rows.filter((row) => row.is_met).map(foundEmail),
    last: last === undefined ? null : foundEmail(last),
  };
}

/** Returns the threads that an index of labels, assignees or participants leaves when they are few, else null. */
async function threadsByIndex(
  transaction: Transaction<Tables>,
  search: WordSearch,
  { few }: FindBounds,
): Promise<string[] | null> {
  const { participant, participantDomain } = search.conditions;
  if (!isOfIndexedThreads(search.terms) && participant == null && participantDomain == null && !isOfTrash(search))
    return null;
  const { rows } = await sql<{ thread_id: string }>`
    select thread_id from indexed_threads(${buildQuery(search)}, ${few + 1})`.execute(transaction);
  return rows.length > few ? null : rows.map((row) => row.thread_id);
}

/** Returns the threads of the emails that meet all conditions; page null: in any order, of all. */
export async function pickThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage | null,
  emails: readonly FoundEmail[],
): Promise<FoundThread[]> {
  if (emails.length === 0) return [];
  const { rows } = await sql<{ thread_id: string; listed_at: Date }>`
    select thread_id, listed_at from ${pickedThreads(search, page, emails)}`.execute(transaction);
  return rows.map((row) => ({ id: row.thread_id, listedAt: row.listed_at }));
}

function pickedThreads(
  search: WordSearch,
  page: KeysetPage | null,
  emails: readonly FoundEmail[],
): RawBuilder<unknown> {
  const place = searchPage(page ?? { ...NO_PAGE, limit: null });
  return sql`pick_threads(${buildQuery(search)}, ${place}, ${emails.map(({ id }) => id)}::text[])`;
}

/** A thread of the list, with messages that meet the conditions on messages. */
interface WalkedThread extends FoundThread {
  isMet: boolean;
  hasMore: boolean;
  messages: FoundEmail[];
}

async function walkThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage,
  { walked, messages, chosen }: { walked: number; messages: number; chosen: readonly string[] | null },
): Promise<WalkedThread[]> {
  const { rows } = await sql<{
    thread_id: string;
    listed_at: Date;
    message_count: number;
    is_met: boolean;
    messages: string | null;
  }>`
    select * from walk_threads(${buildQuery(search)}, ${searchPage(page)}, ${walked}, ${messages}, ${chosen}::text[])`.execute(
    transaction,
  );
  return rows.map((row) => ({
    id: row.thread_id,
    listedAt: row.listed_at,
    isMet: row.is_met,
    hasMore: row.message_count > messages,
    messages: readMessages(row.messages),
  }));
}

/** Reads the form of search_messages in search-functions.sql. */
function readMessages(text: string | null): FoundEmail[] {
  if (text === null || text === '') return [];
  return text.split(',').map((message) => {
    const end = message.lastIndexOf(' ');
    return { id: message.slice(0, end), at: Number(message.slice(end + 1)) };
  });
}

/** Returns the first `most` of the threads of which a message matches. Long ones behind them are not read. */
async function threadsWithMatch(
  transaction: Transaction<Tables>,
  search: WordSearch,
  matches: MailMatches,
  threads: readonly WalkedThread[],
  { bounds, most }: { bounds: FindBounds; most: number },
): Promise<FoundThread[]> {
  const met = threads.filter(({ isMet }) => isMet);
  const picked = new Set((await matches.pick(met.flatMap(({ messages }) => messages))).map(({ id }) => id));
  const found: FoundThread[] = [];
  for (const thread of met) {
    if (found.length === most) break;
    const isFound =
      thread.messages.some(({ id }) => picked.has(id)) ||
      (thread.hasMore && (await hasMatch(transaction, search, matches, thread.id, bounds.instants)));
    if (isFound) found.push(thread);
  }
  return found;
}

/** Looks for a match among all messages of a long thread: it picks the matches that have one of its instants. */
async function hasMatch(
  transaction: Transaction<Tables>,
  search: WordSearch,
  matches: MailMatches,
  threadId: string,
  most: number,
): Promise<boolean> {
  let place: { at: Date; id: string } | null = null;
  for (;;) {
    const walked: { rows: { instants: Buffer; last_at: Date | null; last_id: string | null }[] } = await sql<{
      instants: Buffer;
      last_at: Date | null;
      last_id: string | null;
    }>`
      select * from walk_messages(${search.workspaceId}, ${threadId}, ${place?.at ?? null}::timestamptz, ${place?.id ?? null}, ${most})`.execute(
      transaction,
    );
    const [row] = walked.rows;
    if (row === undefined) return false;
    for await (const emails of matches.walkInstants(readInstants(row.instants)))
      if ((await pickEmails(transaction, search, emails)).some((email) => email.threadId === threadId)) return true;
    if (row.last_at === null || row.last_id === null) return false;
    place = { at: row.last_at, id: row.last_id };
  }
}

/** The first instant of PostgreSQL's, which it counts microseconds from. Milliseconds since 1970. */
const FIRST_INSTANT = Date.UTC(2000);
const INSTANT_BYTES = 8;

/** Reads the form of walk_messages in search-functions.sql. Returns milliseconds since 1970, ascending. */
function readInstants(bytes: Buffer): Float64Array {
  const instants = new Float64Array(bytes.length / INSTANT_BYTES);
  for (let number = 0; number < instants.length; number++) {
    const at = number * INSTANT_BYTES;
    const microseconds = bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
    instants[number] = FIRST_INSTANT + microseconds / 1_000;
  }
  return instants.sort();
}

function buildQuery({ workspaceId, terms, conditions }: WordSearch) {
  return searchQuery(workspaceId, terms, conditions);
}
