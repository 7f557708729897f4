import { requireRankedWords } from '../../core/search/relevance.ts';
import {
  decodeRelevanceCursor,
  encodeRelevanceCursor,
  type RelevanceCursor,
} from '../../core/search/relevance-cursor.ts';
import { MAX_QUERY_LENGTH, type SearchTerm } from '../../core/search/search-query.ts';
import type { StemLanguage } from '../../core/search/word-stem.ts';
import { freeTexts } from '../../core/shared/large-text.ts';
import type { KeysetCursor, KeysetPage } from '../../core/shared/page.ts';
import { labelKey, normalizeLabel } from '../../core/threads/label.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as reads from '../../db/queries/emails/email-read.ts';
import type { InboxConditions } from '../../db/queries/threads/inbox-conditions.ts';
import * as inbox from '../../db/queries/threads/thread-list.ts';
import * as lists from '../../db/queries/threads/thread-list.ts';
import { findOverviews, type ThreadOverview } from '../../db/queries/threads/thread-overview.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import type { Email, EmailSummary } from '../emails/emails.ts';
import { withText } from '../emails/html-text.ts';
import { findAssignee, findUnreadBy, prepareListSearch, prepareSearch } from '../search/prepare-search.ts';
import { threadNotFound } from './thread-transaction.ts';

export type { ListedThread, Thread } from '../../db/queries/threads/thread-list.ts';

/** Filters of a list of threads; omitted filters match all. */
export interface ThreadQuery {
  isUnread?: boolean | undefined;
  /** has messages that the person of the request has not read */
  isUnreadByMe?: boolean | undefined;
  isClaimed?: boolean | undefined;
  /** `me`, `none`, or the ID or address of a member */
  assigned?: string | undefined;
  /** true: threads in the trash, which are left out otherwise */
  isTrashed?: boolean | undefined;
  /** id or name; matches a participant's domain */
  domain?: string | undefined;
  /** id or address; matches a participant */
  address?: string | undefined;
  search?: string | undefined;
  /** words of the search also match other forms of the language */
  language?: StemLanguage | undefined;
}

/** A page of threads, and the cursor of the next one; null: no more follow. */
export interface ThreadPage {
  threads: lists.ListedThread[];
  nextCursor: string | null;
}

/** Returns the threads after the cursor (a thread's id), newest message first. */
export async function listThreads(
  context: OperationContext,
  query: ThreadQuery,
  page: { limit: number; cursor: string | null },
): Promise<ThreadPage> {
  const { database, workspaceId } = context;
  const conditions = await toConditions(context, query);
  const { cursor } = page;
  const after = cursor === null ? null : await readCursor(context, cursor);
  const span = { after, before: null, isInverted: false, limit: page.limit + 1 };
  const found = await lists.listThreads(database, workspaceId, conditions, span);
  const threads = found.slice(0, page.limit);
  return { threads, nextCursor: found.length > page.limit ? (threads.at(-1)?.id ?? null) : null };
}

/**
 * Returns the threads after the cursor, that with the most relevant message first, by the words of `search`. The newest MAX_RANKED messages
 * that match are ranked. Throws validation for a search without words, and for a cursor of another order.
 */
export async function listThreadsByRelevance(
  context: OperationContext,
  { search, ...query }: ThreadQuery,
  { limit, cursor }: { limit: number; cursor: string | null },
): Promise<ThreadPage> {
  const { database, workspaceId } = context;
  const words = await prepareSearch(context, search ?? '', query.language);
  requireRankedWords(words);
  const after = cursor === null ? null : decodeRelevanceCursor(cursor);
  if (cursor !== null && after === null) throw invalid('Invalid cursor', 'cursor');
  const listed = await toConditions(context, query);
  const terms = [...words, ...lists.assigneeTerms(listed.assigneeId ?? null), ...(listed.memberTerms ?? [])];
  const conditions = { ...listed, terms, isArchived: null };
  const page = { after, before: null, isInverted: false, limit: limit + 1 };
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    lists.rankInbox(transaction, workspaceId, conditions, page),
  );
  const threads = found.slice(0, limit);
  const last = threads.at(-1);
  const next = found.length > limit && last !== undefined ? { ...last, at: last.listedAt } : null;
  return { threads, nextCursor: next === null ? null : encodeRelevanceCursor(next) };
}

/** Returns the position of a thread in lists. Throws validation. */
async function readCursor({ database, workspaceId }: OperationContext, threadId: string): Promise<KeysetCursor> {
  const found = isValidId(threadId)
    ? await asWorkspace(database, workspaceId, (transaction) => lists.findThreads(transaction, workspaceId, [threadId]))
    : undefined;
  const thread = found?.get(threadId);
  if (thread === undefined) throw invalid('Invalid cursor', 'cursor');
  return { at: thread.listedAt, id: thread.id };
}

/** Returns the threads between two cursors, newest message first; inverted: oldest first. */
export async function pageThreads(
  context: OperationContext,
  query: ThreadQuery,
  page: KeysetPage,
): Promise<lists.ListedThread[]> {
  return lists.listThreads(context.database, context.workspaceId, await toConditions(context, query), page);
}

export async function countThreads(context: OperationContext, query: ThreadQuery): Promise<number> {
  const conditions = await toConditions(context, query);
  return asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.countThreads(transaction, context.workspaceId, conditions),
  );
}

/** A thread with all its messages in chronological order. */
export interface WholeThread {
  thread: lists.Thread;
  messages: Email[];
}

/** Returns a thread, as readThreads does. Throws not_found, and what ResponseRoom.load throws. */
export async function readThread(context: OperationContext, threadId: string): Promise<WholeThread> {
  const [thread = null] = await readThreads(context, [threadId]);
  if (thread === null) throw threadNotFound();
  return thread;
}

/**
 * Returns one thread per id with all its messages, null where the user has none; the id of a merged thread returns the thread it was merged
 * into. Few statements for all but large ones. Throws what ResponseRoom.load throws.
 */
export async function readThreads(
  context: OperationContext,
  threadIds: readonly string[],
): Promise<(WholeThread | null)[]> {
  const found = await findThreadPages(context, threadIds);
  const whole = new Map<string, WholeThread>();
  for (const [id, { thread, pages, messages }] of found) {
    const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
    const emailIds = pages.flatMap((page) => page.emailIds);
    const read = messages ?? (await context.room.load(bytes, () => readMessages(context, thread.id, emailIds)));
    whole.set(id, { thread, messages: await withTextOfEach(context, read) });
  }
  return threadIds.map((id) => whole.get(id) ?? null);
}

/** A thread for a client. */
export interface OpenThread {
  thread: lists.Thread;
  /** in chronological order: all messages; of a large thread, pages that are read as the client takes them, each valid until the next */
  messages: Email[] | AsyncIterable<Email[]>;
}

/**
 * Like readThreads for one thread, but one page of a large thread is in memory at a time. Room for it is taken before the first one is read. Messages that
 * leave the thread meanwhile are left out. Throws not_found, and what ResponseRoom.take throws.
 */
export async function openThread(context: OperationContext, threadId: string): Promise<OpenThread> {
  const found = (await findThreadPages(context, [threadId])).get(threadId);
  if (found === undefined) throw threadNotFound();
  const { thread, pages, messages } = found;
  if (messages !== null) return { thread, messages: await withTextOfEach(context, messages) };
  const { room } = context;
  room.take(Math.max(...pages.map(({ bytes }) => bytes)));
  async function* read(): AsyncGenerator<Email[], void> {
    for (const { emailIds, bytes } of pages) {
      const page = await room.loadTaken(bytes, () => readMessages(context, thread.id, emailIds));
      try {
        yield await withTextOfEach(context, page);
      } finally {
        freeTexts(page);
      }
    }
  }
  return { thread, messages: read() };
}

/** The messages of a page together have at most this many bytes, unless it is a single one. */
const MAX_PAGE_BYTES = 1_000_000;
const MAX_PAGE_MESSAGES = 100;

interface MessagePage {
  emailIds: string[];
  bytes: number;
}

interface PagedThread {
  thread: lists.Thread;
  pages: MessagePage[];
  /** null: they are on several pages, or have more than MAX_PAGE_BYTES */
  messages: Email[] | null;
}

/** Returns those of the threads that the user has, by the ids that were given, with the pages of their messages. Small threads are read together. */
async function findThreadPages(
  { database, workspaceId }: OperationContext,
  threadIds: readonly string[],
): Promise<Map<string, PagedThread>> {
  const asked = threadIds.filter(isValidId);
  if (asked.length === 0) return new Map();
  return asWorkspace(database, workspaceId, async (transaction) => {
    const threads = await lists.findThreads(transaction, workspaceId, asked);
    const ids = [...new Set([...threads.values()].map(({ id }) => id))];
    const sizes = Map.groupBy(await reads.findThreadSizes(transaction, workspaceId, ids), ({ threadId }) => threadId);
    const pagesById = new Map(ids.map((id) => [id, listPages(sizes.get(id) ?? [])]));
    const messages = new Map<string, Email[]>();
    for (const batch of batchSmall(pagesById)) {
      const emailIds = batch.flatMap(([, page]) => page.emailIds);
      const batchIds = batch.map(([id]) => id);
      const read = await reads.readThreadEmails(transaction, workspaceId, { threadIds: batchIds, emailIds });
      const byThread = Map.groupBy(read, ({ threadId }) => threadId);
      for (const id of batchIds) messages.set(id, byThread.get(id) ?? []);
    }
    return new Map(
      [...threads].map(([asking, thread]) => {
        const paged = { thread, pages: pagesById.get(thread.id) ?? [], messages: messages.get(thread.id) ?? null };
        return [asking, paged];
      }),
    );
  });
}

/** Groups the threads that have one page, so that the bytes of each group stay below MAX_PAGE_BYTES. */
function batchSmall(pagesById: ReadonlyMap<string, readonly MessagePage[]>): [threadId: string, page: MessagePage][][] {
  const batches: [string, MessagePage][][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [id, [page = { emailIds: [], bytes: 0 }, another]] of pagesById) {
    if (another !== undefined || page.bytes > MAX_PAGE_BYTES) continue;
    bytes += page.bytes;
    if (bytes > MAX_PAGE_BYTES) {
      batches.push([]);
      bytes = page.bytes;
    }
    batches.at(-1)?.push([id, page]);
  }
  return batches;
}

function listPages(sizes: readonly { emailId: string; bytes: number }[]): MessagePage[] {
  const pages: MessagePage[] = [];
  for (const { emailId, bytes } of sizes) {
    const last = pages.at(-1);
    if (last !== undefined && last.bytes + bytes <= MAX_PAGE_BYTES && last.emailIds.length < MAX_PAGE_MESSAGES) {
      last.emailIds.push(emailId);
      last.bytes += bytes;
    } else pages.push({ emailIds: [emailId], bytes });
  }
  return pages;
}

/** Returns messages with the text of their HTML where they have no other. */
async function withTextOfEach(context: OperationContext, messages: readonly Email[]): Promise<Email[]> {
  const { workspaceId } = context;
  context.noteReads?.(
    context,
    messages.map(({ id }) => id),
  );
  const whole: Email[] = [];
  for (const message of messages) whole.push(await withText(workspaceId, message));
  return whole;
}

function readMessages(
  { database, workspaceId }: OperationContext,
  threadId: string,
  emailIds: readonly string[],
): Promise<Email[]> {
  return asWorkspace(database, workspaceId, (transaction) =>
    reads.readThreadEmails(transaction, workspaceId, { threadIds: [threadId], emailIds }),
  );
}

/** Returns one thread per id (of an existing or a merged thread), null where the user has none. */
export async function loadThreads(
  context: OperationContext,
  threadIds: readonly string[],
): Promise<(lists.Thread | null)[]> {
  const found = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.findThreads(transaction, context.workspaceId, threadIds.filter(isValidId)),
  );
  return threadIds.map((id) => found.get(id) ?? null);
}

/** Returns the overview of each thread, null where the user has none or its messages were just moved. */
export async function loadOverviews(
  context: OperationContext,
  threadIds: readonly string[],
): Promise<(ThreadOverview | null)[]> {
  const found = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    findOverviews(transaction, context.workspaceId, threadIds.filter(isValidId)),
  );
  return threadIds.map((id) => found.get(id) ?? null);
}

/** Returns for each thread its messages between two cursors, in chronological order; inverted: latest first. */
export async function pageThreadEmails(
  context: OperationContext,
  threadIds: readonly string[],
  page: KeysetPage,
): Promise<EmailSummary[][]> {
  const found = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.pageThreadEmails(transaction, context.workspaceId, threadIds.filter(isValidId), page),
  );
  return threadIds.map((id) => found.get(id) ?? []);
}

async function toConditions(context: OperationContext, query: ThreadQuery): Promise<lists.ThreadConditions> {
  const { isUnread = false, isClaimed, assigned, isTrashed = false, domain, address, search } = query;
  if (search !== undefined && search.length > MAX_QUERY_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_QUERY_LENGTH} characters`, 'search');
  return {
    isUnread,
    isClaimed: isClaimed ?? null,
    assigneeId: assigned === undefined ? null : await findAssignee(context, assigned, 'assigned'),
    ...(query.isUnreadByMe === true ? { memberTerms: [findUnreadBy(context, 'unread_by_me')] } : {}),
    isTrashed,
    domain: domain ?? null,
    address: address ?? null,
    search: await prepareListSearch(context, search ?? '', query.language),
  };
}

/** Filters of the inbox; omitted filters match all, except isArchived. */
export interface InboxQuery {
  /** words and operators (docs/search.md); one message of the thread must match them all */
  search?: string | undefined;
  /** words also match other forms of the language */
  language?: StemLanguage | undefined;
  isUnread?: boolean | undefined;
  /** has messages that the person of the request has not read */
  isUnreadByMe?: boolean | undefined;
  /** false when omitted: the inbox has no archived threads unless the search asks for archived mail; `any`: both */
  isArchived?: boolean | 'any' | undefined;
  /** true: threads in the trash, archived or not; they are left out unless the search asks for them */
  isTrashed?: boolean | undefined;
  /**
   * true: without a search or a label, the list leaves out snoozed threads, and threads with only sent mail, which no reply has come to
   * yet. They stay in lists of archived and of all threads
   */
  isOfInbox?: boolean | undefined;
  /** `me`, `none`, or the ID or address of a member */
  assigned?: string | undefined;
  /** in any case; an unknown label matches nothing */
  label?: string | undefined;
  /** id or name; matches a participant's domain */
  domain?: string | undefined;
  /** id or address; matches a participant */
  address?: string | undefined;
}

/** Returns the threads between two cursors, newest message first; inverted: oldest first. Throws validation. */
export async function pageInbox(
  context: OperationContext,
  query: InboxQuery,
  page: KeysetPage,
): Promise<lists.ListedThread[]> {
  const { database, workspaceId } = context;
  const conditions = await readInboxConditions(context, query);
  return asWorkspace(database, workspaceId, (transaction) =>
    inbox.pageInbox(transaction, workspaceId, conditions, page),
  );
}

/**
 * Returns the found threads between two cursors, that with the most relevant message first; inverted: last. The newest MAX_RANKED messages that match
 * are ranked. Throws validation for a search without words.
 */
export async function pageInboxByRelevance(
  context: OperationContext,
  query: InboxQuery,
  page: KeysetPage<RelevanceCursor>,
): Promise<inbox.RankedThread[]> {
  const { database, workspaceId } = context;
  const conditions = await readInboxConditions(context, query);
  requireRankedWords(conditions.terms);
  return asWorkspace(database, workspaceId, (transaction) =>
    inbox.rankInbox(transaction, workspaceId, conditions, page),
  );
}

/** Maximum threads of a selection. */
export const MAX_SELECTED = 10_000;

/** Threads to change together, as they match at one moment. */
export interface ThreadSelection {
  /** newest message first */
  threadIds: string[];
  /** false: more threads match than a selection can have */
  isComplete: boolean;
}

/** Returns all threads of the inbox, or of a search, up to MAX_SELECTED. Throws validation. */
export async function selectInbox(context: OperationContext, query: InboxQuery): Promise<ThreadSelection> {
  const { database, workspaceId } = context;
  const conditions = await readInboxConditions(context, query);
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    inbox.selectInbox(transaction, workspaceId, conditions, MAX_SELECTED + 1),
  );
  return { threadIds: found.slice(0, MAX_SELECTED), isComplete: found.length <= MAX_SELECTED };
}

/** Returns the exact number of threads. Throws validation. */
export async function countInbox(context: OperationContext, query: InboxQuery): Promise<number> {
  const { database, workspaceId } = context;
  const conditions = await readInboxConditions(context, query);
  return asWorkspace(database, workspaceId, (transaction) => inbox.countInbox(transaction, workspaceId, conditions));
}

async function readInboxConditions(context: OperationContext, query: InboxQuery): Promise<InboxConditions> {
  const {
    search = '',
    isUnread = false,
    isArchived,
    isTrashed = false,
    isOfInbox = false,
    label,
    assigned,
    domain,
    address,
  } = query;
  const terms = [...(await prepareSearch(context, search, query.language))];
  if (assigned !== undefined) terms.push(...lists.assigneeTerms(await findAssignee(context, assigned, 'assigned')));
  if (query.isUnreadByMe === true) terms.push(findUnreadBy(context, 'isUnreadByMe'));
  if (label !== undefined) {
    const given = normalizeLabel(label);
    terms.push({ kind: 'label', key: given === null ? '' : labelKey(given), isNegated: false });
  }
  if (isTrashed && !asksFor(terms, 'trashed')) terms.push({ kind: 'flag', flag: 'trashed', isNegated: false });
  const hasReceived = isOfInbox && terms.length === 0 && isArchived !== true && isArchived !== 'any';
  const isAnywhere = asksFor(terms, 'archived') || asksFor(terms, 'snoozed') || asksFor(terms, 'trashed');
  const isAwake =
    isOfInbox &&
    search.trim() === '' &&
    label === undefined &&
    !isTrashed &&
    isArchived !== true &&
    isArchived !== 'any';
  return {
    terms,
    isUnread,
    isArchived: isArchived === 'any' ? null : (isArchived ?? (isAnywhere ? null : false)),
    hasReceived,
    isAwake,
    domain: domain ?? null,
    address: address ?? null,
  };
}

function asksFor(terms: readonly SearchTerm[], flag: 'archived' | 'snoozed' | 'trashed'): boolean {
  return terms.some((term) => term.kind === 'flag' && term.flag === flag && !term.isNegated);
}
