import { sql, type Transaction } from 'kysely';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { EMAIL_BOUNDS, type SearchBounds, searchPage } from '../search/search-sql.ts';
import { type EmailSummary, type EmailSummaryRow, emailSummary, emailSummaryColumns } from './email-row.ts';
import { type EmailSearch, emailSearchQuery } from './email-search.ts';

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
    select ${emailSummaryColumns} from search_mail(${emailSearchQuery(userId, search)}, ${searchPage(page, bounds)}) s
    join email e on e.user_id = ${userId} and e.id = s.email_id ${order}`.execute(transaction);
  return rows.map(emailSummary);
}

export async function countFoundEmails(
  transaction: Transaction<Tables>,
  userId: string,
  search: EmailSearch,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count_mail(${emailSearchQuery(userId, search)}) as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}
