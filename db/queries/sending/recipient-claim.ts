import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import { LEASE_SECONDS } from '../../claim.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** A claimed recipient; its attempt is written. */
export interface ClaimedRecipientRow {
  workspace_id: string;
  id: string;
  email_id: string;
  /** of the forwarded copy; null: the email itself is sent */
  delivery_id: string | null;
  address: string;
  domain: string;
  /** attempts made before */
  attempts: number;
  /** since it was queued */
  age_seconds: number;
  /** of the attempt that was written */
  number: number;
  raw_id: string | null;
  /** of the message; null when its bytes are gone */
  size_bytes: number | null;
  /** the domain of the From address */
  own_domain: string;
  /** the sender's domain still belongs to the workspace, or to the service itself, and is verified */
  is_sender_verified: boolean;
  /** the sender's domain is the service's own, see keepSystemDomain */
  is_system_sender: boolean;
  mail_from_verified: boolean;
  /** the recipient's domain belongs to this service */
  is_hosted: boolean;
  is_suppressed: boolean;
  /** a copy of mail with the null reverse-path is sent with the null reverse-path, too */
  is_null_sender: boolean;
}

/** A process whose lease expired may still hold the recipient; the sweep knows what is in hand and takes the rest. */
const isNotOurs = 'd.claimed_by is distinct from $1';

/**
 * Claims up to $2 due recipients of the emails in the parallel arrays $3 (workspace ids) and $4 (ids) for the claimant $1, except those of the
 * user and domain pairs in $5 and $6. Rows: ClaimedRecipientRow. It finds the emails' recipients first, and then which of them are due: the
 * index of all due recipients, which the planner would choose while the table is young, would read a whole backlog.
 */
export const claimOfEmailsSql = claimSql(`
  select d.ctid as place, d.workspace_id, d.email_id, d.delivery_id, d.domain, d.id from recipient d
  where d.ctid = any(array(select r.ctid from recipient r where r.workspace_id = any($3::text[]) and r.email_id = any($4::text[])))
    and coalesce(${isDue('d')}, false) and ${isNotOurs}
    and not exists (select from unnest($5::text[], $6::text[]) as f(workspace_id, domain) where f.workspace_id = d.workspace_id and f.domain = d.domain)
  order by d.next_attempt_at, d.id limit $2 for update skip locked`);

/** Claims up to $2 due recipients of workspace $3 in the domain $4, longest due first, for the claimant $1. Rows: ClaimedRecipientRow. */
export const claimOfLaneSql = claimSql(`
  select d.ctid as place, d.workspace_id, d.email_id, d.delivery_id, d.domain, d.id from recipient d
  where d.domain = $4 and d.workspace_id = $3 and ${isDue('d')} and ${isNotOurs}
  order by d.next_attempt_at, d.id limit $2 for update skip locked`);

/**
 * Claims up to $2 due recipients among those listed by listDueSql for the claimant $1: those with ids $4 of workspaces $3. Rows:
 * ClaimedRecipientRow.
 */
export const claimListedSql = claimSql(`
  select d.ctid as place, d.workspace_id, d.email_id, d.delivery_id, d.domain, d.id from recipient d
  where d.workspace_id = any($3::text[]) and d.id = any($4::text[]) and ${isDue('d')}
  order by d.next_attempt_at, d.id limit $2 for update skip locked`);

/** A due recipient, as the sweep finds it. */
export interface DueRecipientRow {
  workspace_id: string;
  id: string;
  domain: string;
  next_attempt_at: Date;
  /** it is neither claimed nor set aside */
  is_free: boolean;
}

/** Returns the next $3 due recipients after the position ($1 when, $2 id), in order, with whether they are claimed. */
export const listDueSql = `
  select workspace_id, id, domain, next_attempt_at,
    (claimed_until is null or claimed_until < (select postroom_now())) and ${notSetAsideSql('send', 'r.workspace_id', 'r.id')} as is_free
  from recipient r
  where status = 'pending' and next_attempt_at is not null and next_attempt_at <= (select postroom_now())
    and (next_attempt_at, id) > ($1::timestamptz, $2::text)
  order by next_attempt_at, id limit $3`;

/**
 * Extends the leases of claimant $1 on the recipients with workspace ids $2 and ids $3; $4 is the lease in seconds. Returns the ids that it
 * still holds.
 */
export const renewRecipientLeasesSql = `
  update recipient set claimed_until = (select postroom_now()) + $4 * interval '1 second'
  where workspace_id = any($2::text[]) and id = any($3::text[]) and claimed_by = $1
  returning id`;

/** Releases the leases of claimant $1 on those recipients, and deletes the attempts that were written for them and not started. */
export const releaseRecipientsSql = `
  with released as (
    update recipient set claimed_by = null, claimed_until = null
    where workspace_id = any($2::text[]) and id = any($3::text[]) and claimed_by = $1
    returning workspace_id, id)
  delete from sending_attempt a using released r
  where a.workspace_id = r.workspace_id and a.recipient_id = r.id and a.finished_at is null`;

/** Closes the attempts with numbers $3 of the recipients with ids $2 of workspaces $1 (parallel arrays), which did not start. */
export const closeUnbegunSql = `
  update sending_attempt a set finished_at = (select postroom_now()), outcome = 'interrupted',
    text = 'Interrupted: an attempt before it still went on'
  from unnest($2::text[], $3::integer[]) as c(recipient_id, number)
  where a.workspace_id = any($1::text[]) and a.recipient_id = c.recipient_id and a.number = c.number and a.finished_at is null`;

function isDue(table: string): string {
  return `${table}.status = 'pending' and ${table}.next_attempt_at is not null and ${table}.next_attempt_at <= (select postroom_now())
    and (${table}.claimed_until is null or ${table}.claimed_until < (select postroom_now()))
    and ${notSetAsideSql('send', `${table}.workspace_id`, `${table}.id`)}`;
}

/**
 * Claims the rows that `locking` locks, by ctid, which cannot change while they are locked. Closes an attempt that a process left open when
 * it died, and writes a new one for each row. The recipients of one email, or of one copy of it, in one domain share the return address of
 * the first, because they go in one transaction.
 */
function claimSql(locking: string): string {
  return `
  with locked as materialized (${locking}
  ), claimed as (
    update recipient t set claimed_by = $1, claimed_until = (select postroom_now()) + interval '${LEASE_SECONDS} seconds',
      return_id = (select min(l.id) from locked l where l.workspace_id = t.workspace_id and l.email_id = t.email_id and l.domain = t.domain
        and l.delivery_id is not distinct from t.delivery_id)
    where t.ctid = any(array(select place from locked))
    returning t.workspace_id, t.id, t.email_id, t.delivery_id, t.sender_domain, t.list, t.address, t.domain, t.attempts, t.queued_at, t.next_attempt_at
  ), left_open as (
    update sending_attempt a set finished_at = (select postroom_now()), outcome = 'interrupted',
      text = 'Interrupted: the process that sent it ended'
    from claimed c where a.workspace_id = c.workspace_id and a.recipient_id = c.id and a.finished_at is null
  ), begun as (
    insert into sending_attempt (workspace_id, recipient_id, number, started_at)
    select c.workspace_id, c.id,
           1 + coalesce((select max(a.number) from sending_attempt a where a.workspace_id = c.workspace_id and a.recipient_id = c.id), 0),
           (select postroom_now())
    from claimed c
    returning workspace_id, recipient_id, number
  )
  select c.workspace_id, c.id, c.email_id, c.delivery_id, c.address, c.domain, c.attempts, b.number, m.raw_id,
    coalesce(c.sender_domain, e.own_domain) as own_domain, coalesce(f.is_null_sender, false) as is_null_sender,
    extract(epoch from (select postroom_now()) - c.queued_at)::float8 as age_seconds,
    (select r.size_bytes from raw_message r where r.id = m.raw_id) as size_bytes,
    coalesce(o.status = 'verified', false) as is_sender_verified,
    coalesce(o.workspace_id = '${SYSTEM_WORKSPACE_ID}', false) as is_system_sender,
    o.mail_from_verified_at is not null as mail_from_verified,
    exists (select from verified_domain_name v where v.name = c.domain) as is_hosted,
    exists (select from suppression s where s.workspace_id = c.workspace_id and s.address = lower(c.address)
      and s.list in ('', c.list)) as is_suppressed
  from claimed c
  join begun b on b.workspace_id = c.workspace_id and b.recipient_id = c.id
  join email e on e.workspace_id = c.workspace_id and e.id = c.email_id
  left join lateral (
    select d.forward_raw_id, d.is_null_sender from delivery d where d.workspace_id = c.workspace_id and d.id = c.delivery_id limit 1
  ) f on true
  cross join lateral (select case when c.delivery_id is null then e.raw_id else f.forward_raw_id end as raw_id) m
  left join lateral (
    select * from (
      select d.workspace_id, d.status, d.mail_from_verified_at from domain d
      where d.workspace_id in (e.workspace_id, '${SYSTEM_WORKSPACE_ID}') and d.id = e.domain_id and c.sender_domain is null
      union all
      select d.workspace_id, d.status, d.mail_from_verified_at from domain d
      where d.workspace_id in (c.workspace_id, '${SYSTEM_WORKSPACE_ID}') and d.name = c.sender_domain
    ) d order by d.status = 'verified' desc, d.workspace_id = '${SYSTEM_WORKSPACE_ID}'
    limit 1
  ) o on true
  order by c.next_attempt_at, c.id`;
}
