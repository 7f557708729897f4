import { sql, type Transaction } from 'kysely';
import type { RelevanceCursor } from '../../../core/search/relevance-cursor.ts';
import { isWordless, wordQuery } from '../../../core/search/word-query.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { lookUpRow } from '../look-up-row.ts';
import { countMatchingEmails, FIND_BOUNDS, type FindBounds, findMatchingEmails } from '../search/find-mail.ts';
import { rankMatchingEmails } from '../search/rank-mail.ts';
import { EMAIL_BOUNDS, searchPage, searchQuery } from '../search/search-sql.ts';
import { type EmailSummary, type EmailSummaryRow, emailSummary, emailSummaryColumns } from './email-row.ts';
import { type EmailSearch, searchConditions } from './email-search.ts';

/** Returns the found emails between two cursors, newest first; inverted: oldest first. */
export async function pageFoundEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  search: EmailSearch,
  page: KeysetPage,
  bounds: FindBounds = FIND_BOUNDS,
): Promise<EmailSummary[]> {
  const of = { workspaceId, terms: search.terms, conditions: searchConditions(workspaceId, search.conditions) };
  const found = isWordless(wordQuery(of.terms))
    ? sql`search_mail(${searchQuery(workspaceId, of.terms, of.conditions)}, ${searchPage(page, EMAIL_BOUNDS)})`
    : sql`unnest(${await findMatchingEmails(transaction, of, page, bounds)}::text[])`;
  const order = page.isInverted ? sql`order by e.created_at, e.id` : sql`order by e.created_at desc, e.id desc`;
  const { rows } = await sql<EmailSummaryRow>`
    select ${emailSummaryColumns} from ${found} s(email_id)
    ${lookUpRow(sql`${workspaceId}`, 'email', 's.email_id', 'e')} ${order}`.execute(transaction);
  return rows.map(emailSummary);
}

/** An email with its place in a list ordered by relevance. */
export type RankedEmail = EmailSummary & { score: number };

/** Returns the found emails between two cursors, most relevant first; inverted: last. The search has words. */
export async function rankFoundEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  search: EmailSearch,
  page: KeysetPage<RelevanceCursor>,
): Promise<RankedEmail[]> {
  const of = { workspaceId, terms: search.terms, conditions: searchConditions(workspaceId, search.conditions) };
  const found = await rankMatchingEmails(transaction, of, page);
  const { rows } = await sql<EmailSummaryRow>`
    select ${emailSummaryColumns} from unnest(${found.map(({ id }) => id)}::text[]) s(email_id)
    ${lookUpRow(sql`${workspaceId}`, 'email', 's.email_id', 'e')}`.execute(transaction);
  const emails = new Map(rows.map((row) => [row.id, emailSummary(row)]));
  return found.flatMap(({ id, score }) => {
    const email = emails.get(id);
    return email === undefined ? [] : [{ ...email, score }];
  });
}

export async function countFoundEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  search: EmailSearch,
): Promise<number> {
  const of = { workspaceId, terms: search.terms, conditions: searchConditions(workspaceId, search.conditions) };
  if (!isWordless(wordQuery(of.terms))) return countMatchingEmails(transaction, of);
  const { rows } = await sql<{ total: number }>`
    select count_mail(${searchQuery(workspaceId, of.terms, of.conditions)}) as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}
