import { sql, type Transaction } from 'kysely';
import { addressParty, domainParty } from '../../../core/search/email-parties.ts';
import type { SearchTerm } from '../../../core/search/search-query.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { addressOf, domainNameOf } from '../domains/own-name.ts';
import { EMAIL_BOUNDS, type SearchBounds, searchPage, searchQuery } from '../search/search-sql.ts';
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
  bounds: SearchBounds = EMAIL_BOUNDS,
): Promise<EmailSummary[]> {
  const order = page.isInverted ? sql`order by e.created_at, e.id` : sql`order by e.created_at desc, e.id desc`;
  const { rows } = await sql<EmailSummaryRow>`
    select ${emailSummaryColumns} from search_mail(${queryOf(userId, search)}, ${searchPage(page, bounds)}) s
    join email e on e.user_id = ${userId} and e.id = s.email_id ${order}`.execute(transaction);
  return rows.map(emailSummary);
}

export async function countFoundEmails(
  transaction: Transaction<Tables>,
  userId: string,
  search: EmailSearch,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count_mail(${queryOf(userId, search)}) as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

function queryOf(userId: string, { terms, conditions }: EmailSearch) {
  const { type, status, isRead, isArchived, isHeld, isTrashed, since, domain, address } = conditions;
  const tests = [
    type,
    isRead === null ? null : isRead ? 'marked read' : '!marked read',
    isArchived === null ? null : isArchived ? 'marked archived' : '!marked archived',
    isHeld ? 'held' : null,
    isTrashed === true ? 'trashed' : null,
  ].filter((test) => test !== null);
  return searchQuery(userId, terms, {
    tests,
    status,
    since,
    ownDomain: domain === null ? null : domainNameOf(userId, domain),
    ownAddress: address === null ? null : addressOf(userId, address),
    partyAddress: address === null ? null : addressParty(address),
    partyDomain: domain === null ? null : domainParty(domain),
  });
}
