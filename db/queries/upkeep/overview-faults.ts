import { sql, type Transaction } from 'kysely';
import type { EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import type { Tables } from '../../entities/tables.ts';
import { type Domain, domainColumns, domainTables, type ListedDomain, toDomain } from '../domains/domain-row.ts';
import { isHeldRoute } from '../emails/email-row.ts';

/** Maximum entries of each kind. */
const MAX_TOLD = 50;

/** Domains that are not proven, lost their proof, or lack one of their records, with the number of their active addresses; oldest first. */
export async function readFaultyDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<(Domain & { addressCount: number })[]> {
  const { rows } = await sql<ListedDomain & { address_count: number }>`
    select ${domainColumns}, a.address_count from ${domainTables}
    cross join lateral (
      select count(*) as address_count from email_address a
      where a.workspace_id = ${workspaceId} and a.domain_id = d.id and a.is_active) a
    where d.workspace_id = ${workspaceId} and (d.status <> 'verified' or d.proof_lost_at is not null or (not d.is_trusted and (d.dns_check is null
      or exists (select from jsonb_array_elements(d.dns_check->'records') c where not (c->>'isSeen')::boolean))))
    order by d.created_at, d.id limit ${MAX_TOLD}`.execute(transaction);
  return rows.map((row) => ({ ...toDomain(row), addressCount: row.address_count }));
}

/** An endpoint that Postroom disabled, or whose attempts all fail. */
export interface FaultyEndpoint {
  id: string;
  name: string;
  isActive: boolean;
  inactiveReason: string | null;
  failingSince: Date | null;
  /** deliveries that wait for their next attempt; at most MAX_TOLD */
  pending: number;
}

export async function readFaultyEndpoints(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<FaultyEndpoint[]> {
  const { rows } = await sql<FaultyEndpoint>`
    select e.id, e.name, e.is_active as "isActive", e.inactive_reason as "inactiveReason", s.failing_since as "failingSince", (
      select count(*) from (select from delivery d where d.workspace_id = ${workspaceId} and d.endpoint_id = e.id and d.status = 'pending'
        and d.delivery_type = 'webhook' limit ${MAX_TOLD}) d) as pending
    from endpoint e left join endpoint_stat s on s.workspace_id = ${workspaceId} and s.endpoint_id = e.id
    where e.workspace_id = ${workspaceId}
      and ((not e.is_active and e.inactive_reason is not null) or (e.is_active and s.failing_since is not null))
    order by e.created_at, e.id limit ${MAX_TOLD}`.execute(transaction);
  return rows;
}

/** An active endpoint with a payload query. */
export interface EndpointWithQuery {
  id: string;
  name: string;
  query: string;
  filter: EventFilter | null;
}

export async function readPayloadQueries(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<EndpointWithQuery[]> {
  const { rows } = await sql<EndpointWithQuery>`
    select e.id, e.name, e.payload_query as query, e.filter from endpoint e
    where e.workspace_id = ${workspaceId} and e.is_active and e.payload_query is not null
    order by e.created_at, e.id limit ${MAX_TOLD}`.execute(transaction);
  return rows;
}

/** An active address whose mail goes nowhere, because the user disabled its endpoint. */
export interface DeadEndAddress {
  id: string;
  address: string;
  endpointName: string;
}

export async function readDeadEnds(transaction: Transaction<Tables>, workspaceId: string): Promise<DeadEndAddress[]> {
  const { rows } = await sql<DeadEndAddress>`
    select a.id, a.address, e.name as "endpointName"
    from endpoint e join email_address a on a.workspace_id = ${workspaceId} and coalesce(a.endpoint_id, a.webhook_id) = e.id
    where e.workspace_id = ${workspaceId} and not e.is_active and e.inactive_reason is null and a.is_active
    order by a.created_at, a.id limit ${MAX_TOLD}`.execute(transaction);
  return rows;
}

/** A key that expires before an instant, or expired after another one, and was not revoked. */
export interface ExpiringKey {
  id: string;
  name: string;
  expiresAt: Date;
}

export async function readExpiringKeys(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { from, until }: { from: Date; until: Date },
): Promise<ExpiringKey[]> {
  const { rows } = await sql<ExpiringKey>`
    select k.id, k.name, k.expires_at as "expiresAt" from api_keys_of(${workspaceId}) k
    where k.revoked_at is null and k.expires_at >= ${from} and k.expires_at < ${until}
    order by k.expires_at, k.id limit ${MAX_TOLD}`.execute(transaction);
  return rows;
}

/** The oldest email that waits for review, and how many do, at most MAX_REVIEWS; null: none does. */
export async function readReviews(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<{ emailId: string; since: Date; count: number } | null> {
  const { rows } = await sql<{ emailId: string | null; since: Date; count: number }>`
    select (array_agg(r.email_id order by r.created_at, r.email_id))[1] as "emailId", min(r.created_at) as since,
      count(*) as count
    from (
      select r.email_id, r.created_at from route r where r.workspace_id = ${workspaceId} and ${isHeldRoute} and r.outcome = 'review'
      order by r.created_at desc, r.email_id desc limit ${MAX_REVIEWS}) r`.execute(transaction);
  const [first] = rows;
  return first === undefined || first.emailId === null ? null : { ...first, emailId: first.emailId };
}

export const MAX_REVIEWS = 1_000;
