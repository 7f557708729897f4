import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import { toDomainName } from './id-or-name.ts';

/** A reply address as stored: without the address itself, which is computed. */
export interface StoredReplyAddress {
  id: string;
  domainId: string;
  domain: string;
  /** lower case; null: `reply@` of the domain */
  deliverTo: string | null;
  /** an object, or null */
  metadata: unknown;
  /** the thread that its mail joins now; null: none was named, or it no longer exists */
  threadId: string | null;
  /** addresses and domains, lower case; empty: everyone */
  senders: string[];
  maxMessages: number | null;
  messageCount: number;
  expiresAt: Date | null;
  revokedAt: Date | null;
  createdAt: Date;
}

/** Filters of a list; null matches all. */
export interface ReplyAddressConditions {
  /** id or name */
  domain: string | null;
}

/** Returns a page, newest first, and the total count. */
export async function listReplyAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ReplyAddressConditions,
  page: Page,
): Promise<{ rows: StoredReplyAddress[]; total: number }> {
  const where = whereSql(workspaceId, conditions);
  const { rows } = await sql<{ total: number } & (StoredReplyAddress | { id: null })>`
    select t.total, p.* from (select count(*) as total from reply_address r where ${where}) t
    left join lateral (
      select ${columns} from reply_address r where ${where}
      order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}
    ) p on true order by p."createdAt" desc, p.id desc`.execute(transaction);
  return {
    rows: rows.flatMap((row) => (row.id === null ? [] : [withoutTotal(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Returns the reply addresses between two cursors, newest first; inverted: oldest first. */
export async function pageReplyAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ReplyAddressConditions,
  page: KeysetPage,
): Promise<StoredReplyAddress[]> {
  const { rows } = await sql<StoredReplyAddress>`
    select ${columns} from reply_address r where ${whereSql(workspaceId, conditions)} ${keysetConditions('r', page)}
    ${keysetOrder('r', page)} limit ${page.limit}`.execute(transaction);
  return rows;
}

export async function countReplyAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: ReplyAddressConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from reply_address r where ${whereSql(workspaceId, conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the reply addresses that belong to the workspace, unordered. */
export async function findReplyAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<StoredReplyAddress[]> {
  const { rows } = await sql<StoredReplyAddress>`
    select ${columns} from reply_address r where r.workspace_id = ${workspaceId} and r.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** Revokes a reply address; one that is revoked already keeps its time. Returns whether the workspace has one with that id. */
export async function revokeReplyAddress(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
  at: Date,
): Promise<boolean> {
  const result = await transaction
    .updateTable('reply_address')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, ${at})` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** A domain of the workspace, and whether it has the address that is asked for. */
export interface ReplyDomain {
  id: string;
  name: string;
  isVerified: boolean;
  /** the address by its id or name; null: the domain has no such address */
  deliverTo: string | null;
}

/** Returns the id of each address that receives the mail of reply addresses, by its name; addresses that the workspace does not have are missing. */
export async function findReplyReceivers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; address: string }>`
    select a.id, a.address from email_address a where a.workspace_id = ${workspaceId} and a.address = any (${addresses}::text[])`.execute(
    transaction,
  );
  return new Map(rows.map(({ id, address }) => [address, id]));
}

/** Returns the domain of the workspace by id or name; null when there is none. */
export async function findReplyDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domain: string,
  deliverTo: string | null,
): Promise<ReplyDomain | null> {
  const { rows } = await sql<ReplyDomain>`
    select d.id, d.name, d.status = 'verified' as "isVerified",
      (select a.address from email_address a where a.workspace_id = d.workspace_id and a.domain_id = d.id
        and (a.id = ${deliverTo} or a.address = lower(${deliverTo}))) as "deliverTo"
    from domain d where d.workspace_id = ${workspaceId} and d.name = ${toDomainName(workspaceId, domain)}`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

/** Returns whether the workspace has the thread, also by the id of one that was merged into it. */
export async function hasThread(
  transaction: Transaction<Tables>,
  workspaceId: string,
  threadId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from thread t where t.workspace_id = ${workspaceId} and t.id = coalesce(
      (select a.thread_id from thread_alias a where a.workspace_id = ${workspaceId} and a.alias_id = ${threadId}), ${threadId})`.execute(
    transaction,
  );
  return rows.length > 0;
}

function withoutTotal(row: StoredReplyAddress & { total: number }): StoredReplyAddress {
  const { total: _, ...stored } = row;
  return stored;
}

function whereSql(workspaceId: string, { domain }: ReplyAddressConditions): RawBuilder<unknown> {
  return sql`r.workspace_id = ${workspaceId}
    ${domain === null ? sql`` : sql`and r.domain_id = (select d.id from domain d where d.workspace_id = ${workspaceId} and d.name = ${toDomainName(workspaceId, domain)})`}`;
}

const columns = sql`r.id, r.domain_id as "domainId", r.domain, r.deliver_to as "deliverTo", r.metadata, r.thread_id as "threadId",
  r.senders, r.max_messages as "maxMessages", r.message_count as "messageCount", r.expires_at as "expiresAt",
  r.revoked_at as "revokedAt", r.created_at as "createdAt"`;
