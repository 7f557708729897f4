import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { KeysetPage, Page, Place } from '../../core/page.ts';
import type { EmailStatus, EmailType, Tables } from '../tables.ts';
import { countedEmails, nextHour } from './email-counter.ts';
import {
  type EmailSummary,
  type EmailSummaryRow,
  emailSummary,
  emailSummaryColumns,
  isHeldRoute,
} from './email-row.ts';
import { addressOf, domainNameOf } from './own-name.ts';
import { containsPattern } from './search-pattern.ts';

/** Which emails a list shows; null puts no condition. */
export interface EmailConditions {
  type: EmailType | null;
  status: EmailStatus | null;
  /** held back by a guard rule now, whatever its status */
  isHeld: boolean;
  isRead: boolean | null;
  isArchived: boolean | null;
  /** made by the user to try things out; absent as null */
  isTest?: boolean | null;
  /** created at or after this instant */
  since: Date | null;
  /** id or name of a domain of the user's */
  domain: string | null;
  /** id of an address of the user's, or an address itself */
  address: string | null;
  /** part of subject, sender or recipients in any case */
  search: string | null;
}

/** A page, newest first, and how many there are in all: one statement. */
export async function listEmails(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: EmailConditions,
  page: Page,
): Promise<{ emails: EmailSummary[]; total: number }> {
  const { total, source, select } = parts(userId, conditions);
  const emails = select((of) => sql`${newestFirst(of)} limit ${page.limit} offset ${page.offset}`);
  // The total comes once even when the page is empty.
  const { rows } = await sql<TotalRow & (EmailSummaryRow | { id: null })>`
    ${source}
    select t.total, e.* from (select ${total} as total) t left join lateral (${emails}) e on true
    ${newestFirst('e')}`.execute(transaction);
  return {
    emails: rows.flatMap((row) => (row.id === null ? [] : [emailSummary(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** The emails behind and before two places, newest first; inverted: oldest first. */
export async function pageEmails(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: EmailConditions,
  page: KeysetPage,
): Promise<EmailSummary[]> {
  const { source, select } = parts(userId, conditions);
  const order = page.isInverted ? oldestFirst : newestFirst;
  const emails = select((of) => sql`${placeConditions(of, page)} ${order(of)} limit ${page.limit}`);
  const { rows } = await sql<EmailSummaryRow>`${source} select * from (${emails}) e ${order('e')}`.execute(transaction);
  return rows.map(emailSummary);
}

export async function countEmails(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: EmailConditions,
): Promise<number> {
  const { source, total } = parts(userId, conditions);
  const { rows } = await sql<TotalRow>`${source} select ${total} as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Those of the emails that the user has, in no order. */
export async function findEmails(
  transaction: Transaction<Tables>,
  userId: string,
  emailIds: readonly string[],
): Promise<EmailSummary[]> {
  const { rows } = await sql<EmailSummaryRow>`
    select ${emailSummaryColumns} from email e where e.user_id = ${userId} and e.id = any (${emailIds}::text[])`.execute(
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

interface Parts {
  /** a `with` clause, or nothing */
  source: RawBuilder<unknown>;
  /** selects the columns of EmailSummary; the tail (further conditions, order, limit) goes by created_at and id of the alias it is given */
  select: (tail: (of: Alias) => RawBuilder<unknown>) => RawBuilder<unknown>;
  /** an expression: how many there are */
  total: RawBuilder<unknown>;
}

function parts(userId: string, conditions: EmailConditions): Parts {
  return conditions.search === null
    ? plainParts(userId, conditions)
    : searchParts(userId, conditions, containsPattern(conditions.search));
}

/** Whole hours are counted by email_counter, the hour in which the span begins from the emails themselves. */
function plainParts(userId: string, conditions: EmailConditions): Parts {
  const { since } = conditions;
  if (conditions.isHeld) return heldParts(userId, conditions);
  const ofEmails = and([sql`e.user_id = ${userId}`, ...emailConditions(userId, conditions)]);
  const counted = countedEmails(userId, {
    address: conditions.address === null ? null : addressOf(userId, conditions.address),
    conditions: columnConditions('c', userId, conditions),
    since,
  });
  const edge = (start: Date) => sql`(
    select count(*) from email e where ${ofEmails} and e.created_at >= ${start} and e.created_at < ${nextHour(start)})`;
  // Tests are few, and not counted apart.
  const each = sql`(select count(*) from email e where ${ofEmails} ${since === null ? sql`` : sql`and e.created_at >= ${since}`})`;
  return {
    source: sql``,
    select: (tail) => sql`
      select ${emailSummaryColumns} from (
        select * from email e where ${ofEmails} ${since === null ? sql`` : sql`and e.created_at >= ${since}`}
        ${tail('e')}) e`,
    total: conditions.isTest != null ? each : since === null ? counted : sql`${counted} + ${edge(since)}`,
  };
}

/** The few that are held back, by an index of their own. */
function heldParts(userId: string, conditions: EmailConditions): Parts {
  const { since } = conditions;
  const held = sql`
    route r join email e on e.user_id = ${userId} and e.id = r.email_id
    where ${and([sql`r.user_id = ${userId} and ${isHeldRoute}`, ...emailConditions(userId, { ...conditions, isHeld: false })])}
      ${since === null ? sql`` : sql`and r.created_at >= ${since}`}`;
  return {
    source: sql``,
    select: (tail) => sql`select ${emailSummaryColumns} from (select e.* from ${held} ${tail('e')}) e`,
    total: sql`(select count(*) from ${held})`,
  };
}

function searchParts(userId: string, conditions: EmailConditions, pattern: string): Parts {
  const others = emailConditions(userId, conditions);
  const filtered = sql`join email e on e.user_id = ${userId} and e.id = s.email_id where ${and(others)}`;
  return {
    source: sql`with hit as materialized (
      select s.email_id as id, s.created_at from search_emails(${userId}, ${pattern}, ${conditions.since}) s
      ${others.length === 0 ? sql`` : filtered})`,
    // Ordered and cut by the hits' own columns, so that only the emails of the page are read.
    select: (tail) => sql`
      select ${emailSummaryColumns} from (select h.id from hit h where true ${tail('h')}) h
      join email e on e.user_id = ${userId} and e.id = h.id`,
    total: sql`(select count(*) from hit)`,
  };
}

function emailConditions(userId: string, conditions: EmailConditions): RawBuilder<SqlBool>[] {
  const { address } = conditions;
  const ofAddress = address === null ? [] : [sql<SqlBool>`e.own_address = ${addressOf(userId, address)}`];
  const held = conditions.isHeld
    ? [sql<SqlBool>`exists (select from route r where r.user_id = ${userId} and r.email_id = e.id and ${isHeldRoute})`]
    : [];
  const ofTests = conditions.isTest == null ? [] : [sql<SqlBool>`e.is_test = ${conditions.isTest}`];
  return [...ofAddress, ...held, ...ofTests, ...columnConditions('e', userId, conditions)];
}

/** Conditions on columns that email and email_counter both have, but for the address. */
function columnConditions(alias: 'e' | 'c', userId: string, conditions: EmailConditions): RawBuilder<SqlBool>[] {
  const equals = (column: string, value: unknown) => sql<SqlBool>`${sql.ref(`${alias}.${column}`)} = ${value}`;
  return [
    conditions.type === null ? null : equals('type', conditions.type),
    conditions.status === null ? null : equals('status', conditions.status),
    conditions.isRead === null ? null : equals('is_read', conditions.isRead),
    conditions.isArchived === null ? null : equals('is_archived', conditions.isArchived),
    conditions.domain === null ? null : equals('own_domain', domainNameOf(userId, conditions.domain)),
  ].filter((condition) => condition !== null);
}

/** The instant alone first: comparing texts is not leakproof, so that under the policy no index would be entered by the pair. */
function placeConditions(of: Alias, page: KeysetPage): RawBuilder<unknown> {
  const compare = (place: Place | null, operator: RawBuilder<unknown>) =>
    place === null
      ? sql``
      : sql`and ${sql.ref(`${of}.created_at`)} ${operator}= ${place.at}::timestamptz
            and (${sql.ref(`${of}.created_at`)}, ${sql.ref(`${of}.id`)}) ${operator} (${place.at}::timestamptz, ${place.id}::text)`;
  return sql`${compare(page.after, sql.raw('<'))} ${compare(page.before, sql.raw('>'))}`;
}

function and(conditions: RawBuilder<SqlBool>[]): RawBuilder<SqlBool> {
  return sql.join(conditions, sql` and `);
}
