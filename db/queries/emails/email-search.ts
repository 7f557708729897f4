import { type RawBuilder, sql } from 'kysely';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import { addressParty, domainParty } from '../../../core/search/email-parties.ts';
import type { SearchTerm } from '../../../core/search/search-query.ts';
import { addressOf, domainNameOf } from '../domains/own-name.ts';
import { searchPage, searchQuery } from '../search/search-sql.ts';

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
    since: Date | null;
    domain: string | null;
    address: string | null;
  };
}

/** Returns all found emails as a source with email_id and created_at. */
export function foundEmails(userId: string, search: EmailSearch): RawBuilder<unknown> {
  const all = searchPage({ after: null, before: null, isInverted: false, limit: null }, { near: 0, far: 0, few: 0 });
  return sql`search_mail(${emailSearchQuery(userId, search)}, ${all})`;
}

/** Returns the search as a value of type search_query. */
export function emailSearchQuery(userId: string, { terms, conditions }: EmailSearch): RawBuilder<unknown> {
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
