import type pg from 'pg';
import type { DomainStatus } from '../../../core/domains/domain-state.ts';
import type { Database } from '../../connection/database.ts';

/** A domain with what a check of its DNS needs. */
export interface CheckedDomain {
  workspaceId: string;
  id: string;
  name: string;
  status: DomainStatus;
  isTrusted: boolean;
  parentId: string | null;
  createdAt: Date;
  verifiedAt: Date | null;
  proofLostAt: Date | null;
  isMxSeen: boolean;
  mailFromVerifiedAt: Date | null;
  /** in the form that core/domains/domain-check.ts produces */
  dnsCheck: unknown;
  checkedAt: Date | null;
  /** newest first, without those whose DNS records may have been removed */
  keys: { selector: string; publicKey: string; state: 'active' | 'waiting' | 'retired'; createdAt: string }[];
  /** PostgreSQL's clock when the row was read */
  now: Date;
}

/** Domains claimed at once. */
export const CHECK_BATCH = 50;
/** How long a claim holds: if an actor dies during a check, others check the domain after this; seconds. */
const CLAIM_SECONDS = 60;

const KEYS = `coalesce((
  select json_agg(json_build_object('selector', k.selector, 'publicKey', k.public_key, 'createdAt', k.created_at, 'state',
    case when k.retired_at is not null then 'retired' when k.activated_at is null then 'waiting' else 'active' end)
    order by k.created_at desc, k.selector)
  from dkim_key k where k.workspace_id = d.workspace_id and k.domain_id = d.id), '[]')`;

const COLUMNS = `d.workspace_id as "workspaceId", d.id, d.name, d.status, d.is_trusted as "isTrusted", d.parent_id as "parentId",
  d.created_at as "createdAt", d.verified_at as "verifiedAt", d.proof_lost_at as "proofLostAt", d.is_mx_seen as "isMxSeen",
  d.mail_from_verified_at as "mailFromVerifiedAt", d.dns_check as "dnsCheck", d.checked_at as "checkedAt",
  ${KEYS} as keys, (select postroom_now()) as now`;

/** Claims due domains, so that no other actor checks them now. */
export async function claimDueDomains(database: Database): Promise<CheckedDomain[]> {
  const { rows } = await database.pool.query<CheckedDomain>({
    name: 'claim-due-domains',
    text: `
      update domain d set check_due_at = (select postroom_now()) + interval '${CLAIM_SECONDS} seconds'
      where d.ctid = any (array(
        select c.ctid from domain c where c.check_due_at <= (select postroom_now())
        order by c.check_due_at limit ${CHECK_BATCH} for update skip locked))
      returning ${COLUMNS}`,
  });
  return rows;
}

/** Releases domains that were claimed and not checked. */
export async function giveBackDomains(database: Database, domains: readonly CheckedDomain[]): Promise<void> {
  await database.pool.query({
    name: 'give-back-domains',
    text: `
      update domain d set check_due_at = (select postroom_now())
      from unnest($1::text[], $2::text[]) as t(workspace_id, id)
      where d.workspace_id = t.workspace_id and d.id = t.id`,
    values: [domains.map(({ workspaceId }) => workspaceId), domains.map(({ id }) => id)],
  });
}

/** Returns those of the domains that belong to the workspace. */
export async function readCheckedDomains(
  database: Database,
  workspaceId: string,
  ids: readonly string[],
): Promise<CheckedDomain[]> {
  const { rows } = await database.pool.query<CheckedDomain>({
    name: 'read-checked-domains',
    text: `select ${COLUMNS} from domain d where d.workspace_id = $1 and d.id = any ($2)`,
    values: [workspaceId, ids],
  });
  return rows;
}

/** Returns the current state of the domain and locks it until the end of the transaction; null when it is gone. */
export async function lockCheckedDomain(
  client: pg.PoolClient,
  workspaceId: string,
  id: string,
): Promise<CheckedDomain | null> {
  const { rows } = await client.query<CheckedDomain>({
    name: 'lock-checked-domain',
    text: `select ${COLUMNS} from domain d where d.workspace_id = $1 and d.id = $2 for update of d`,
    values: [workspaceId, id],
  });
  return rows[0] ?? null;
}

/** The changes of a check to a domain's row. */
export interface DomainChange {
  status: CheckedDomain['status'];
  verifiedAt: Date | null;
  proofLostAt: Date | null;
  isMxSeen: boolean;
  mailFromVerifiedAt: Date | null;
  dnsCheck: unknown;
  delayMs: number;
  /** selectors of pending keys that become active */
  activated: readonly string[];
}

/** Stores the result of a check, and when to check next. A key that becomes active retires the ones before it. */
export async function writeDomainCheck(
  client: pg.PoolClient,
  { workspaceId, id }: Pick<CheckedDomain, 'workspaceId' | 'id'>,
  change: DomainChange,
  retiredKeyDays: number,
): Promise<void> {
  await client.query({
    name: 'write-domain-check',
    text: `
      update domain set status = $3, verified_at = $4, proof_lost_at = $5, is_mx_seen = $6, mail_from_verified_at = $7, dns_check = $8,
        checked_at = (select postroom_now()), check_due_at = (select postroom_now()) + $9 * interval '1 millisecond',
        updated_at = case when status = $3 then updated_at else (select postroom_now()) end
      where workspace_id = $1 and id = $2`,
    values: [
      workspaceId,
      id,
      change.status,
      change.verifiedAt,
      change.proofLostAt,
      change.isMxSeen,
      change.mailFromVerifiedAt,
      JSON.stringify(change.dnsCheck),
      change.delayMs,
    ],
  });
  if (change.activated.length > 0)
    await client.query({
      name: 'activate-dkim-keys',
      text: `
        update dkim_key set
          activated_at = case when selector = any ($3) then (select postroom_now()) else activated_at end,
          retired_at = case when selector = any ($3) then null else (select postroom_now()) end
        where workspace_id = $1 and domain_id = $2 and retired_at is null and (selector = any ($3) or activated_at is not null)`,
      values: [workspaceId, id, change.activated],
    });
  await client.query({
    name: 'remove-retired-keys',
    text: `
      delete from dkim_key where workspace_id = $1 and domain_id = $2
        and retired_at < (select postroom_now()) - $3 * interval '1 day'`,
    values: [workspaceId, id, retiredKeyDays],
  });
}
