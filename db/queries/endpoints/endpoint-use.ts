import { sql, type Transaction } from 'kysely';
import type { DomainStatus } from '../../../core/domains/domain-state.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';

/** Addresses shown for a single endpoint. */
const MAX_ADDRESSES = 1_000;

/** What routes to an endpoint. */
export interface EndpointUse {
  /** newest first, at most 1,000 */
  addresses: { id: string; address: string; isActive: boolean; createdAt: Date }[];
  catchAllDomains: { id: string; name: string; status: DomainStatus }[];
}

export async function readEndpointUse(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<EndpointUse> {
  const addresses = await transaction
    .selectFrom('email_address')
    .select(['id', 'address', 'is_active as isActive', 'created_at as createdAt'])
    .where('workspace_id', '=', workspaceId)
    .where(sql<string>`coalesce(endpoint_id, webhook_id)`, '=', endpointId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_ADDRESSES)
    .execute();
  const catchAllDomains = await transaction
    .selectFrom('domain')
    .select(['id', 'name', 'status'])
    .where('workspace_id', '=', workspaceId)
    .where('catch_all_endpoint_id', '=', endpointId)
    .where('is_catch_all_enabled', '=', true)
    .execute();
  return { addresses, catchAllDomains };
}

/** An address that routes to an endpoint, with its position in the list. */
export interface UsingAddress {
  id: string;
  endpointId: string;
  createdAt: Date;
}

/** Returns the addresses that route to each of the endpoints, between two cursors, newest first; inverted: oldest first. */
export async function pageUsingAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointIds: readonly string[],
  page: KeysetPage,
): Promise<UsingAddress[]> {
  // One scan of the workspace's addresses: under row-level security no index on the endpoint is used, since `coalesce` might leak.
  const { rows } = await sql<UsingAddress>`
    select p.id, p."endpointId", p.created_at as "createdAt" from (
      select a.id, a.created_at, coalesce(a.endpoint_id, a.webhook_id) as "endpointId",
        row_number() over (partition by coalesce(a.endpoint_id, a.webhook_id) ${keysetOrder('a', page)}) as place
      from email_address a
      where a.workspace_id = ${workspaceId} and coalesce(a.endpoint_id, a.webhook_id) = any (${endpointIds}::text[])
        ${keysetConditions('a', page)}
    ) p where p.place <= ${page.limit} ${keysetOrder('p', page)}`.execute(transaction);
  return rows;
}

/** Counts the addresses that route to each of the endpoints; endpoints without any are left out. */
export async function countUsingAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointIds: readonly string[],
): Promise<{ endpointId: string; count: number }[]> {
  const { rows } = await sql<{ endpointId: string; count: number }>`
    select coalesce(endpoint_id, webhook_id) as "endpointId", count(*)::integer as count from email_address
    where workspace_id = ${workspaceId} and coalesce(endpoint_id, webhook_id) = any (${endpointIds}::text[])
    group by 1`.execute(transaction);
  return rows;
}

/** Returns the domains whose catch-all routes to one of the endpoints, by name. */
export async function findCatchAllDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointIds: readonly string[],
): Promise<{ id: string; endpointId: string }[]> {
  const { rows } = await sql<{ id: string; endpointId: string }>`
    select id, catch_all_endpoint_id as "endpointId" from domain
    where workspace_id = ${workspaceId} and catch_all_endpoint_id = any (${endpointIds}::text[]) and is_catch_all_enabled
    order by name`.execute(transaction);
  return rows;
}
