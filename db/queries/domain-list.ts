import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Page } from '../../core/page.ts';
import type { DomainRow, EndpointType, Tables } from '../tables.ts';
import { countedEmails } from './email-counter.ts';

export interface Domain {
  id: string;
  name: string;
  status: 'pending' | 'verified' | 'failed';
  isTrusted: boolean;
  isCatchAllEnabled: boolean;
  receiveDmarcEmails: boolean;
  createdAt: Date;
  updatedAt: Date;
  /** since when the records of its MAIL FROM domain are seen; null: they are not */
  mailFromVerifiedAt: Date | null;
  /** newest first */
  dkimKeys: { selector: string; publicKey: string }[];
  catchAllEndpoint: { id: string; name: string; type: EndpointType; isActive: boolean } | null;
  addressCount: number;
  activeAddressCount: number;
}

/** Which domains a list shows; null puts no condition. */
export interface DomainConditions {
  ids: readonly string[] | null;
  status: Domain['status'] | null;
  canReceive: boolean | null;
}

/** Whether mail for a domain comes here: it is verified, and its MX was last seen to be ours, or it is trusted. Of the domain table by its alias. */
export function receivesSql(alias: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql<boolean>`(${column('status')} = 'verified' and (${column('is_trusted')} or ${column('is_mx_seen')}))`;
}

/** A page, newest first, and how many there are in all. */
export async function listDomains(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: DomainConditions,
  page: Page,
): Promise<{ domains: Domain[]; total: number }> {
  const { ids, status, canReceive } = conditions;
  const where = sql`d.user_id = ${userId}
    ${ids === null ? sql`` : sql`and d.id = any (${ids}::text[])`}
    ${status === null ? sql`` : sql`and d.status = ${status}`}
    ${canReceive === null ? sql`` : sql`and ${receivesSql('d')} = ${canReceive}`}`;
  const { rows } = await sql<{ total: number } & (ListedRow | { id: null })>`
    select t.total, p.* from (select count(*) as total from domain d where ${where}) t
    left join lateral (
      select d.*, e.name as endpoint_name, e.type as endpoint_type, e.is_active as endpoint_is_active,
        a.address_count, a.active_address_count, k.dkim_keys
      from domain d
      left join endpoint e on e.user_id = d.user_id and e.id = d.catch_all_endpoint_id
      cross join lateral (
        select count(*) as address_count, count(*) filter (where a.is_active) as active_address_count
        from email_address a where a.user_id = d.user_id and a.domain_id = d.id) a
      cross join lateral (
        select coalesce(json_agg(json_build_object('selector', k.selector, 'publicKey', k.public_key)
          order by k.created_at desc, k.selector), '[]') as dkim_keys
        from dkim_key k where k.user_id = d.user_id and k.domain_id = d.id) k
      where ${where} order by d.created_at desc, d.id desc limit ${page.limit} offset ${page.offset}
    ) p on true
    order by p.created_at desc, p.id desc`.execute(transaction);
  return {
    domains: rows.flatMap((row) => (row.id === null ? [] : [domainOf(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** The nearest verified domain of the user's among names given nearest first; null when there is none. */
export async function findVerifiedDomain(
  transaction: Transaction<Tables>,
  userId: string,
  names: readonly string[],
): Promise<{ name: string; isTrusted: boolean } | null> {
  const row = await transaction
    .selectFrom('domain')
    .select(['name', 'is_trusted as isTrusted'])
    .where('user_id', '=', userId)
    .where('status', '=', 'verified')
    .where('name', 'in', ['', ...names])
    .orderBy(sql`length(name)`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Mails created in the last 24 hours, 7 and 30 days, by whole hours. */
export async function countDomainEmails(
  transaction: Transaction<Tables>,
  userId: string,
  domain: string,
  now: Date,
): Promise<{ lastDay: number; lastWeek: number; lastMonth: number }> {
  const counted = (days: number) =>
    countedEmails(userId, {
      address: null,
      conditions: [sql`c.own_domain = ${domain}`],
      since: new Date(now.getTime() - days * 86_400_000),
    });
  const { rows } = await sql<{ last_day: number; last_week: number; last_month: number }>`
    select ${counted(1)} as last_day, ${counted(7)} as last_week, ${counted(30)} as last_month`.execute(transaction);
  const row = rows[0];
  return {
    lastDay: Number(row?.last_day ?? 0),
    lastWeek: Number(row?.last_week ?? 0),
    lastMonth: Number(row?.last_month ?? 0),
  };
}

type ListedRow = Omit<DomainRow, 'created_at' | 'updated_at' | 'check_due_at' | 'is_mx_seen'> & {
  created_at: Date;
  updated_at: Date;
  endpoint_name: string | null;
  endpoint_type: EndpointType | null;
  endpoint_is_active: boolean | null;
  address_count: number;
  active_address_count: number;
  dkim_keys: Domain['dkimKeys'];
};

function domainOf(row: ListedRow): Domain {
  const { catch_all_endpoint_id: id, endpoint_name: name, endpoint_type: type, endpoint_is_active: isActive } = row;
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    isTrusted: row.is_trusted,
    isCatchAllEnabled: row.is_catch_all_enabled,
    receiveDmarcEmails: row.receive_dmarc_emails,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    mailFromVerifiedAt: row.mail_from_verified_at,
    dkimKeys: row.dkim_keys,
    catchAllEndpoint:
      id === null || name === null || type === null || isActive === null ? null : { id, name, type, isActive },
    addressCount: Number(row.address_count),
    activeAddressCount: Number(row.active_address_count),
  };
}

/** Makes the user the one verified owner of the name; false when it has another. */
export async function claimVerifiedName(
  transaction: Transaction<Tables>,
  claim: { name: string; user_id: string; domain_id: string },
): Promise<boolean> {
  const claimed = await transaction
    .insertInto('verified_domain_name')
    .values(claim)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return claimed.numInsertedOrUpdatedRows === 1n;
}

/** Whether the name has no verified owner. */
export async function isVerifiedNameFree(transaction: Transaction<Tables>, name: string): Promise<boolean> {
  const { rows } = await sql<{ is_free: boolean }>`select is_verified_name_free(${name}) as is_free`.execute(
    transaction,
  );
  return rows[0]?.is_free === true;
}
