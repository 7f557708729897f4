import { canonicalDomainName } from '../../core/domains/domain-name.ts';
import type { KeysetPage } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/database.ts';
import { countDomains } from '../../db/queries/domains/domain-list.ts';
import * as pages from '../../db/queries/domains/domain-page.ts';
import type { DomainConditions } from '../../db/queries/domains/domain-row.ts';
import { countRecentEmails, NONE, type RecentEmails } from '../../db/queries/upkeep/recent-emails.ts';
import { isAskable, type OperationContext } from '../context.ts';
import { type Domain, domainViewOf } from './domain-view.ts';
import type { DomainList, DomainQuery } from './domains.ts';

/** The domains behind and before two places, newest first; inverted: oldest first. */
export function pageDomains(context: OperationContext, query: DomainQuery, page: KeysetPage): Promise<Domain[]> {
  return asUser(context.database, context.userId, async (transaction) => {
    const rows = await pages.pageDomains(transaction, context.userId, conditionsOf(query), page);
    return rows.map((row) => domainViewOf(context, row));
  });
}

export function countDomainList({ database, userId }: OperationContext, query: DomainQuery): Promise<number> {
  return asUser(database, userId, (transaction) => pages.countDomainList(transaction, userId, conditionsOf(query)));
}

/** How many domains the user has in each status. */
export function countDomainsByStatus({ database, userId }: OperationContext): Promise<DomainList['counts']> {
  return asUser(database, userId, (transaction) => countDomains(transaction, userId));
}

/** One for each id, null where the user has none. */
export async function loadDomains(context: OperationContext, ids: readonly string[]): Promise<(Domain | null)[]> {
  const rows = await asUser(context.database, context.userId, (transaction) =>
    pages.findDomains(transaction, context.userId, ids.filter(isAskable)),
  );
  const byId = new Map(rows.map((row) => [row.id, domainViewOf(context, row)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** The id of the user's domain of that name, in any spelling; null when there is none. */
export async function findDomainByName({ database, userId }: OperationContext, name: string): Promise<string | null> {
  const canonical = canonicalDomainName(name);
  if (canonical === null) return null;
  return asUser(database, userId, (transaction) => pages.findDomainId(transaction, userId, canonical));
}

/** Of each domain, those of the user's that lie under it, behind and before two places, newest first; inverted: oldest first. */
export async function pageSubdomains(
  context: OperationContext,
  domainIds: readonly string[],
  page: KeysetPage,
): Promise<Domain[][]> {
  const byDomain = await asUser(context.database, context.userId, (transaction) =>
    pages.pageSubdomains(transaction, context.userId, domainIds, page),
  );
  return domainIds.map((id) => (byDomain.get(id) ?? []).map((row) => domainViewOf(context, row)));
}

/** Of each domain, how many of the user's lie under it. */
export async function countSubdomains(
  { database, userId }: OperationContext,
  domainIds: readonly string[],
): Promise<number[]> {
  const counts = await asUser(database, userId, (transaction) => pages.countSubdomains(transaction, userId, domainIds));
  return domainIds.map((id) => counts.get(id) ?? 0);
}

/** Of each domain, by name, how much mail it had lately. */
export async function countDomainEmails(context: OperationContext, names: readonly string[]): Promise<RecentEmails[]> {
  const counts = await asUser(context.database, context.userId, (transaction) =>
    countRecentEmails(transaction, context.userId, { domains: names }, context.now()),
  );
  return names.map((name) => counts.get(name) ?? NONE);
}

function conditionsOf({ status, canReceive }: DomainQuery): DomainConditions {
  return { ids: null, status: status ?? null, canReceive: canReceive ?? null };
}
