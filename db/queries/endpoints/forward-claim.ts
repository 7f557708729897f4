import type { EmailType } from '../../../core/emails/email-status.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { Authentication } from '../../../core/mime/authentication.ts';
import { claimStatement } from '../../claim.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** A claimed forward, with everything that its copy is composed from except the bytes. */
export interface ClaimedForwardRow {
  workspace_id: string;
  id: string;
  email_id: string;
  endpoint_id: string;
  delivery_type: EndpointType;
  attempts: number;
  attempts_allowed: number;
  created_at: Date;
  thread_id: string | null;
  thread_position: number | null;
  /** attempts that failed for an internal reason */
  faults: number;
  /** the error of the last of them; null when there was none */
  last_fault: string | null;
  /** null when the email is gone; so are the next fields */
  email_type: EmailType | null;
  raw_id: string | null;
  own_address: string | null;
  /** as given in the envelope */
  recipient: string | null;
  received_at: Date | null;
  size_bytes: number | null;
  /** null when it is unknown */
  reverse_path: string | null;
  trace_fields: string | null;
  /** our verdicts, if the original is relayed as it is; otherwise null */
  authentication: Authentication | null;
  /** null when the endpoint is gone; so are the next two */
  endpoint_type: EndpointType | null;
  is_active: boolean | null;
  config: unknown;
  /** whether the domain of the config's fromAddress is a verified domain of the workspace */
  is_from_verified: boolean;
  /** whether own_address is an address of the workspace on a verified domain, rather than one that only the catch-all accepted */
  is_own_verified: boolean;
  /** a verified domain of the workspace, preferably that of own_address; null when the workspace has none */
  verified_domain: string | null;
  /** copies that the workspace's endpoints forwarded within the last hour, and how long the first of them still counts; counted up to $3 */
  used: number;
  frees_in_seconds: number | null;
}

/**
 * Claims up to $2 due deliveries of forwarding endpoints, longest due first, for the claimant $1; $3 is where counting of the last hour's
 * copies ends. Rows: ClaimedForwardRow.
 */
export const claimForwardsSql = `
  with claimed as materialized (${claimStatement({
    table: 'delivery',
    isDue: `d.status = 'pending' and d.next_attempt_at <= (select postroom_now()) and d.delivery_type <> 'webhook' and d.forward_raw_id is null
      and ${notSetAsideSql('forward', 'd.workspace_id', 'd.id')}`,
    orderBy: 'd.next_attempt_at',
    returning: [
      'workspace_id',
      'id',
      'email_id',
      'endpoint_id',
      'delivery_type',
      'attempts',
      'attempts_allowed',
      'created_at',
      'thread_id',
      'thread_position',
      'next_attempt_at',
      'last_attempt',
    ],
  })}), usage as materialized (
    select u.workspace_id, count(l.queued_at)::integer as used,
           extract(epoch from min(l.queued_at) + interval '1 hour' - (select postroom_now()))::float8 as frees_in_seconds
    from (select distinct workspace_id from claimed) u
    left join lateral (
      select r.queued_at from recipient r
      where r.workspace_id = u.workspace_id and r.delivery_id is not null and r.queued_at > (select postroom_now()) - interval '1 hour'
      order by r.queued_at desc limit $3) l on true
    group by u.workspace_id
  )
  select c.workspace_id, c.id, c.email_id, c.endpoint_id, c.delivery_type, c.attempts, c.attempts_allowed, c.created_at, c.thread_id,
    c.thread_position,
    case when c.last_attempt->>'outcome' = 'interrupted' then (c.last_attempt->>'number')::integer else 0 end as faults,
    case when c.last_attempt->>'outcome' = 'interrupted' then c.last_attempt->>'error' end as last_fault,
    e.type as email_type, e.raw_id, e.own_address, e.recipient, e.created_at as received_at,
    (select m.size_bytes from raw_message m where m.id = e.raw_id) as size_bytes, r.reverse_path, r.trace_fields,
    case when p.config->>'preserveHeaders' = 'true' then
      (select t.authentication from email_content t where t.workspace_id = c.workspace_id and t.email_id = c.email_id limit 1) end as authentication,
    p.type as endpoint_type, p.is_active, p.config,
    exists (select from domain d where d.workspace_id = c.workspace_id and d.name = lower(split_part(p.config->>'fromAddress', '@', 2))
      and d.status = 'verified') as is_from_verified,
    exists (select from email_address a join domain d on d.workspace_id = a.workspace_id and d.id = a.domain_id and d.status = 'verified'
      where a.workspace_id = c.workspace_id and a.id = e.address_id) as is_own_verified,
    (select d.name from domain d where d.workspace_id = c.workspace_id and d.status = 'verified'
     order by (d.id is not distinct from e.domain_id) desc, d.created_at, d.id limit 1) as verified_domain,
    g.used, g.frees_in_seconds
  from claimed c
  join usage g on g.workspace_id = c.workspace_id
  left join lateral (select * from email e where e.workspace_id = c.workspace_id and e.id = c.email_id limit 1) e on true
  left join lateral (select * from reception r where r.workspace_id = c.workspace_id and r.email_id = c.email_id limit 1) r on true
  left join lateral (select * from endpoint p where p.workspace_id = c.workspace_id and p.id = c.endpoint_id limit 1) p on true
  order by c.next_attempt_at, c.id`;

/** Releases the leases of claimant $1 on those deliveries ($2 ids of workspaces $3). */
export const releaseForwardsSql = `
  update delivery set claimed_by = null, claimed_until = null
  where id = any($2::text[]) and workspace_id = any($3::text[]) and claimed_by = $1`;

/** Postpones a delivery of workspace $2 with id $3 by $4 seconds, for the reason $5; only while $1 holds it. */
export const postponeForwardSql = `
  update delivery set next_attempt_at = (select postroom_now()) + $4 * interval '1 second', claimed_by = null, claimed_until = null,
    response_data = jsonb_build_object('error', $5::text, 'statusCode', null)
  where workspace_id = $2 and id = $3 and claimed_by = $1`;

/**
 * Postpones all due forwards of workspace $2 by $3 seconds, except forwards that claimants other than $1 hold. They show no reason: they go after
 * those of other workspaces.
 */
export const postponeForwardsOfWorkspaceSql = `
  update delivery set next_attempt_at = (select postroom_now()) + $3 * interval '1 second', claimed_by = null, claimed_until = null
  where workspace_id = $2 and id = any(array(
    select d.id from delivery d
    where d.workspace_id = $2 and d.status = 'pending' and d.next_attempt_at <= (select postroom_now()) and d.delivery_type <> 'webhook'
      and d.forward_raw_id is null
      and (d.claimed_by = $1 or d.claimed_until is null or d.claimed_until < (select postroom_now()))
    for update skip locked))`;

/** Like postponeForwardSql, after an internal fault, $5: it is stored as an interrupted attempt whose number counts the faults. */
export const deferForwardSql = `
  update delivery set next_attempt_at = (select postroom_now()) + $4 * interval '1 second', claimed_by = null, claimed_until = null,
    response_data = jsonb_build_object('error', $5::text, 'statusCode', null),
    last_attempt = jsonb_build_object('number', 1 + coalesce((last_attempt->>'number')::integer, 0), 'outcome', 'interrupted',
      'started_at', (select postroom_now()), 'duration_ms', 0, 'status_code', null, 'error', $5::text, 'response_body', null,
      'request_headers', '{}'::jsonb)
  where workspace_id = $2 and id = $3 and claimed_by = $1`;

/** Whether a recipient of the workspace $1 with id $2 got a forwarded copy. One row at most. */
export const findForwardRecipientSql = `select from recipient where workspace_id = $1 and id = $2 and delivery_id is not null`;
