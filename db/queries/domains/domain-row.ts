import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { RETIRED_KEY_DAYS } from '../../../core/domains/dns-records.ts';
import type { DomainStatus } from '../../../core/domains/domain-state.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { Row } from '../../entities/tables.ts';

/** A domain as stored in its rows. */
export interface Domain {
  id: string;
  name: string;
  status: DomainStatus;
  isTrusted: boolean;
  isCatchAllEnabled: boolean;
  receiveDmarcEmails: boolean;
  createdAt: Date;
  updatedAt: Date;
  /** since when the records of its MAIL FROM domain are present; null: they are not */
  mailFromVerifiedAt: Date | null;
  /** since when the proof of the verified domain is missing */
  proofLostAt: Date | null;
  isMxSeen: boolean;
  /** the verified parent domain that verified it */
  parent: { id: string; name: string } | null;
  /** in the form that core/domains/domain-check.ts produces */
  dnsCheck: unknown;
  checkedAt: Date | null;
  /** newest first; without those replaced so long ago that their DNS records may have been removed */
  dkimKeys: { selector: string; publicKey: string; state: 'active' | 'waiting' | 'retired' }[];
  catchAllEndpoint: { id: string; name: string; type: EndpointType; isActive: boolean } | null;
}

/** Filters of a list of domains; null matches all. */
export interface DomainConditions {
  ids: readonly string[] | null;
  status: Domain['status'] | null;
  canReceive: boolean | null;
}

/**
 * A condition on the domain table by its alias: mail for the domain arrives here. It is verified, and its MX pointed to us at the last
 * check, or it is trusted.
 */
export function receivesSql(alias: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql<boolean>`(${column('status')} = 'verified' and (${column('is_trusted')} or ${column('is_mx_seen')}))`;
}

/** On the domain table as `d`. */
export function domainConditionsSql(
  workspaceId: string,
  { ids, status, canReceive }: DomainConditions,
): RawBuilder<SqlBool> {
  return sql`d.workspace_id = ${workspaceId}
    ${ids === null ? sql`` : sql`and d.id = any (${ids}::text[])`}
    ${status === null ? sql`` : sql`and d.status = ${status}`}
    ${canReceive === null ? sql`` : sql`and ${receivesSql('d')} = ${canReceive}`}`;
}

/** The columns of a ListedDomain, from {@link domainTables}. */
export const domainColumns = sql`d.*, e.name as endpoint_name, e.type as endpoint_type, e.is_active as endpoint_is_active,
  k.dkim_keys, up.name as parent_name`;

/** The domain table as `d`, joined with what its columns need. */
export const domainTables = sql`domain d
  left join domain up on up.workspace_id = d.workspace_id and up.id = d.parent_id
  left join endpoint e on e.workspace_id = d.workspace_id and e.id = d.catch_all_endpoint_id
  cross join lateral (
    select coalesce(json_agg(json_build_object('selector', k.selector, 'publicKey', k.public_key,
      'state', case when k.retired_at is not null then 'retired' when k.activated_at is null then 'waiting' else 'active' end)
      order by k.created_at desc, k.selector), '[]') as dkim_keys
    from dkim_key k where k.workspace_id = d.workspace_id and k.domain_id = d.id
      and (k.retired_at is null or k.retired_at > (select postroom_now()) - interval '${sql.raw(String(RETIRED_KEY_DAYS))} days')) k`;

export type ListedDomain = Omit<Row<'domain'>, 'created_at' | 'updated_at' | 'check_due_at' | 'is_mx_seen'> & {
  is_mx_seen: boolean;
  created_at: Date;
  updated_at: Date;
  endpoint_name: string | null;
  endpoint_type: EndpointType | null;
  endpoint_is_active: boolean | null;
  dkim_keys: Domain['dkimKeys'];
  parent_name: string | null;
};

export function toDomain(row: ListedDomain): Domain {
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
  };
}
