import { sql, type Transaction } from 'kysely';
import { addressParty, domainParty } from '../../../core/search/email-parties.ts';
import type { SearchTerm } from '../../../core/search/search-query.ts';
import { isWordless, wordQuery } from '../../../core/search/word-query.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { addressOf, domainNameOf } from '../domains/own-name.ts';
import { countMatchingEmails, FIND_BOUNDS, type FindBounds, findMatchingEmails } from '../search/find-mail.ts';
import { EMAIL_BOUNDS, type SearchConditions, searchPage, searchQuery } from '../search/search-sql.ts';
import type { EmailConditions } from './email-list.ts';
import { type EmailSummary, type EmailSummaryRow, emailSummary, emailSummaryColumns } from './email-row.ts';

/** A search by words and operators, within a list. */
export interface EmailSearch {
  terms: readonly SearchTerm[];
  conditions: Omit<EmailConditions, 'search'>;
}

/** Returns the found emails between two cursors, newest first; inverted: oldest first. */
export async function pageFoundEmails(
  transaction: Transaction<Tables>,
  userId: string,
  search: EmailSearch,
  page: KeysetPage,
  bounds: FindBounds = FIND_BOUNDS,
): Promise<EmailSummary[]> {
  const of = { userId, terms: search.terms, conditions: conditionsOf(userId, search) };
  const found = isWordless(wordQuery(of.terms))
    ? sql`search_mail(${searchQuery(userId, of.terms, of.conditions)}, ${searchPage(page, EMAIL_BOUNDS)})`
    : sql`unnest(${await findMatchingEmails(transaction, of, page, bounds)}::text[])`;
  const order = page.isInverted ? sql`order by e.created_at, e.id` : sql`order by e.created_at desc, e.id desc`;
  const { rows } = await sql<EmailSummaryRow>`
    select ${emailSummaryColumns} from ${found} s(email_id)
    join email e on e.user_id = ${userId} and e.id = s.email_id ${order}`.execute(transaction);
  return rows.map(emailSummary);
}

export async function countFoundEmails(
  transaction: Transaction<Tables>,
  userId: string,
  search: EmailSearch,
): Promise<number> {
  const of = { userId, terms: search.terms, conditions: conditionsOf(userId, search) };
  if (!isWordless(wordQuery(of.terms))) return countMatchingEmails(transaction, of);
  const { rows } = await sql<{ total: number }>`
    select count_mail(${searchQuery(userId, of.terms, of.conditions)}) as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

function conditionsOf(userId: string, { conditions }: EmailSearch): SearchConditions {
  const { type, status, isRead, isArchived, isHeld, isTrashed, since, domain, address } = conditions;
  const tests = [
    type,
    isRead === null ? null : isRead ? 'marked read' : '!marked read',
    isArchived === null ? null : isArchived ? 'marked archived' : '!marked archived',
    isHeld ? 'held' : null,
    isTrashed === true ? 'trashed' : null,
  ].filter((test) => test !== null);
  return {
    tests,
    status,
    since,
    ownDomain: domain === null ? null : domainNameOf(userId, domain),
    ownAddress: address === null ? null : addressOf(userId, address),
    partyAddress: address === null ? null : addressParty(address),
    partyDomain: domain === null ? null : domainParty(domain),
  };
}
