import { sql, type Transaction } from 'kysely';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import type { Tables } from '../../entities/tables.ts';
import { countedOwners } from '../emails/email-counter.ts';
import { isDeferred, isHeldRoute } from '../emails/email-row.ts';

/** Emails of one type and status created within an hour. */
export interface HourlyCount {
  /** the start of the hour (UTC) */
  beginsAt: Date;
  type: EmailType;
  status: EmailStatus;
  /** whether guard rules hold them; they are also counted among the others */
  isHeld: boolean;
  count: number;
}

/** From the hourly counters, and for held emails from their own index: unordered, hours without mail left out. */
export async function readHourlyCounts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  since: Date,
): Promise<HourlyCount[]> {
  const { rows } = await sql<HourlyCount>`
    select c.begins_at as "beginsAt", c.type, c.status, false as "isHeld", sum(c.count)::bigint as count from email_counter c
    where c.workspace_id = ${workspaceId} and c.own_address = any (${countedOwners}) and c.grain = 'hour' and c.begins_at >= ${since}
    group by 1, 2, 3
    union all
    select date_trunc('hour', r.created_at, 'UTC'), 'received', 'delivered', true, count(*) from route r
    where r.workspace_id = ${workspaceId} and ${isHeldRoute} and r.created_at >= ${since} group by 1`.execute(
    transaction,
  );
  return rows;
}

/** What became of the mail that a domain sent. */
export interface DomainDeliverability {
  domain: string;
  /** all, including mail still in the queue */
  sent: number;
  delivered: number;
  /** still in the queue */
  pending: number;
  /** deferred by a server, part of `pending`, among the oldest MAX_DEFERRED of all domains */
  deferred: number;
  bounced: number;
  failed: number;
  /** reported as spam by a recipient, whatever their status */
  complained: number;
}

/** Domains with the most mail that are listed. */
export const MAX_DELIVERABILITY_DOMAINS = 20;

/**
 * Mail created since then, by the domain that sent it: from the hourly counters, deferred mail from the oldest emails in the queue, and
 * complaints from their own index.
 */
export async function readDeliverability(
  transaction: Transaction<Tables>,
  workspaceId: string,
  since: Date,
): Promise<DomainDeliverability[]> {
  const { rows } = await sql<DomainDeliverability>`
    select c.domain, c.sent, c.delivered, c.pending, coalesce(d.count, 0) as deferred, c.bounced, c.failed,
      coalesce(m.count, 0) as complained
    from (
      select c.own_domain as domain, sum(c.count)::bigint as sent,
        coalesce(sum(c.count) filter (where c.status = 'delivered'), 0)::bigint as delivered,
        coalesce(sum(c.count) filter (where c.status = 'pending'), 0)::bigint as pending,
        coalesce(sum(c.count) filter (where c.status = 'bounced'), 0)::bigint as bounced,
        coalesce(sum(c.count) filter (where c.status = 'failed'), 0)::bigint as failed
      from email_counter c
      where c.workspace_id = ${workspaceId} and c.own_address = any (${countedOwners}) and c.grain = 'hour' and c.begins_at >= ${since} and c.type = 'sent'
      group by 1 having sum(c.count) > 0 order by 2 desc, 1 limit ${MAX_DELIVERABILITY_DOMAINS}) c
    left join (
      select e.own_domain as domain, count(*) filter (where ${isDeferred}) as count
      from ${oldestPending(workspaceId, since)} e group by 1) d on d.domain = c.domain
    left join (
      select e.own_domain as domain, count(distinct e.id) as count
      from recipient r join email e on e.workspace_id = ${workspaceId} and e.id = r.email_id
      where r.workspace_id = ${workspaceId} and r.complained_at >= ${since} and r.delivery_id is null
        and e.type = 'sent' and e.trashed_at is null and e.created_at >= ${since}
      group by 1) m on m.domain = c.domain
    order by c.sent desc, c.domain`.execute(transaction);
  return rows;
}

/** The oldest emails in the queue: what was deferred is older than most. */
function oldestPending(workspaceId: string, since: Date | null) {
  return sql`(select e.* from email e where e.workspace_id = ${workspaceId} and e.type = 'sent' and e.status = 'pending'
    ${since === null ? sql`` : sql`and e.created_at >= ${since}`} order by e.created_at, e.id limit ${MAX_DEFERRED})`;
}

/** Results of recent webhooks. */
export interface RecentWebhooks {
  successful: number;
  failed: number;
  pending: number;
  /** of the pending ones, those whose last attempt failed */
  retrying: number;
  /** duration of the last attempts in milliseconds; null: there was none */
  medianMs: number | null;
  p95Ms: number | null;
  /** whether there were more than these */
  isSampled: boolean;
}

/** Deliveries that are examined, of all endpoints that had any; each endpoint gets an equal share, but at least this many. */
export const MAX_SAMPLED_DELIVERIES = 10_000;
const LEAST_PER_ENDPOINT = 20;
/** Endpoints that are examined. */
const MAX_ENDPOINTS = 500;

/** The webhook deliveries created since then, newest per endpoint: by the index of endpoints and times. */
export async function readRecentWebhooks(
  transaction: Transaction<Tables>,
  workspaceId: string,
  since: Date,
): Promise<RecentWebhooks> {
  const { rows } = await sql<RecentWebhooks>`
    with hook as materialized (
      select e.id from endpoint e where e.workspace_id = ${workspaceId} and e.type = 'webhook' and exists (
        select from delivery d where d.workspace_id = ${workspaceId} and d.endpoint_id = e.id and d.created_at >= ${since})
      limit ${MAX_ENDPOINTS}
    ), share as materialized (
      select greatest(${LEAST_PER_ENDPOINT}, ${MAX_SAMPLED_DELIVERIES} / greatest(1, count(*))) as most from hook
    ), sample as materialized (
      select h.id, d.status, d.attempts, case when d.outcome <> 'interrupted' then d.duration_ms end as duration_ms
      from hook h cross join lateral (
        select d.status, d.attempts, d.last_attempt->>'outcome' as outcome, (d.last_attempt->>'duration_ms')::integer as duration_ms
        from delivery d where d.workspace_id = ${workspaceId} and d.endpoint_id = h.id and d.created_at >= ${since}
        order by d.created_at desc, d.id desc limit (select most from share)) d
    )
    select count(*) filter (where s.status = 'success') as successful, count(*) filter (where s.status = 'failed') as failed,
      count(*) filter (where s.status = 'pending') as pending,
      count(*) filter (where s.status = 'pending' and s.attempts > 0) as retrying,
      percentile_disc(0.5) within group (order by s.duration_ms) as "medianMs",
      percentile_disc(0.95) within group (order by s.duration_ms) as "p95Ms",
      exists (select from sample b group by b.id having count(*) >= (select most from share)) as "isSampled"
    from sample s`.execute(transaction);
  return (
    rows[0] ?? { successful: 0, failed: 0, pending: 0, retrying: 0, medianMs: null, p95Ms: null, isSampled: false }
  );
}

/** How long the last attempts of the webhook deliveries took that were created in an interval. */
export interface WebhookTimes {
  beginsAt: Date;
  /** milliseconds */
  medianMs: number;
  p95Ms: number;
  /** deliveries that this is computed from */
  sampleSize: number;
}

/** Deliveries that are examined, with an equal share for each interval and endpoint, but at least this many of each. */
export const MAX_TIMED_DELIVERIES = 20_000;
const LEAST_PER_INTERVAL = 2;
/** Endpoints that are examined: with the intervals of a week, a look-up for each of 8,400 pairs. */
const MAX_TIMED_ENDPOINTS = 50;

/** Returns the times of intervals of a length since then, oldest first; intervals without attempts are left out. */
export async function readWebhookTimes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { from, until, intervalMs }: { from: Date; until: Date; intervalMs: number },
): Promise<WebhookTimes[]> {
  const first = new Date(Math.floor(from.getTime() / intervalMs) * intervalMs);
  const length = sql`${intervalMs} * interval '1 millisecond'`;
  const { rows } = await sql<WebhookTimes>`
    with part as materialized (
      select g.at as begins_at from generate_series(${first}::timestamptz, ${until}::timestamptz, ${length}) as g(at)
    ), hook as materialized (
      select e.id from endpoint e where e.workspace_id = ${workspaceId} and e.type = 'webhook' and exists (
        select from delivery d where d.workspace_id = ${workspaceId} and d.endpoint_id = e.id and d.created_at >= ${from})
      limit ${MAX_TIMED_ENDPOINTS}
    ), share as materialized (
      select greatest(${LEAST_PER_INTERVAL}, ${MAX_TIMED_DELIVERIES} / greatest(1, (select count(*) from hook) * (select count(*) from part))) as most
    )
    select p.begins_at as "beginsAt", percentile_disc(0.5) within group (order by d.duration_ms) as "medianMs",
      percentile_disc(0.95) within group (order by d.duration_ms) as "p95Ms", count(*)::integer as "sampleSize"
    from part p cross join hook h cross join lateral (
      select case when d.last_attempt->>'outcome' <> 'interrupted' then (d.last_attempt->>'duration_ms')::integer end as duration_ms
      from delivery d where d.workspace_id = ${workspaceId} and d.endpoint_id = h.id
        and d.created_at >= greatest(p.begins_at, ${from}) and d.created_at < p.begins_at + ${length}
      order by d.created_at desc, d.id desc limit (select most from share)) d
    where d.duration_ms is not null group by p.begins_at order by p.begins_at`.execute(transaction);
  return rows;
}

/** What waits now. */
export interface WaitingMail {
  /** sent emails that not all servers have accepted yet */
  pending: number;
  /** deferred by a server, part of `pending`, among the oldest MAX_DEFERRED */
  deferred: number;
  scheduled: number;
  paused: number;
  /** held by guard rules, and waiting for review; at most MAX_COUNTED together */
  blocked: number;
  review: number;
  /** deliveries with an attempt to come, and how many of them failed before; at most MAX_COUNTED of webhooks and of copies each */
  deliveries: number;
  retries: number;
}

/** Rows that are counted one by one, with an index only. */
export const MAX_COUNTED = 10_000;
/** Emails whose recipients are examined. */
export const MAX_DEFERRED = 1_000;

export async function readWaitingMail(transaction: Transaction<Tables>, workspaceId: string): Promise<WaitingMail> {
  const { rows } = await sql<WaitingMail>`
    select c.pending, c.scheduled, c.paused, u.deferred, h.blocked, h.review, w.deliveries, w.retries
    from (
      select coalesce(sum(c.count) filter (where c.type = 'sent' and c.status = 'pending'), 0)::bigint as pending,
        coalesce(sum(c.count) filter (where c.type = 'scheduled' and c.status = 'scheduled'), 0)::bigint as scheduled,
        coalesce(sum(c.count) filter (where c.type = 'scheduled' and c.status = 'paused'), 0)::bigint as paused
      from email_counter c where c.workspace_id = ${workspaceId} and c.own_address = any (${countedOwners}) and c.grain = 'all') c
    cross join (
      select count(*) filter (where ${isDeferred}) as deferred from ${oldestPending(workspaceId, null)} e) u
    cross join (
      select count(*) filter (where r.outcome = 'blocked') as blocked, count(*) filter (where r.outcome = 'review') as review
      from (
        select r.outcome from route r join email e on e.workspace_id = r.workspace_id and e.id = r.email_id
        where r.workspace_id = ${workspaceId} and ${isHeldRoute} and e.trashed_at is null
        order by r.created_at desc, r.email_id desc limit ${MAX_COUNTED}) r) h
    cross join (
      select count(*) as deliveries, count(*) filter (where d.attempts > 0) as retries from (
        (select d.attempts from delivery d where d.workspace_id = ${workspaceId} and d.status = 'pending' and d.delivery_type = 'webhook'
         limit ${MAX_COUNTED})
        union all
        (select d.attempts from delivery d where d.workspace_id = ${workspaceId} and d.status = 'pending' and d.delivery_type <> 'webhook'
         limit ${MAX_COUNTED})) d) w`.execute(transaction);
  return (
    rows[0] ?? {
      pending: 0,
      deferred: 0,
      scheduled: 0,
      paused: 0,
      blocked: 0,
      review: 0,
      deliveries: 0,
      retries: 0,
    }
  );
}
