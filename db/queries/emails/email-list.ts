import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import type { SpamChoice } from '../../../core/screening/spam-check.ts';
import { addressParty, domainParty } from '../../../core/search/email-parties.ts';
import type { ListSearch } from '../../../core/search/search-query.ts';
import type { KeysetCursor, KeysetPage, Page } from '../../../core/shared/page.ts';
import { prepared } from '../../connection/prepared-text.ts';
import type { Tables } from '../../entities/tables.ts';
import { toAddress, toDomainName } from '../domains/id-or-name.ts';
import { lookUpRow } from '../look-up-row.ts';
import { containsPattern } from '../search/search-pattern.ts';
import { countedEmails, countedOwners, nextHour } from './email-counter.ts';
import {
  type EmailSummary,
  type EmailSummaryRow,
  emailSummary,
  emailSummaryColumns,
  isComplainedOf,
  isDeferred,
  isHeldRoute,
} from './email-row.ts';
import { foundEmails } from './email-search.ts';

/** States of sent mail that its recipients decide. */
export const SENDING_STATES = ['queued', 'deferred', 'complained'] as const;
export type SendingState = (typeof SENDING_STATES)[number];

/** Filters of a list of emails; null matches all. */
export interface EmailConditions {
  type: EmailType | null;
  status: EmailStatus | null;
  /** what became of a sent email, beyond its status: `queued` is pending, and no server deferred it; absent means null */
  sending?: SendingState | null;
  /** held by a guard rule now, whatever its status */
  isHeld: boolean;
  isRead: boolean | null;
  isArchived: boolean | null;
  /** created by the user as a test; absent means null */
  isTest?: boolean | null;
  /** in the trash, which other lists leave out; absent means false */
  isTrashed?: boolean;
  /** mail that is kept apart as spam or for a virus: with the other mail, or alone; absent: left out */
  spam?: SpamChoice | undefined;
  /** created at or after this instant */
  since: Date | null;
  /** id of a domain of the workspace: matches the workspace's side of an email; a name: either side */
  domain: string | null;
  /** id of an address of the workspace: matches the workspace's side of an email; an address: either side */
  address: string | null;
  /** what matches it as a part of subject, sender or recipients, case-insensitive, or its terms */
  search: ListSearch | null;
}

/** Returns a page, newest first, and the total count, in one statement. */
export async function listEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailConditions,
  page: Page,
): Promise<{ emails: EmailSummary[]; total: number }> {
  const { total, source, select } = await parts(transaction, workspaceId, conditions);
  const emails = select(
    (of) => sql`${newestFirst(of)} limit ${page.limit} offset ${page.offset}`,
    (of) => sql`${newestFirst(of)} limit ${page.limit + page.offset}`,
  );
  // The total is returned once even when the page is empty.
  const { rows } = await sql<TotalRow & (EmailSummaryRow | { id: null })>`
    ${source}
    select t.total, e.* from (select ${total} as total) t left join lateral (${emails}) e on true
    ${newestFirst('e')}`.execute(transaction);
  return {
    emails: rows.flatMap((row) => (row.id === null ? [] : [emailSummary(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Returns the emails between two cursors, newest first; inverted: oldest first. */
export async function pageEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailConditions,
  page: KeysetPage,
): Promise<EmailSummary[]> {
  const { source, select } = await parts(transaction, workspaceId, conditions);
  const order = page.isInverted ? oldestFirst : newestFirst;
  const tail: Tail = (of) => sql`${placeConditions(of, page)} ${order(of)} limit ${page.limit}`;
  const emails = select(tail, tail);
  const { rows } = await sql<EmailSummaryRow>`${source} select * from (${emails}) e ${order('e')}`.execute(transaction);
  return rows.map(emailSummary);
}

export async function countEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailConditions,
): Promise<number> {
  const { source, total } = await parts(transaction, workspaceId, conditions);
  const { rows } = await sql<TotalRow>`${source} select ${total} as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the emails that belong to the workspace, unordered. */
export async function findEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<EmailSummary[]> {
  const { rows } = await prepared(sql<EmailSummaryRow>`
    select ${emailSummaryColumns} from unnest(${[...new Set(emailIds)]}::text[]) asked(id) ${lookUpRow(sql`${workspaceId}`, 'email', 'asked.id', 'e')}`).execute(
    transaction,
  );
  return rows.map(emailSummary);
}

type Alias = 'e' | 'h';

const newestFirst = (of: Alias) => sql`order by ${sql.ref(`${of}.created_at`)} desc, ${sql.ref(`${of}.id`)} desc`;
const oldestFirst = (of: Alias) => sql`order by ${sql.ref(`${of}.created_at`)}, ${sql.ref(`${of}.id`)}`;

interface TotalRow {
  total: number;
}

/** Further conditions, order and limit, by created_at and id of the given alias. */
type Tail = (of: Alias) => RawBuilder<unknown>;

interface Parts {
  /** a `with` clause, or empty */
  source: RawBuilder<unknown>;
  /** selects the columns of EmailSummary; `each` ends the selection from each of several sources, `tail` that of the union */
  select: (tail: Tail, each: Tail) => RawBuilder<unknown>;
  /** an expression for the count */
  total: RawBuilder<unknown>;
}

async function parts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailConditions,
): Promise<Parts> {
  if (conditions.spam === 'include')
    return together(
      await parts(transaction, workspaceId, { ...conditions, spam: undefined }),
      await parts(transaction, workspaceId, { ...conditions, spam: 'only' }),
    );
  if (conditions.search !== null) return searchParts(transaction, workspaceId, conditions, conditions.search);
  if (conditions.isHeld) return heldParts(workspaceId, conditions);
  const own = ownParts(workspaceId, conditions);
  return findParties(conditions) === null ? own : exchangedParts(workspaceId, conditions, own);
}

/** Selects from two sources that share no email. */
function together(one: Parts, other: Parts): Parts {
  return {
    source: sql``,
    select: (tail, each) => sql`
      select e.* from (
        (${one.source} ${one.select(each, each)}) union all (${other.source} ${other.select(each, each)})
      ) e where true ${tail('e')}`,
    total: sql`(${one.source} select ${one.total}) + (${other.source} select ${other.total})`,
  };
}

/** Whether the emails are in the trash, which has mail that is kept apart, too. */
function isOfTrash({ isTrashed, spam }: EmailConditions): boolean {
  return isTrashed === true || spam === 'only';
}

/**
 * By the workspace's side alone. Whole hours are counted by email_counter, the partial hour at the start of the span by the emails themselves.
 */
function ownParts(workspaceId: string, conditions: EmailConditions): Parts {
  const { since, domain } = conditions;
  const ofEmails = and([
    sql`e.workspace_id = ${workspaceId}`,
    inFolder(conditions),
    ...sideConditions(workspaceId, conditions, 'own'),
    ...emailConditions(conditions),
  ]);
  const counted = countedEmails(workspaceId, {
    address: conditions.address === null ? null : toAddress(workspaceId, conditions.address),
    conditions: [
      ...columnConditions('c', conditions),
      ...(domain === null ? [] : [sql<SqlBool>`c.own_domain = ${toDomainName(workspaceId, domain)}`]),
    ],
    since,
  });
  const edge = (start: Date) => sql`(
    select count(*) from email e where ${ofEmails} and e.created_at >= ${start} and e.created_at < ${nextHour(start)})`;
  // Tests, the trash and mail in these states are few, and have no counters.
  const each = sql`(select count(*) from email e where ${ofEmails} ${since === null ? sql`` : sql`and e.created_at >= ${since}`})`;
  return {
    source: sql``,
    select: (tail) => sql`
      select ${emailSummaryColumns} from (
        select * from email e where ${ofEmails} ${since === null ? sql`` : sql`and e.created_at >= ${since}`}
        ${tail('e')}) e`,
    total:
      conditions.isTest != null || conditions.sending != null || isOfTrash(conditions)
        ? each
        : since === null
          ? counted
          : sql`${counted} + ${edge(since)}`,
  };
}

/**
 * By either side: the workspace's side by its lists and counters, the other side by the index of parties. For a domain on which the workspace has no
 * mail, the list is not scanned.
 */
function exchangedParts(workspaceId: string, conditions: EmailConditions, own: Parts): Parts {
  const { since, domain } = conditions;
  const hasOwn =
    domain === null || isOfTrash(conditions)
      ? sql<SqlBool>`true`
      : sql<SqlBool>`exists (select from email_counter c where c.workspace_id = ${workspaceId} and c.own_address = any (${countedOwners})
          and c.grain = 'all' and c.own_domain = ${toDomainName(workspaceId, domain)})`;
  const ofOwn = and([
    sql`e.workspace_id = ${workspaceId}`,
    hasOwn,
    inFolder(conditions),
    ...sideConditions(workspaceId, conditions, 'own'),
    ...emailConditions(conditions),
    ...(since === null ? [] : [sql<SqlBool>`e.created_at >= ${since}`]),
  ]);
  const others = sql`
    party p join email e on e.workspace_id = ${workspaceId} and e.id = p.email_id
    where ${and([inFolder(conditions), ...sideConditions(workspaceId, conditions, 'joined'), ...emailConditions(conditions)])}
      and not (${and(sideConditions(workspaceId, conditions, 'own'))})`;
  return {
    source: sql`with ${partySource(workspaceId, conditions)}`,
    select: (tail, each) => sql`
      select ${emailSummaryColumns} from (
        select e.* from (
          (select e.* from email e where ${ofOwn} ${each('e')}) union all (select e.* from ${others} ${each('e')})
        ) e where true ${tail('e')}) e`,
    total: sql`${own.total} + (select count(*) from ${others})`,
  };
}

/** The few held emails, by a separate index. */
function heldParts(workspaceId: string, conditions: EmailConditions): Parts {
  const { since } = conditions;
  const others = [
    ...sideConditions(workspaceId, conditions, 'either'),
    ...emailConditions({ ...conditions, isHeld: false }),
  ];
  const held = sql`
    route r join email e on e.workspace_id = ${workspaceId} and e.id = r.email_id
    where ${and([sql`r.workspace_id = ${workspaceId} and ${isHeldRoute}`, inFolder(conditions), ...others])}
      ${since === null ? sql`` : sql`and r.created_at >= ${since}`}`;
  return {
    source: findParties(conditions) === null ? sql`` : sql`with ${partySource(workspaceId, conditions)}`,
    select: (tail) => sql`select ${emailSummaryColumns} from (select e.* from ${held} ${tail('e')}) e`,
    total: sql`(select count(*) from ${held})`,
  };
}

async function searchParts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailConditions,
  { part, terms }: ListSearch,
): Promise<Parts> {
  const others = [
    ...(isOfTrash(conditions) ? [inFolder(conditions)] : []),
    ...sideConditions(workspaceId, conditions, 'either'),
    ...heldConditions(workspaceId, conditions),
    ...emailConditions(conditions),
  ];
  const { since } = conditions;
  const pattern = part === null ? null : containsPattern(part);
  const withPart =
    pattern === null
      ? null
      : isOfTrash(conditions)
        ? sql`select x.email_id, x.created_at from trashed_email x where x.workspace_id = ${workspaceId} and x.text like ${pattern}
            ${since === null ? sql`` : sql`and x.created_at >= ${since}`}`
        : sql`select x.email_id, x.created_at from search_emails(${workspaceId}, ${pattern}, ${since}) x`;
  const withTerms =
    terms.length === 0
      ? null
      : sql`select x.email_id, x.created_at from ${await foundEmails(transaction, workspaceId, { terms, conditions })} x`;
  const matching = sql`(${sql.join(
    [withPart, withTerms].filter((each) => each !== null),
    sql` union `,
  )})`;
  const filtered = sql`join email e on e.workspace_id = ${workspaceId} and e.id = s.email_id where ${and(others)}`;
  const party = findParties(conditions) === null ? sql`` : sql`${partySource(workspaceId, conditions)},`;
  return {
    source: sql`with ${party} hit as materialized (
      select s.email_id as id, s.created_at from ${matching} s
      ${others.length === 0 ? sql`` : filtered})`,
    // Ordered and limited by the matches' own columns, so that only the emails of the page are read.
    select: (tail) => sql`
      select ${emailSummaryColumns} from (select h.id from hit h where true ${tail('h')}) h
      ${lookUpRow(sql`${workspaceId}`, 'email', 'h.id', 'e')}`,
    total: sql`(select count(*) from hit)`,
  };
}

/** The keys of the other side that the filters name; null when they name none. */
function findParties({ address, domain }: EmailConditions): { address: string | null; domain: string | null } | null {
  const parties = {
    address: address === null ? null : addressParty(address),
    domain: domain === null ? null : domainParty(domain),
  };
  return parties.address === null && parties.domain === null ? null : parties;
}

/** The emails whose other side has one of the keys, as `party`. */
function partySource(workspaceId: string, conditions: EmailConditions): RawBuilder<unknown> {
  const parties = findParties(conditions);
  if (isOfTrash(conditions))
    return sql`party as materialized (select x.email_id, coalesce(x.parties @> array[${parties?.address ?? null}::text], false) as has_address,
      coalesce(x.parties @> array[${parties?.domain ?? null}::text], false) as has_domain from trashed_email x where x.workspace_id = ${workspaceId})`;
  return sql`party as materialized (select x.email_id, x.has_address, x.has_domain
    from exchanged_emails(${workspaceId}, ${parties?.address ?? null}, ${parties?.domain ?? null}, ${conditions.since}) x)`;
}

/**
 * Conditions on the sides of an email `e`. Its own side matches the address and the domain, or each of them may match the other side,
 * through the joined `party p` or through `party`.
 */
function sideConditions(
  workspaceId: string,
  conditions: EmailConditions,
  side: 'own' | 'joined' | 'either',
): RawBuilder<SqlBool>[] {
  const { address, domain } = conditions;
  const parties = side === 'own' ? null : findParties(conditions);
  const or = (own: RawBuilder<SqlBool>, key: string | null | undefined, column: 'has_address' | 'has_domain') => {
    if (key == null) return own;
    if (side === 'joined') return sql<SqlBool>`(${own} or ${sql.ref(`p.${column}`)})`;
    return sql<SqlBool>`(${own} or e.id in (select p.email_id from party p where ${sql.ref(`p.${column}`)}))`;
  };
  const found: RawBuilder<SqlBool>[] = [];
  if (address !== null)
    found.push(or(sql`e.own_address = ${toAddress(workspaceId, address)}`, parties?.address, 'has_address'));
  if (domain !== null)
    found.push(or(sql`e.own_domain = ${toDomainName(workspaceId, domain)}`, parties?.domain, 'has_domain'));
  return found;
}

function heldConditions(workspaceId: string, { isHeld }: EmailConditions): RawBuilder<SqlBool>[] {
  return isHeld
    ? [
        sql<SqlBool>`exists (select from route r where r.workspace_id = ${workspaceId} and r.email_id = e.id and ${isHeldRoute})`,
      ]
    : [];
}

/** Whether an email `e` is in the trash, kept apart, or in neither, as in the indexes of lists. */
function inFolder({ isTrashed = false, spam }: EmailConditions): RawBuilder<SqlBool> {
  if (spam === 'only') return sql`e.kept_apart is not null`;
  return isTrashed ? sql`e.trashed_at is not null and e.kept_apart is null` : sql`e.trashed_at is null`;
}

/** Conditions on an email `e` except those on its sides. */
function emailConditions(conditions: EmailConditions): RawBuilder<SqlBool>[] {
  const ofTests = conditions.isTest == null ? [] : [sql<SqlBool>`e.is_test = ${conditions.isTest}`];
  return [...ofTests, ...columnConditions('e', conditions), ...sendingConditions(conditions)];
}

function sendingConditions({ sending = null }: EmailConditions): RawBuilder<SqlBool>[] {
  if (sending === null) return [];
  if (sending === 'complained') return [isComplainedOf];
  return [
    sending === 'deferred'
      ? isDeferred
      : sql<SqlBool>`e.type = 'sent' and e.status = 'pending' and not (${isDeferred})`,
  ];
}

/** Conditions on columns that both email and email_counter have, except those on the sides. */
function columnConditions(alias: 'e' | 'c', conditions: EmailConditions): RawBuilder<SqlBool>[] {
  const equals = (column: string, value: unknown) => sql<SqlBool>`${sql.ref(`${alias}.${column}`)} = ${value}`;
  return [
    conditions.type === null ? null : equals('type', conditions.type),
    conditions.status === null ? null : equals('status', conditions.status),
    conditions.isRead === null ? null : equals('is_read', conditions.isRead),
    conditions.isArchived === null ? null : equals('is_archived', conditions.isArchived),
  ].filter((condition) => condition !== null);
}

/** The instant alone is compared first: text comparison is not leakproof, so under row-level security no index could use the pair. */
function placeConditions(of: Alias, page: KeysetPage): RawBuilder<unknown> {
  const compare = (place: KeysetCursor | null, operator: RawBuilder<unknown>) =>
    place === null
      ? sql``
      : sql`and ${sql.ref(`${of}.created_at`)} ${operator}= ${place.at}::timestamptz
            and (${sql.ref(`${of}.created_at`)}, ${sql.ref(`${of}.id`)}) ${operator} (${place.at}::timestamptz, ${place.id}::text)`;
  return sql`${compare(page.after, sql.raw('<'))} ${compare(page.before, sql.raw('>'))}`;
}

function and(conditions: RawBuilder<SqlBool>[]): RawBuilder<SqlBool> {
  return sql.join(conditions, sql` and `);
}
