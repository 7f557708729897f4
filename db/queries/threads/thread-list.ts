import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { EmailType } from '../../../core/emails/email-status.ts';
import type { RelevanceCursor } from '../../../core/search/relevance-cursor.ts';
import type { ListSearch, SearchTerm } from '../../../core/search/search-query.ts';
import { isWordless, wordQuery } from '../../../core/search/word-query.ts';
import type { KeysetCursor, KeysetPage } from '../../../core/shared/page.ts';
import type { Database } from '../../connection/database.ts';
import { prepared } from '../../connection/prepared-text.ts';
import { asWorkspace } from '../../connection/transaction.ts';
import { readAsWorkspace, type WorkspaceRead } from '../../connection/workspace-read.ts';
import type { Row, Tables } from '../../entities/tables.ts';
import { toAddress, toDomainName } from '../domains/id-or-name.ts';
import { type EmailSummary, type EmailSummaryRow, emailSummary, emailSummaryColumns } from '../emails/email-row.ts';
import { lookUpRow } from '../look-up-row.ts';
import {
  countMatchingThreads,
  FIND_BOUNDS,
  type FindBounds,
  findMatchingThreads,
  selectMatchingThreads,
} from '../search/find-mail.ts';
import { rankMatchingThreads } from '../search/rank-mail.ts';
import { containsPattern } from '../search/search-pattern.ts';
import { MAX_LIMIT, searchPage, searchQuery, THREAD_BOUNDS } from '../search/search-sql.ts';
import { type InboxConditions, makeSearch } from './inbox-conditions.ts';
import {
  claimedCondition,
  type JoinedClaimColumns,
  joinClaim,
  joinedClaim,
  joinedClaimColumns,
  type ThreadClaim,
} from './reply-claim.ts';
import { readThreadSnooze, snoozeColumns, type ThreadSnooze } from './thread-snooze.ts';

export interface Thread extends ThreadSnooze {
  id: string;
  rootMessageId: string;
  normalizedSubject: string;
  participantEmails: string[];
  participantNames: string[];
  messageCount: number;
  unreadCount: number;
  isArchived: boolean; // all its received messages are archived, and it has some
  /** in the order in which they were added */
  labels: string[];
  /** when it was moved to the trash; null: it is not there */
  trashedAt: Date | null;
  latestEmailId: string;
  lastMessageAt: Date;
  /** its place in lists: lastMessageAt, or when it came back after that */
  listedAt: Date;
  createdAt: Date;
  updatedAt: Date;
  /** null: no one has claimed it */
  claim: ThreadClaim | null;
  /** the person who works on it; null: none */
  assigneeId: string | null;
}

/** A thread with what lists show of its latest message. */
export interface ListedThread extends Thread {
  latest: {
    id: string;
    type: EmailType;
    subject: string;
    fromText: string;
    preview: string;
    isRead: boolean;
    hasAttachments: boolean;
    /** the Date field, else when it was received or sent */
    date: Date;
  };
}

/** Filters of a list of threads; null matches all. */
export interface ThreadConditions {
  isUnread: boolean;
  isClaimed: boolean | null;
  /** works on it: the ID of a person, `none` for threads without; null or absent: matches all */
  assigneeId?: string | null;
  /** what the person of the request has not read; absent: matches all */
  memberTerms?: readonly (SearchTerm & { kind: 'unreadBy' })[];
  isTrashed: boolean;
  /** id or name of a domain of the workspace; a participant's domain */
  domain: string | null;
  /** id of an address of the workspace, or an address; a participant */
  address: string | null;
  /** what matches it as a part of the subject or a participant's address, case-insensitive, or one message its terms */
  search: ListSearch | null;
}

/** Returns the threads between two cursors with their latest messages, newest first; inverted: oldest first. */
export async function listThreads(
  database: Database,
  workspaceId: string,
  conditions: ThreadConditions,
  page: KeysetPage,
): Promise<ListedThread[]> {
  if (isComposed(conditions))
    return asWorkspace(database, workspaceId, async (transaction) =>
      listThreadsFrom(transaction, workspaceId, await fromThreads(transaction, workspaceId, conditions, page), page),
    );
  const read = preparedList(database, workspaceId, conditions, page);
  return (await readAsWorkspace<ListedThreadRow>(database, workspaceId, read)).map(listedThread);
}

/** Like listThreads, for the threads t of a from clause. */
async function listThreadsFrom(
  transaction: Transaction<Tables>,
  workspaceId: string,
  source: RawBuilder<unknown>,
  { isInverted, limit }: KeysetPage,
): Promise<ListedThread[]> {
  const user = sql`${workspaceId}`;
  const { rows } = await prepared(listSql({ user, source, isInverted, limit: sql`${limit}` })).execute(transaction);
  return rows.map(listedThread);
}

interface ListParts {
  user: RawBuilder<unknown>;
  /** from clause with the threads t */
  source: RawBuilder<unknown>;
  isInverted: boolean;
  limit: RawBuilder<unknown>;
}

type ListedThreadRow = ThreadColumns & JoinedClaimColumns & LatestColumns;

function listSql({ user, source, isInverted, limit }: ListParts): RawBuilder<ListedThreadRow> {
  const order = isInverted ? sql`order by t.listed_at, t.id` : sql`order by t.listed_at desc, t.id desc`;
  return sql<ListedThreadRow>`
    with page as materialized (
      select ${threadColumns} ${source} ${order} limit ${limit}
    )
    select t.*, ${joinedClaimColumns}, e.type as latest_type, e.subject as latest_subject, e.from_text as latest_from_text, e.preview as latest_preview,
      e.is_read as latest_is_read, e.has_attachments as latest_has_attachments, e.date as latest_date, e.thread_at as latest_thread_at
    from page t join email e on e.workspace_id = ${user} and e.id = t.latest_email_id
    ${joinClaim(user)}
    ${order}`;
}

/** By name: one for each combination of the filters and ends of a page. */
const preparedTexts = new Map<string, string>();

/** Returns the list as a prepared statement. Composing and planning it cost more than running it. */
function preparedList(
  { kysely }: Database,
  workspaceId: string,
  { isUnread, isClaimed, isTrashed, assigneeId = null }: ThreadConditions,
  page: KeysetPage,
): WorkspaceRead {
  const { after, before, isInverted, limit } = page;
  const values: (string | number | Date)[] = [workspaceId, limit];
  const parameter = (value: string | Date) => sql.raw(`$${values.push(value)}`);
  const place = (cursor: KeysetCursor | null) =>
    cursor === null ? null : { at: parameter(cursor.at), id: parameter(cursor.id) };
  const between = { after: place(after), before: place(before) };
  const assignee = assigneeId === null || assigneeId === 'none' ? assigneeId : parameter(assigneeId);
  const assigned = assigneeId === null ? '' : assigneeId === 'none' ? ' unassigned' : ' assigned';
  const claimed = isClaimed === null ? 'any' : isClaimed ? 'claimed' : 'unclaimed';
  const ends = `${after === null ? '' : ' after'}${before === null ? '' : ' before'}${isInverted ? ' inverted' : ''}`;
  const name = `threads ${isTrashed ? 'trash ' : ''}${isUnread ? 'unread' : 'all'} ${claimed}${assigned}${ends}`;
  let text = preparedTexts.get(name);
  if (text === undefined) {
    const user = sql.raw('$1');
    const source = fromAllThreads(user, { isUnread, isClaimed, isTrashed, assignee }, between);
    text = listSql({ user, source, isInverted, limit: sql.raw('$2') }).compile(kysely).sql;
    preparedTexts.set(name, text);
  }
  return { name, text, values };
}

export async function countThreads(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ThreadConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total ${await fromThreads(transaction, workspaceId, conditions, null)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/**
 * Returns those threads that belong to the workspace, keyed by the requested id: for a merged thread, the one that took its messages. `case`, not
 * `coalesce`: PostgreSQL takes the latter for leaking and would read all threads (measured with 400,000: 150 ms instead of 0.1).
 */
export async function findThreads(
  transaction: Transaction<Tables>,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Map<string, Thread>> {
  const { rows } = await sql<ThreadColumns & JoinedClaimColumns & { asked: string }>`
    select w.id as asked, ${threadColumns}, ${joinedClaimColumns}
    from unnest(${threadIds}::text[]) as w(id)
    left join thread_alias a on a.workspace_id = ${workspaceId} and a.alias_id = w.id
    join thread t on t.workspace_id = ${workspaceId} and t.id = case when a.thread_id is null then w.id else a.thread_id end
    ${joinClaim(sql`${workspaceId}`)}`.execute(transaction);
  return new Map(rows.map((row) => [row.asked, toThread(row)]));
}

/** Returns the messages of several threads between two cursors, in chronological order; inverted: latest first. Keyed by thread id. */
export async function pageThreadEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  threadIds: readonly string[],
  page: KeysetPage,
): Promise<Map<string, EmailSummary[]>> {
  const order = page.isInverted ? sql`order by e.thread_at desc, e.id desc` : sql`order by e.thread_at, e.id`;
  const compare = (place: KeysetCursor | null, operator: RawBuilder<unknown>) =>
    place === null
      ? sql``
      : sql`and e.thread_at ${operator}= ${place.at}::timestamptz
            and (e.thread_at, e.id) ${operator} (${place.at}::timestamptz, ${place.id}::text)`;
  const { rows } = await sql<EmailSummaryRow & { thread_id: string }>`
    select e.* from unnest(${threadIds}::text[]) as w(id)
    cross join lateral (
      select ${emailSummaryColumns} from email e where e.workspace_id = ${workspaceId} and e.thread_id = w.id
      ${compare(page.after, sql.raw('>'))} ${compare(page.before, sql.raw('<'))} ${order} limit ${page.limit}
    ) e ${order}`.execute(transaction);
  return Map.groupBy(rows.map(emailSummary), (email) => email.threadId ?? '');
}

const columns = [
  'id',
  'root_message_id',
  'normalized_subject',
  'participant_emails',
  'participant_names',
  'message_count',
  'received_count',
  'unread_count',
  'archived_count',
  'labels',
  'trashed_at',
  'assignee_id',
  'latest_email_id',
  'last_message_at',
  'listed_at',
  ...snoozeColumns,
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Row<'thread'>)[];

type ThreadColumns = Pick<Selectable<Row<'thread'>>, (typeof columns)[number]>;

const threadColumns = sql.join(columns.map((column) => sql.ref(`t.${column}`)));

interface LatestColumns {
  latest_type: EmailType;
  latest_subject: string;
  latest_from_text: string;
  latest_preview: string;
  latest_is_read: boolean;
  latest_has_attachments: boolean;
  latest_date: Date | null;
  latest_thread_at: Date;
}

function toThread(row: ThreadColumns & JoinedClaimColumns): Thread {
  return {
    id: row.id,
    rootMessageId: row.root_message_id,
    normalizedSubject: row.normalized_subject,
    participantEmails: row.participant_emails,
    participantNames: row.participant_names,
    messageCount: row.message_count,
    unreadCount: row.unread_count,
    isArchived: row.received_count > 0 && row.archived_count === row.received_count && row.returned_at === null,
    labels: row.labels,
    trashedAt: row.trashed_at,
    latestEmailId: row.latest_email_id,
    lastMessageAt: row.last_message_at,
    listedAt: row.listed_at,
    ...readThreadSnooze(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    claim: joinedClaim(row),
    assigneeId: row.assignee_id,
  };
}

function listedThread(row: ThreadColumns & JoinedClaimColumns & LatestColumns): ListedThread {
  const latest = {
    id: row.latest_email_id,
    type: row.latest_type,
    subject: row.latest_subject,
    fromText: row.latest_from_text,
    preview: row.latest_preview,
    isRead: row.latest_is_read,
    hasAttachments: row.latest_has_attachments,
    date: row.latest_date ?? row.latest_thread_at,
  };
  return { ...toThread(row), latest };
}

/**
 * The threads of a page, or all; the caller adds order and limit. Participants and texts are looked up by search_threads, where indexes
 * work despite row-level security.
 */
async function fromThreads(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ThreadConditions,
  page: KeysetPage | null,
): Promise<RawBuilder<unknown>> {
  const { search, address, domain, isUnread, isClaimed, isTrashed, assigneeId = null, memberTerms = [] } = conditions;
  const assignee = assigneeId === null || assigneeId === 'none' ? assigneeId : sql`${assigneeId}::text`;
  if (!isComposed(conditions)) return fromAllThreads(sql`${workspaceId}`, { ...conditions, assignee }, page);
  const part = search?.part ?? null;
  const withPart = sql`select s.thread_id from search_threads(${workspaceId}, ${part === null ? null : containsPattern(part)},
      ${address === null ? null : toAddress(workspaceId, address)}, ${domain === null ? null : toDomainName(workspaceId, domain)}, ${isUnread},
      ${page?.after?.at ?? null}, ${page?.after?.id ?? null}, ${page?.before?.at ?? null}, ${page?.before?.id ?? null},
      ${page?.isInverted ?? false}, ${memberTerms.length > 0 ? null : (page?.limit ?? null)}, ${isClaimed}, ${isTrashed},
      ${assigneeId === 'none' ? '' : assigneeId}) s`;
  const terms = [...(search?.terms ?? []), ...assigneeTerms(assigneeId), ...memberTerms];
  // Those of a member are found with the operators of a search.
  const isOfMember = memberTerms.length > 0 && part === null;
  const sources = [
    ...(part !== null || (search === null && !isOfMember) ? [withPart] : []),
    ...((search?.terms ?? []).length === 0 && !isOfMember
      ? []
      : [await withTerms(transaction, workspaceId, { ...conditions, terms }, page)]),
  ];
  return sql`
    from (${sql.join(sources, sql` union `)}) s
    ${page === null ? sql`join thread t on t.workspace_id = ${workspaceId} and t.id = s.thread_id` : lookUpThread(workspaceId)}
    where true ${claimedCondition(sql`${workspaceId}`, isClaimed)} ${sql.join(
      memberTerms.map(
        ({ personId = '' }) =>
          sql`and exists (select from threads_unread_by(${workspaceId}, ${personId}, array[t.id]))`,
      ),
      sql` `,
    )}`;
}

/** Returns the filter of an assignee as a term of a search. */
export function assigneeTerms(assigneeId: string | null): SearchTerm[] {
  if (assigneeId === null) return [];
  const personId = assigneeId === 'none' ? null : assigneeId;
  return [{ kind: 'assigned', to: assigneeId, personId, isNegated: false }];
}

/** The threads t of a source s of their ids. */
function lookUpThread(workspaceId: string): RawBuilder<unknown> {
  return lookUpRow(sql`${workspaceId}`, 'thread', 's.thread_id', 't');
}

/** The threads of a page of which one message matches the terms; all of them if the claims of threads decide as well. */
async function withTerms(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { terms, isUnread, isClaimed, isTrashed, domain, address }: ThreadConditions & { terms: readonly SearchTerm[] },
  page: KeysetPage | null,
): Promise<RawBuilder<unknown>> {
  const search = makeSearch(workspaceId, { terms, isUnread, isArchived: null, isTrashed, domain, address });
  const all = { after: null, before: null, isInverted: false };
  const sought = { ...(page ?? all), limit: isClaimed === null ? (page?.limit ?? null) : null };
  if (isWordless(wordQuery(terms)))
    return sql`select s.thread_id from search_inbox(${searchQuery(workspaceId, terms, search.conditions)}, ${searchPage(sought, THREAD_BOUNDS)}) s`;
  return selectMatchingThreads(transaction, search, { ...sought, limit: sought.limit ?? MAX_LIMIT });
}

/** Whether the statement depends on the values of the filters. */
function isComposed({ search, address, domain, memberTerms = [] }: ThreadConditions): boolean {
  return search !== null || address !== null || domain !== null || memberTerms.length > 0;
}

/** The ends of a page, their instants and ids as values or as parameters. */
type Between = Record<'after' | 'before', { at: unknown; id: unknown } | null>;

function fromAllThreads(
  user: RawBuilder<unknown>,
  {
    isUnread,
    isClaimed,
    isTrashed,
    assignee,
  }: Pick<ThreadConditions, 'isUnread' | 'isClaimed' | 'isTrashed'> & {
    assignee: RawBuilder<unknown> | 'none' | null;
  },
  between: Between | null,
): RawBuilder<unknown> {
  return sql`from thread t where t.workspace_id = ${user} and ${isTrashed ? sql`t.trashed_at is not null` : sql`t.trashed_at is null`} ${isUnread ? sql`and t.unread_count > 0` : sql``} ${claimedCondition(user, isClaimed)}
      ${assignee === null ? sql`` : assignee === 'none' ? sql`and t.assignee_id is null` : sql`and t.assignee_id = ${assignee}`}
      ${between === null ? sql`` : placeConditions(between)}`;
}

/** The instant alone is compared first: text comparison is not leakproof, so under row-level security no index could use the pair. */
function placeConditions({ after, before }: Between): RawBuilder<unknown> {
  const compare = (place: Between['after'], operator: RawBuilder<unknown>) =>
    place === null
      ? sql``
      : sql`and t.listed_at ${operator}= ${place.at}::timestamptz
            and (t.listed_at, t.id) ${operator} (${place.at}::timestamptz, ${place.id}::text)`;
  return sql`${compare(after, sql.raw('<'))} ${compare(before, sql.raw('>'))}`;
}

/** Returns the threads between two cursors with their latest messages, newest first; inverted: oldest first. */
export async function pageInbox(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: InboxConditions,
  page: KeysetPage,
  bounds: FindBounds = FIND_BOUNDS,
): Promise<ListedThread[]> {
  const of = makeSearch(workspaceId, conditions);
  const found = isWordless(wordQuery(of.terms))
    ? sql`search_inbox(${searchQuery(workspaceId, of.terms, of.conditions)}, ${searchPage(page, THREAD_BOUNDS)})`
    : sql`(${await selectMatchingThreads(transaction, of, page, bounds)})`;
  const listed = sql`from ${found} s ${lookUpThread(workspaceId)}`;
  return listThreadsFrom(transaction, workspaceId, listed, page);
}

/** A thread with its place in a list ordered by relevance. */
export type RankedThread = ListedThread & { score: number };

/** Returns the found threads between two cursors, most relevant first; inverted: last. The search has words. */
export async function rankInbox(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: InboxConditions,
  page: KeysetPage<RelevanceCursor>,
): Promise<RankedThread[]> {
  const { isClaimed = null } = conditions;
  const found = await rankMatchingThreads(transaction, makeSearch(workspaceId, conditions), page, {
    chosen: isClaimed === null ? null : claimedCondition(sql`${workspaceId}`, isClaimed),
  });
  const listed = sql`from unnest(${found.map(({ id }) => id)}::text[]) s(thread_id) ${lookUpThread(workspaceId)}`;
  const rows = await listThreadsFrom(transaction, workspaceId, listed, page);
  const threads = new Map(rows.map((thread) => [thread.id, thread]));
  return found.flatMap(({ id, score }) => {
    const thread = threads.get(id);
    return thread === undefined ? [] : [{ ...thread, score }];
  });
}

/** Returns the ids of up to `limit` threads, newest message first. */
export async function selectInbox(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: InboxConditions,
  limit: number,
): Promise<string[]> {
  const first = { after: null, before: null, isInverted: false, limit };
  const of = makeSearch(workspaceId, conditions);
  if (!isWordless(wordQuery(of.terms))) return findMatchingThreads(transaction, of, first);
  const { rows } = await sql<{ thread_id: string }>`
    select s.thread_id from search_inbox(${searchQuery(workspaceId, of.terms, of.conditions)}, ${searchPage(first, THREAD_BOUNDS)}) s
    order by s.listed_at desc, s.thread_id desc`.execute(transaction);
  return rows.map((row) => row.thread_id);
}

export async function countInbox(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: InboxConditions,
): Promise<number> {
  const of = makeSearch(workspaceId, conditions);
  if (!isWordless(wordQuery(of.terms))) return countMatchingThreads(transaction, of);
  const { rows } = await sql<{ total: number }>`
    select count_inbox(${searchQuery(workspaceId, of.terms, of.conditions)}) as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}
