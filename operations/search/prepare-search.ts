import {
  type ListSearch,
  parseListSearch,
  parseSearch,
  refused,
  type SearchTerm,
} from '../../core/search/search-query.ts';
import type { StemLanguage } from '../../core/search/word-stem.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findMemberIds } from '../../db/queries/accounts/member-name.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import { stemTerms } from './stem-terms.ts';

/** Parses a search, of which words also match other forms of the language. Throws validation. */
export async function prepareSearch(
  context: OperationContext,
  text: string,
  language: StemLanguage | undefined,
): Promise<readonly SearchTerm[]> {
  return stemTerms(await resolveAssignees(context, parseSearch(text, context.now())), language);
}

/** Like prepareSearch, for the search of a list. */
export async function prepareListSearch(
  context: OperationContext,
  text: string,
  language: StemLanguage | undefined,
): Promise<ListSearch | null> {
  const search = parseListSearch(text, context.now());
  if (search === null) return null;
  const terms = await stemTerms(await resolveAssignees(context, search.terms), language);
  return { ...search, terms: [...terms] };
}

/** The ID of no person. */
const NO_MEMBER = '-';

/**
 * Returns the ID of a member who is given as `me`, by the ID or by the address, and `none` for `none`. Throws validation for one who is no
 * member; for requests that may not list members, the ID of no person.
 */
export async function findAssignee(context: OperationContext, given: string, field: string): Promise<string> {
  const to = given.trim().toLowerCase();
  if (to === 'none') return to;
  if (to === 'me') return requirePerson(context, (message) => invalid(message, field));
  const found = await findMembers(context, [given.trim(), to]);
  const personId = found.get(given.trim()) ?? found.get(to);
  if (personId !== undefined) return personId;
  if (context.database.limit !== undefined) return NO_MEMBER;
  throw invalid(
    `\`${field}\` is not a member of this workspace. Use \`me\`, \`none\`, or the ID or address of a member.`,
    field,
  );
}

/** Returns the term of a filter of what the person of the request has not read. Throws validation for requests without a person. */
export function findUnreadBy(context: OperationContext, field: string): SearchTerm & { kind: 'unreadBy' } {
  const personId = requirePerson(context, (message) => invalid(message, field));
  return { kind: 'unreadBy', personId, isNegated: false };
}

/** Looks up the members whom the terms name. Throws validation. */
async function resolveAssignees(
  context: OperationContext,
  terms: readonly SearchTerm[],
): Promise<readonly SearchTerm[]> {
  const named = terms.flatMap((term) => (term.kind === 'assigned' && term.to.includes('@') ? [term.to] : []));
  const members = await findMembers(context, named);
  return terms.map((term) => {
    if (term.kind === 'unreadBy') return { ...term, personId: requirePerson(context, refused) };
    if (term.kind !== 'assigned') return term;
    if (term.to === 'none') return { ...term, personId: null };
    if (term.to === 'me') return { ...term, personId: requirePerson(context, refused) };
    const personId = members.get(term.to);
    if (personId === undefined && context.database.limit === undefined)
      throw refused(`assigned: ${term.to} is not a member of this workspace`);
    return { ...term, personId: personId ?? NO_MEMBER };
  });
}

function requirePerson({ rights }: OperationContext, error: (message: string) => Error): string {
  if (rights.personId === null)
    throw error('`me` is the person of a session, or the member who created the API key. This request has neither.');
  return rights.personId;
}

/** Returns the IDs of members by what names them: their IDs, or their addresses in lower case. */
async function findMembers(context: OperationContext, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const asked = names.filter((name) => name.includes('@') || isValidId(name));
  if (asked.length === 0) return new Map();
  const { database, workspaceId } = withFullAccess(context);
  return asWorkspace(database, workspaceId, (transaction) => findMemberIds(transaction, workspaceId, asked));
}
