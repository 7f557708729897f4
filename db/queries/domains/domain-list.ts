import { sql, type Transaction } from 'kysely';
import type { Page } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import {
  type DomainConditions,
  domainColumns,
  domainConditionsSql,
  domainTables,
  type ListedDomain,
  type Domain as PlainDomain,
  toDomain,
} from './domain-row.ts';

/** With the number of its addresses. */
export interface Domain extends PlainDomain {
  addressCount: number;
  activeAddressCount: number;
}

/** Returns a page, newest first, and the total count. */
export async function listDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: DomainConditions,
  page: Page,
): Promise<{ domains: Domain[]; total: number }> {
  const where = domainConditionsSql(workspaceId, conditions);
  const { rows } = await sql<{ total: number } & (CountedRow | { id: null })>`
    select t.total, p.* from (select count(*) as total from domain d where ${where}) t
    left join lateral (
      select ${domainColumns}, a.address_count, a.active_address_count from ${domainTables}
      cross join lateral (
        select count(*) as address_count, count(*) filter (where a.is_active) as active_address_count
        from email_address a where a.workspace_id = d.workspace_id and a.domain_id = d.id) a
      where ${where} order by d.created_at desc, d.id desc limit ${page.limit} offset ${page.offset}
    ) p on true
    order by p.created_at desc, p.id desc`.execute(transaction);
  return {
    domains: rows.flatMap((row) => (row.id === null ? [] : [toCountedDomain(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Counts the workspace's domains by status. */
export async function countDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<Record<Domain['status'], number>> {
  const rows = await transaction
    .selectFrom('domain')
    .select(['status', ({ fn }) => fn.countAll<number>().as('count')])
    .where('workspace_id', '=', workspaceId)
    .groupBy('status')
    .execute();
  const readCount = (status: Domain['status']) => Number(rows.find((row) => row.status === status)?.count ?? 0);
  return { pending: readCount('pending'), verified: readCount('verified'), failed: readCount('failed') };
}

/**
 * Returns the nearest verified domain of the workspace among names given nearest first, whose own proof is present; null when there is none.
 * Locked against being released until the transaction ends.
 */
export async function findVerifiedDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  names: readonly string[],
): Promise<{ id: string; name: string; isTrusted: boolean } | null> {
  const row = await transaction
    .selectFrom('domain')
    .select(['id', 'name', 'is_trusted as isTrusted'])
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'verified')
    .where('proof_lost_at', 'is', null)
    .where('name', 'in', ['', ...names])
    .orderBy(sql`length(name)`, 'desc')
    .limit(1)
    .forShare()
    .executeTakeFirst();
  return row ?? null;
}

type CountedRow = ListedDomain & { address_count: number; active_address_count: number };

function toCountedDomain(row: CountedRow): Domain {
  return {
    ...toDomain(row),
    addressCount: Number(row.address_count),
    activeAddressCount: Number(row.active_address_count),
  };
}

/** Makes the user the verified owner of the name; false when it has another owner. */
export async function claimVerifiedName(
  transaction: Transaction<Tables>,
  claim: { name: string; workspace_id: string; domain_id: string },
): Promise<boolean> {
  const claimed = await transaction
    .insertInto('verified_domain_name')
    .values(claim)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return claimed.numInsertedOrUpdatedRows === 1n;
}

/**
 * Whether the name can be claimed: it has no verified owner, or one whose proof is missing. Otherwise the owner's proof is checked soon,
 * because another workspace claims the domain.
 */
export async function contestVerifiedName(transaction: Transaction<Tables>, name: string): Promise<boolean> {
  const { rows } = await sql<{ is_open: boolean }>`select contest_verified_name(${name}) as is_open`.execute(
    transaction,
  );
  return rows[0]?.is_open === true;
}

/** Whether the name is a verified domain of any workspace. Unlike contestVerifiedName it changes nothing. */
export async function isHostedName(transaction: Transaction<Tables>, name: string): Promise<boolean> {
  const { rows } = await sql<{ is_hosted: boolean }>`select is_hosted_domain(${name}) as is_hosted`.execute(
    transaction,
  );
  return rows[0]?.is_hosted === true;
}

/** Returns the names of the workspace's verified domains that need no DNS records. */
export async function listTrustedNames(transaction: Transaction<Tables>, workspaceId: string): Promise<string[]> {
  const rows = await transaction
    .selectFrom('domain')
    .select('name')
    .where('workspace_id', '=', workspaceId)
    .where('is_trusted', '=', true)
    .where('status', '=', 'verified')
    .execute();
  return rows.map(({ name }) => name);
}
