import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import type { SpamChoice } from '../../../core/screening/spam-check.ts';
import { addressParty, domainParty } from '../../../core/search/email-parties.ts';
import type { SearchTerm } from '../../../core/search/search-query.ts';
import { isWordless, wordQuery } from '../../../core/search/word-query.ts';
import type { Tables } from '../../entities/tables.ts';
import { toAddress, toDomainName } from '../domains/id-or-name.ts';
import { findMatchingEmails } from '../search/find-mail.ts';
import { MAX_LIMIT, type SearchConditions, searchPage, searchQuery } from '../search/search-sql.ts';

/** A search by words and operators, within a list. */
export interface EmailSearch {
  terms: readonly SearchTerm[];
  /** of the list, see EmailConditions */
  conditions: {
    type: EmailType | null;
    status: EmailStatus | null;
    isHeld: boolean;
    isRead: boolean | null;
    isArchived: boolean | null;
    isTrashed?: boolean;
    spam?: SpamChoice | undefined;
    since: Date | null;
    domain: string | null;
    address: string | null;
  };
}

/** Returns all found emails as a source with email_id and created_at. */
export async function foundEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { terms, conditions }: EmailSearch,
): Promise<RawBuilder<unknown>> {
  const search = { workspaceId, terms, conditions: searchConditions(workspaceId, conditions) };
  const all = { after: null, before: null, isInverted: false };
  if (isWordless(wordQuery(terms)))
    return sql`search_mail(${searchQuery(workspaceId, terms, search.conditions)}, ${searchPage({ ...all, limit: null })})`;
  const ids = await findMatchingEmails(transaction, search, { ...all, limit: MAX_LIMIT });
  return sql`(select e.id as email_id, e.created_at from unnest(${ids}::text[]) i(id)
    join email e on e.workspace_id = ${workspaceId} and e.id = i.id)`;
}

/** Returns the conditions of the list for searchQuery. */
export function searchConditions(workspaceId: string, conditions: EmailSearch['conditions']): SearchConditions {
  const { type, status, isRead, isArchived, isHeld, isTrashed, spam, since, domain, address } = conditions;
  const tests = [
    type,
    isRead === null ? null : isRead ? 'marked read' : '!marked read',
    isArchived === null ? null : isArchived ? 'marked archived' : '!marked archived',
    isHeld ? 'held' : null,
    isTrashed === true || spam === 'only' ? 'trashed' : null,
    spam === 'only' ? 'apart' : isTrashed === true ? '!apart' : null,
  ].filter((test) => test !== null);
  return {
    tests,
    status,
    since,
    ownDomain: domain === null ? null : toDomainName(workspaceId, domain),
    ownAddress: address === null ? null : toAddress(workspaceId, address),
    partyAddress: address === null ? null : addressParty(address),
    partyDomain: domain === null ? null : domainParty(domain),
  };
}
