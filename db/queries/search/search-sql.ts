import { type RawBuilder, sql } from 'kysely';
import type { SearchTerm } from '../../../core/search/search-query.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';

/** Conditions of a search besides its terms, as search_query of db/migrations/0001-initial/search.sql names them; absent or null: none. */
export interface SearchConditions {
  tests?: readonly string[];
  status?: string | null;
  since?: Date | null;
  ownAddress?: RawBuilder<string> | null;
  ownDomain?: RawBuilder<string> | null;
  isUnread?: boolean;
  isArchived?: boolean | null;
  participant?: RawBuilder<string> | null;
  participantDomain?: RawBuilder<string> | null;
  /** keys of the other side that match like ownAddress and ownDomain, see core/search/email-parties.ts */
  partyAddress?: string | null;
  partyDomain?: string | null;
}

/** The search without its words as a value of type search_query. */
export function searchQuery(
  workspaceId: string,
  terms: readonly SearchTerm[],
  conditions: SearchConditions,
): RawBuilder<unknown> {
  const wanted = terms.filter((term) => !term.isNegated);
  const unwanted = terms.filter((term) => term.isNegated);
  const { since, until } = findTimeSpan(terms, conditions.since ?? null);
  return sql`row(${workspaceId}::text, ${[...(conditions.tests ?? []), ...terms.flatMap(listTests)]}::text[], ${conditions.status ?? null}::text,
    ${conditions.ownAddress ?? null}::text, ${conditions.ownDomain ?? null}::text,
    ${since}::timestamptz, ${until}::timestamptz, ${labelKeys(wanted)}::text[], ${labelKeys(unwanted)}::text[],
    ${conditions.isUnread ?? false}::boolean, ${conditions.isArchived ?? null}::boolean,
    ${conditions.participant ?? null}::text, ${conditions.participantDomain ?? null}::text,
    ${conditions.partyAddress ?? null}::text, ${conditions.partyDomain ?? null}::text)::search_query`;
}

/** Limit of a page that has all rows. */
export const MAX_LIMIT = 2_147_483_647;

/** Maximum rows of each search step; see search-functions.sql. */
export interface SearchBounds {
  near: number;
  far: number;
  few: number;
}

/** Of emails: about 5 us each, so that a step takes some tens of milliseconds at most. */
export const EMAIL_BOUNDS: SearchBounds = { near: 1_000, far: 8_000, few: 5_000 };
/** Of threads, whose messages are each looked up: about 20 us each, and 5 for each match. */
export const THREAD_BOUNDS: SearchBounds = { near: 400, far: 4_000, few: 5_000 };

/** The page as a value of type search_page; limit null: all. */
export function searchPage(
  page: Omit<KeysetPage, 'limit'> & { limit: number | null },
  { near, far, few }: SearchBounds = { near: 0, far: 0, few: 0 },
): RawBuilder<unknown> {
  return sql`row(${page.after?.at ?? null}::timestamptz, ${page.after?.id ?? null}::text, ${page.before?.at ?? null}::timestamptz,
    ${page.before?.id ?? null}::text, ${page.isInverted}::boolean, ${page.limit}::integer,
    ${near}::integer, ${far}::integer, ${few}::integer)::search_page`;
}

/** Attachments are a mark among the words; their absence is a column of the email. */
function listTests(term: SearchTerm): string[] {
  if (term.kind === 'assigned') return [assignedTest(term)];
  if (term.kind === 'unreadBy') return [unreadByTest(term)];
  if (term.kind !== 'flag') return [];
  if (term.flag === 'attachment' && !term.isNegated) return [];
  return [`${term.isNegated ? '!' : ''}${term.flag}`];
}

/** Throws for a term whose member was not looked up. */
function assignedTest({ personId, isNegated }: SearchTerm & { kind: 'assigned' }): string {
  if (personId === undefined) throw new Error('assigned: was not resolved');
  return `${isNegated ? '!' : ''}assigned:${personId ?? ''}`;
}

/** Throws for a term without a person. */
function unreadByTest({ personId, isNegated }: SearchTerm & { kind: 'unreadBy' }): string {
  if (personId === undefined) throw new Error('unread: was not resolved');
  return `${isNegated ? '!' : ''}unread-by:${personId}`;
}

/** Returns whether the search asks for threads that an index of labels, assignees or snoozed threads finds. */
export function isOfIndexedThreads(terms: readonly SearchTerm[]): boolean {
  return terms.some(
    (term) =>
      !term.isNegated &&
      (term.kind === 'label' ||
        (term.kind === 'flag' && term.flag === 'snoozed') ||
        (term.kind === 'assigned' && term.personId != null)),
  );
}

function labelKeys(terms: readonly SearchTerm[]): string[] {
  return terms.flatMap((term) => (term.kind === 'label' ? [term.key] : []));
}

/** What is not before an instant is after it, and vice versa. */
export function findTimeSpan(
  terms: readonly SearchTerm[],
  least: Date | null,
): { since: Date | null; until: Date | null } {
  let since = least;
  let until = null as Date | null;
  for (const term of terms) {
    if (term.kind !== 'before' && term.kind !== 'after') continue;
    if ((term.kind === 'after') !== term.isNegated) since = since === null || term.at > since ? term.at : since;
    else until = until === null || term.at < until ? term.at : until;
  }
  return { since, until };
}
