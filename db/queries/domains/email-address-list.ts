import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DomainStatus } from '../../../core/domains/domain-state.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Row, Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import { containsPattern } from '../search/search-pattern.ts';
import { receivesSql } from './domain-row.ts';

export interface EmailAddress {
  id: string;
  address: string;
  isActive: boolean;
  endpointId: string | null;
  webhookId: string | null;
  /** of mail that it sends; null: none */
  policy: SendPolicy | null;
  /** plain text below mail that is written in the dashboard; null: none */
  signature: string | null;
  createdAt: Date;
  updatedAt: Date;
  domain: { id: string; name: string; status: DomainStatus; isReceiving: boolean };
  /** the target of endpointId or webhookId; null when nothing is routed */
  endpoint: {
    id: string;
    name: string;
    type: EndpointType;
    config: Record<string, unknown>;
    isActive: boolean;
  } | null;
}

/** Filters of a list of addresses; null matches all. */
export interface EmailAddressConditions {
  ids: readonly string[] | null;
  domainId: string | null;
  isActive: boolean | null;
  /** active, on a domain whose mail arrives here */
  isReceiving: boolean | null;
  /** part of the address, case-insensitive */
  search: string | null;
}

const receives = receivesSql('d');

/** Returns a page, newest first, and the total count. */
export async function listEmailAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailAddressConditions,
  page: Page,
): Promise<{ addresses: EmailAddress[]; total: number }> {
  const from = fromAddresses(workspaceId, conditions);
  const { rows } = await sql<{ total: number } & (ListedRow | { id: null })>`
    select t.total, p.* from (select count(*) as total ${from}) t
    left join lateral (
      select ${columns} ${from} order by a.created_at desc, a.id desc limit ${page.limit} offset ${page.offset}
    ) p on true
    order by p.created_at desc, p.id desc`.execute(transaction);
  return {
    addresses: rows.flatMap((row) => (row.id === null ? [] : [toEmailAddress(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Returns the addresses between two cursors, newest first; inverted: oldest first. */
export async function pageEmailAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailAddressConditions,
  page: KeysetPage,
): Promise<EmailAddress[]> {
  const { rows } = await sql<ListedRow>`
    select ${columns} ${fromAddresses(workspaceId, conditions)} ${keysetConditions('a', page)} ${keysetOrder('a', page)}
    limit ${page.limit}`.execute(transaction);
  return rows.map(toEmailAddress);
}

/** Like pageEmailAddresses, for each of several domains, keyed by domain id. */
export async function pageAddressesOfDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainIds: readonly string[],
  conditions: EmailAddressConditions,
  page: KeysetPage,
): Promise<Map<string, EmailAddress[]>> {
  const { rows } = await sql<ListedRow>`
    select p.* from unnest(${domainIds}::text[]) as w (id)
    cross join lateral (
      select ${columns} ${fromAddresses(workspaceId, conditions)} and a.domain_id = w.id
      ${keysetConditions('a', page)} ${keysetOrder('a', page)} limit ${page.limit}) p
    ${keysetOrder('p', page)}`.execute(transaction);
  return Map.groupBy(rows.map(toEmailAddress), ({ domain }) => domain.id);
}

export async function countEmailAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: EmailAddressConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total ${fromAddresses(workspaceId, conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Like countEmailAddresses, for each of several domains, keyed by domain id; those without addresses are left out. */
export async function countAddressesOfDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainIds: readonly string[],
  conditions: EmailAddressConditions,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ domain_id: string; total: number }>`
    select a.domain_id, count(*) as total ${fromAddresses(workspaceId, conditions)}
    and a.domain_id = any (${domainIds}::text[]) group by a.domain_id`.execute(transaction);
  return new Map(rows.map((row) => [row.domain_id, Number(row.total)]));
}

function fromAddresses(
  workspaceId: string,
  { ids, domainId, isActive, isReceiving, search }: EmailAddressConditions,
): RawBuilder<unknown> {
  return sql`
    from email_address a join address_domain d on d.workspace_id = a.workspace_id and d.id = a.domain_id
    left join endpoint e on e.workspace_id = a.workspace_id and e.id = coalesce(a.endpoint_id, a.webhook_id)
    where a.workspace_id = ${workspaceId}
      ${ids === null ? sql`` : sql`and a.id = any (${ids}::text[])`}
      ${domainId === null ? sql`` : sql`and a.domain_id = ${domainId}`}
      ${isActive === null ? sql`` : sql`and a.is_active = ${isActive}`}
      ${isReceiving === null ? sql`` : sql`and (a.is_active and ${receives}) = ${isReceiving}`}
      ${search === null ? sql`` : sql`and a.address like ${containsPattern(search)}`}`;
}

const columns = sql`a.*, d.name as domain_name, d.status as domain_status, ${receives} as domain_is_receiving,
  e.name as endpoint_name, e.type as endpoint_type, e.config as endpoint_config, e.is_active as endpoint_is_active`;

type ListedRow = Omit<Row<'email_address'>, 'created_at' | 'updated_at'> & {
  created_at: Date;
  updated_at: Date;
  domain_name: string;
  domain_status: EmailAddress['domain']['status'];
  domain_is_receiving: boolean;
  endpoint_name: string | null;
  endpoint_type: EndpointType | null;
  endpoint_config: Record<string, unknown> | null;
  endpoint_is_active: boolean | null;
};

function toEmailAddress(row: ListedRow): EmailAddress {
  const id = row.endpoint_id ?? row.webhook_id;
  const { endpoint_name: name, endpoint_type: type, endpoint_is_active: isActive } = row;
  const hasEndpoint = id !== null && name !== null && type !== null && isActive !== null;
  return {
    id: row.id,
    address: row.address,
    isActive: row.is_active,
    endpointId: row.endpoint_id,
    webhookId: row.webhook_id,
    policy: row.send_policy,
    signature: row.signature,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    domain: {
      id: row.domain_id,
      name: row.domain_name,
      status: row.domain_status,
      isReceiving: row.domain_is_receiving,
    },
    endpoint: hasEndpoint ? { id, name, type, config: row.endpoint_config ?? {}, isActive } : null,
  };
}

/** Reserves the address for the workspace across the service; false when another workspace has it. */
export async function claimAddress(
  transaction: Transaction<Tables>,
  claim: { address: string; workspace_id: string; address_id: string },
): Promise<boolean> {
  const claimed = await transaction
    .insertInto('email_address_name')
    .values(claim)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return claimed.numInsertedOrUpdatedRows === 1n;
}

/** Releases the name, so that it can be claimed again. */
export async function freeAddress(
  transaction: Transaction<Tables>,
  workspaceId: string,
  addressId: string,
): Promise<void> {
  await transaction
    .deleteFrom('email_address_name')
    .where('workspace_id', '=', workspaceId)
    .where('address', '=', (a) =>
      a
        .selectFrom('email_address')
        .select('address')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', addressId),
    )
    .execute();
}

/** Returns the workspace's oldest address that receives mail; null when there is none. */
export async function findFirstReceiving(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<{ id: string; address: string } | null> {
  const { rows } = await sql<{ id: string; address: string }>`
    select a.id, a.address from email_address a join address_domain d on d.workspace_id = ${workspaceId} and d.id = a.domain_id
    where a.workspace_id = ${workspaceId} and a.is_active and ${receivesSql('d')} order by a.created_at, a.id limit 1`.execute(
    transaction,
  );
  return rows[0] ?? null;
}
