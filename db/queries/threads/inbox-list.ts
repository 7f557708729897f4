import { sql, type Transaction } from 'kysely';
import type { SearchTerm } from '../../../core/search/search-query.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { addressOf, domainNameOf } from '../domains/own-name.ts';
import { type SearchBounds, searchPage, searchQuery, THREAD_BOUNDS } from '../search/search-sql.ts';
import { type ListedThread, listThreadsFrom } from './thread-list.ts';

/** Filters of an inbox: threads of which one message matches all terms; null matches all. */
export interface InboxConditions {
  terms: readonly SearchTerm[];
  isUnread: boolean;
  isArchived: boolean | null;
  /** id or name of a domain of the user; a participant's domain */
  domain: string | null;
  /** id of an address of the user, or an address; a participant */
  address: string | null;
}

/** Returns the threads between two cursors with their latest messages, newest first; inverted: oldest first. */
export function pageInbox(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: InboxConditions,
  page: KeysetPage,
  bounds: SearchBounds = THREAD_BOUNDS,
): Promise<ListedThread[]> {
  const found = sql`from search_inbox(${queryOf(userId, conditions)}, ${searchPage(page, bounds)}) s
    join thread t on t.user_id = ${userId} and t.id = s.thread_id`;
  return listThreadsFrom(transaction, userId, found, page);
}

export async function countInbox(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: InboxConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count_inbox(${queryOf(userId, conditions)}) as total`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

function queryOf(userId: string, { terms, isUnread, isArchived, domain, address }: InboxConditions) {
  return searchQuery(userId, terms, {
    isUnread,
    isArchived,
    participant: address === null ? null : addressOf(userId, address),
    participantDomain: domain === null ? null : domainNameOf(userId, domain),
  });
}
