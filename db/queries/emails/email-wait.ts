import { sql, type Transaction } from 'kysely';
import { canonicalAddress } from '../../../core/domains/domain-name.ts';
import { looksLikeReplyAddress } from '../../../core/smtp/reply-address.ts';
import type { Tables } from '../../entities/tables.ts';
import { toAddress, toDomainName } from '../domains/id-or-name.ts';
import { containsPattern } from '../search/search-pattern.ts';

/** Filters of the received mail to wait for; null matches all. */
export interface AwaitedEmail {
  /** id or name of the receiving address; with a plus-tag, only that one */
  address: string | null;
  /** id or name of the receiving domain */
  domain: string | null;
  /** the sender's address, or its domain */
  from: string | null;
  /** part of the subject, case-insensitive */
  subject: string | null;
  /** earliest time of acceptance */
  since: Date;
  /** ids of emails that do not match */
  exceptEmailIds: readonly string[];
}

/** Returns the first matching received email that has its thread, of all or of these; null when there is none. */
export async function findAwaited(
  transaction: Transaction<Tables>,
  workspaceId: string,
  awaited: AwaitedEmail,
  emailIds: readonly string[] | null,
): Promise<string | null> {
  const { address, domain, from, subject, since, exceptEmailIds } = awaited;
  const none = sql``;
  const { rows } = await sql<{ id: string }>`
    select e.id from email e
    where e.workspace_id = ${workspaceId} and e.type = 'received' and e.trashed_at is null and e.thread_id is not null and e.created_at >= ${since}
      ${emailIds === null ? none : sql`and e.id = any (${emailIds}::text[])`}
      ${exceptEmailIds.length === 0 ? none : sql`and e.id <> all (${exceptEmailIds}::text[])`}
      ${address === null ? none : addressCondition(workspaceId, address)}
      ${domain === null ? none : sql`and e.own_domain = ${toDomainName(workspaceId, domain)}`}
      ${from === null ? none : fromCondition(from.trim().toLowerCase())}
      ${subject === null ? none : sql`and lower(e.subject) like ${containsPattern(subject)}`}
    order by e.created_at, e.id limit 1`.execute(transaction);
  return rows[0]?.id ?? null;
}

/** Why no mail can arrive that matches a filter. */
export interface Unreachable {
  field: 'address' | 'domain';
  /** `no_address`: the domain has neither the address nor a catch-all */
  reason: 'foreign_domain' | 'unverified_domain' | 'no_address' | 'disabled_address';
}

/** Returns why the user receives no mail for the address or domain of a filter; null when mail can arrive. */
export async function findUnreachable(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { address, domain }: Pick<AwaitedEmail, 'address' | 'domain'>,
): Promise<Unreachable | null> {
  if (domain !== null) {
    const reason = await domainTrouble(transaction, workspaceId, domain);
    if (reason !== null) return { field: 'domain', reason };
  }
  if (address === null) return null;
  const reason = address.includes('@')
    ? await nameTrouble(transaction, workspaceId, address)
    : await idTrouble(transaction, workspaceId, address);
  return reason === null ? null : { field: 'address', reason };
}

async function domainTrouble(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domain: string,
): Promise<Unreachable['reason'] | null> {
  const { rows } = await sql<{ status: string }>`
    select status from domain where workspace_id = ${workspaceId} and name = ${toDomainName(workspaceId, domain)}`.execute(
    transaction,
  );
  if (rows[0] === undefined) return 'foreign_domain';
  return rows[0].status === 'verified' ? null : 'unverified_domain';
}

async function idTrouble(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<Unreachable['reason'] | null> {
  const { rows } = await sql<{ is_active: boolean }>`
    select is_active from email_address where workspace_id = ${workspaceId} and id = ${id}`.execute(transaction);
  if (rows[0] === undefined) return 'no_address';
  return rows[0].is_active ? null : 'disabled_address';
}

/** A reply address is known by its signature, and may be received without an address of its domain. */
async function nameTrouble(
  transaction: Transaction<Tables>,
  workspaceId: string,
  given: string,
): Promise<Unreachable['reason'] | null> {
  const name = canonicalAddress(given);
  if (name === null) return 'no_address';
  const { address: exact, domain } = name;
  const { rows } = await sql<{ status: string; is_catch_all_enabled: boolean; is_active: boolean | null }>`
    select d.status, d.is_catch_all_enabled, (
      select a.is_active from email_address a
      where a.workspace_id = d.workspace_id and a.domain_id = d.id and a.address in (${exact}, ${exact.replace(/\+[^@]*/, '')})
      order by (a.address = ${exact}) desc limit 1) as is_active
    from domain d where d.workspace_id = ${workspaceId} and d.name = ${domain}`.execute(transaction);
  const [row] = rows;
  if (row === undefined) return 'foreign_domain';
  if (row.status !== 'verified') return 'unverified_domain';
  if (row.is_active === false) return 'disabled_address';
  return row.is_active === true || row.is_catch_all_enabled || looksLikeReplyAddress(exact) ? null : 'no_address';
}

/** The row stores the address without its tag, and the envelope recipient as given. */
function addressCondition(workspaceId: string, address: string) {
  return /\+.*@/.test(address)
    ? sql`and lower(e.recipient) = ${address.trim().toLowerCase()}`
    : sql`and e.own_address = ${toAddress(workspaceId, address)}`;
}

function fromCondition(from: string) {
  return from.includes('@') && !from.startsWith('@')
    ? sql`and lower(e.from_address) = ${from}`
    : sql`and split_part(lower(e.from_address), '@', -1) = ${from.replace(/^@/, '')}`;
}
