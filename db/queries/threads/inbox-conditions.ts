import type { SearchTerm } from '../../../core/search/search-query.ts';
import { toAddress, toDomainName } from '../domains/id-or-name.ts';
import type { WordSearch } from '../search/find-mail.ts';

/** Filters of an inbox: threads of which one message matches all terms; null matches all. */
export interface InboxConditions {
  terms: readonly SearchTerm[];
  isUnread: boolean;
  isArchived: boolean | null;
  /** in the trash, which other searches leave out; absent means false */
  isTrashed?: boolean;
  /** leaves out threads that have only sent mail and did not come back; absent means false. Requires isArchived false */
  hasReceived?: boolean;
  /** leaves out snoozed threads; absent means false */
  isAwake?: boolean;
  isClaimed?: boolean | null;
  /** id or name of a domain of the workspace; a participant's domain */
  domain: string | null;
  /** id of an address of the workspace, or an address; a participant */
  address: string | null;
}

/** Returns the search that the conditions of an inbox are. */
export function makeSearch(
  workspaceId: string,
  {
    terms,
    isUnread,
    isArchived,
    isTrashed = false,
    hasReceived = false,
    isAwake = false,
    domain,
    address,
  }: InboxConditions,
): WordSearch {
  const conditions = {
    tests: [
      ...(isTrashed ? ['trashed'] : []),
      ...(hasReceived ? ['has received'] : []),
      ...(isAwake ? ['!snoozed'] : []),
    ],
    isUnread,
    isArchived,
    participant: address === null ? null : toAddress(workspaceId, address),
    participantDomain: domain === null ? null : toDomainName(workspaceId, domain),
  };
  return { workspaceId, terms, conditions };
}
