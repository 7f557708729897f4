import { type RawBuilder, sql, type Transaction } from 'kysely';
import { RETIRED_KEY_DAYS } from '../../core/dns-records.ts';
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
  /** since when the proof of the verified domain is missing */
  proofLostAt: Date | null;
  isMxSeen: boolean;
  /** the verified domain above it that it was verified by */
  parent: { id: string; name: string } | null;
  /** as core/domain-check.ts stores it */
  dnsCheck: unknown;
  checkedAt: Date | null;
  /** newest first; without those that were replaced so long ago that their records may be gone */
  dkimKeys: { selector: string; publicKey: string; state: 'active' | 'waiting' | 'retired' }[];
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
        a.address_count, a.active_address_count, k.dkim_keys, up.name as parent_name
      from domain d
      left join domain up on up.user_id = d.user_id and up.id = d.parent_id
      left join endpoint e on e.user_id = d.user_id and e.id = d.catch_all_endpoint_id
      cross join lateral (
        select count(*) as address_count, count(*) filter (where a.is_active) as active_address_count
        from email_address a where a.user_id = d.user_id and a.domain_id = d.id) a
      cross join lateral (
        select coalesce(json_agg(json_build_object('selector', k.selector, 'publicKey', k.public_key,
          'state', case when k.retired_at is not null then 'retired' when k.activated_at is null then 'waiting' else 'active' end)
          order by k.created_at desc, k.selector), '[]') as dkim_keys
        from dkim_key k where k.user_id = d.user_id and k.domain_id = d.id
          and (k.retired_at is null or k.retired_at > (select postroom_now()) - interval '${sql.raw(String(RETIRED_KEY_DAYS))} days')) k
      where ${where} order by d.created_at desc, d.id desc limit ${page.limit} offset ${page.offset}
    ) p on true
    order by p.created_at desc, p.id desc`.execute(transaction);
  return {
    domains: rows.flatMap((row) => (row.id === null ? [] : [domainOf(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Whether the user has a domain of that name. */
export async function hasDomain(transaction: Transaction<Tables>, userId: string, name: string): Promise<boolean> {
  const row = await transaction
    .selectFrom('domain')
    .select('id')
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row !== undefined;
}

/** How many domains the user has in each status. */
export async function countDomains(
  transaction: Transaction<Tables>,
  userId: string,
): Promise<Record<Domain['status'], number>> {
  const rows = await transaction
    .selectFrom('domain')
    .select(['status', ({ fn }) => fn.countAll<number>().as('count')])
    .where('user_id', '=', userId)
    .groupBy('status')
    .execute();
  const countOf = (status: Domain['status']) => Number(rows.find((row) => row.status === status)?.count ?? 0);
  return { pending: countOf('pending'), verified: countOf('verified'), failed: countOf('failed') };
}

/**
 * The nearest verified domain of the user's among names given nearest first, so far as its own proof stands; null when there is none. Locked
 * against being given up until the transaction ends.
 */
export async function findVerifiedDomain(
  transaction: Transaction<Tables>,
  userId: string,
  names: readonly string[],
): Promise<{ id: string; name: string; isTrusted: boolean } | null> {
  const row = await transaction
    .selectFrom('domain')
    .select(['id', 'name', 'is_trusted as isTrusted'])
    .where('user_id', '=', userId)
    .where('status', '=', 'verified')
    .where('proof_lost_at', 'is', null)
    .where('name', 'in', ['', ...names])
    .orderBy(sql`length(name)`, 'desc')
    .limit(1)
    .forShare()
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
  is_mx_seen: boolean;
  created_at: Date;
  updated_at: Date;
  endpoint_name: string | null;
  endpoint_type: EndpointType | null;
  endpoint_is_active: boolean | null;
  address_count: number;
  active_address_count: number;
  dkim_keys: Domain['dkimKeys'];
  parent_name: string | null;
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
    proofLostAt: row.proof_lost_at,
    isMxSeen: row.is_mx_seen,
    parent: row.parent_id === null || row.parent_name === null ? null : { id: row.parent_id, name: row.parent_name },
    dnsCheck: row.dns_check,
    checkedAt: row.checked_at,
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

/**
 * Whether a claim on the name may be made: it has no verified owner, or one whose proof is missing. Otherwise the owner's proof is looked at
 * soon, as somebody else thinks the domain is theirs.
 */
export async function contestVerifiedName(transaction: Transaction<Tables>, name: string): Promise<boolean> {
  const { rows } = await sql<{ is_open: boolean }>`select contest_verified_name(${name}) as is_open`.execute(
    transaction,
  );
  return rows[0]?.is_open === true;
}
