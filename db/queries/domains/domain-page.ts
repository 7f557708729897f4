import { sql, type Transaction } from 'kysely';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import {
  type Domain,
  type DomainConditions,
  domainColumns,
  domainConditionsSql,
  domainTables,
  type ListedDomain,
  toDomain,
} from './domain-row.ts';

/** Returns the domains between two cursors, newest first; inverted: oldest first. */
export async function pageDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: DomainConditions,
  page: KeysetPage,
): Promise<Domain[]> {
  const { rows } = await sql<ListedDomain>`
    select ${domainColumns} from ${domainTables}
    where ${domainConditionsSql(workspaceId, conditions)} ${keysetConditions('d', page)} ${keysetOrder('d', page)}
    limit ${page.limit}`.execute(transaction);
  return rows.map(toDomain);
}

export async function countDomainList(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: DomainConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from domain d where ${domainConditionsSql(workspaceId, conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the domains that belong to the workspace, unordered. */
export async function findDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Domain[]> {
  const { rows } = await sql<ListedDomain>`
    select ${domainColumns} from ${domainTables} where d.workspace_id = ${workspaceId} and d.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows.map(toDomain);
}

/** Returns the id of the workspace's domain with that name; null when there is none. */
export async function findDomainId(
  transaction: Transaction<Tables>,
  workspaceId: string,
  name: string,
): Promise<string | null> {
  const row = await transaction
    .selectFrom('domain')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.id ?? null;
}

/**
 * Returns the domains below each of several, between two cursors, newest first; inverted: oldest first. Keyed by the id of the parent
 * domain.
 */
export async function pageSubdomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainIds: readonly string[],
  page: KeysetPage,
): Promise<Map<string, Domain[]>> {
  const { rows } = await sql<ListedDomain & { above_id: string }>`
    select p.* from domain above
    cross join lateral (
      select above.id as above_id, ${domainColumns} from ${domainTables}
      where d.workspace_id = ${workspaceId} and ${liesUnder} ${keysetConditions('d', page)} ${keysetOrder('d', page)} limit ${page.limit}) p
    where above.workspace_id = ${workspaceId} and above.id = any (${domainIds}::text[])
    ${keysetOrder('p', page)}`.execute(transaction);
  const byDomain = new Map<string, Domain[]>();
  for (const row of rows) byDomain.set(row.above_id, [...(byDomain.get(row.above_id) ?? []), toDomain(row)]);
  return byDomain;
}

/** Counts the domains below each of several, keyed by id; those without any are left out. */
export async function countSubdomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; total: number }>`
    select above.id, count(*) as total from domain above join domain d on d.workspace_id = ${workspaceId} and ${liesUnder}
    where above.workspace_id = ${workspaceId} and above.id = any (${domainIds}::text[]) group by above.id`.execute(
    transaction,
  );
  return new Map(rows.map(({ id, total }) => [id, Number(total)]));
}

const liesUnder = sql`right(d.name, length(above.name) + 1) = '.' || above.name`;
