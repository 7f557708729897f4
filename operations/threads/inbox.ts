import { parseSearch, type SearchTerm } from '../../core/search/search-query.ts';
import type { KeysetPage } from '../../core/shared/page.ts';
import { labelKey, labelOf } from '../../core/threads/label.ts';
import { asUser } from '../../db/connection/database.ts';
import * as lists from '../../db/queries/threads/inbox-list.ts';
import type { OperationContext } from '../context.ts';
import type { ListedThread } from './threads.ts';

/** What an inbox is asked for; absent puts no condition but for isArchived. */
export interface InboxQuery {
  /** words and operators (docs/search.md), all of which one message of a thread has to be */
  search?: string | undefined;
  isUnread?: boolean | undefined;
  /** false when absent: archived threads are not in the inbox, unless the search asks for archived mail; `any`: both */
  isArchived?: boolean | 'any' | undefined;
  /** in any case; what is no label matches nothing */
  label?: string | undefined;
  /** id or name; a participant's domain */
  domain?: string | undefined;
  /** id, or the address itself; a participant */
  address?: string | undefined;
}

/** The threads behind and before two places, newest message first; inverted: oldest first. Throws validation. */
export async function pageInbox(
  context: OperationContext,
  query: InboxQuery,
  page: KeysetPage,
): Promise<ListedThread[]> {
  const { database, userId } = context;
  const conditions = conditionsOf(query, context.now());
  return asUser(database, userId, (transaction) => lists.pageInbox(transaction, userId, conditions, page));
}

/** How many threads there are in all, exactly. Throws validation. */
export async function countInbox(context: OperationContext, query: InboxQuery): Promise<number> {
  const { database, userId } = context;
  const conditions = conditionsOf(query, context.now());
  return asUser(database, userId, (transaction) => lists.countInbox(transaction, userId, conditions));
}

function conditionsOf(query: InboxQuery, now: Date): lists.InboxConditions {
  const { search = '', isUnread = false, isArchived, label, domain, address } = query;
  const terms = parseSearch(search, now);
  if (label !== undefined) {
    const given = labelOf(label);
    terms.push({ kind: 'label', key: given === null ? '' : labelKey(given), isNegated: false });
  }
  return {
    terms,
    isUnread,
    isArchived: isArchived === 'any' ? null : (isArchived ?? (asksArchived(terms) ? null : false)),
    domain: domain ?? null,
    address: address ?? null,
  };
}

function asksArchived(terms: readonly SearchTerm[]): boolean {
  return terms.some((term) => term.kind === 'flag' && term.flag === 'archived' && !term.isNegated);
}
