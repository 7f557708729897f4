import { sql, type Transaction } from 'kysely';
import type { DmarcPolicy, DmarcRecord } from '../../../core/domains/dmarc-report.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';

/** A received DMARC aggregate report, without its records. */
export interface StoredDmarcReport {
  id: string;
  emailId: string;
  /** the workspace's domain: the policy's domain, or one related to it */
  domainId: string;
  /** domain of the policy: the workspace's domain, one below it, or one above it */
  domain: string;
  organization: string;
  /** the reporter's id of the report */
  reportId: string;
  begin: Date;
  end: Date;
  policy: DmarcPolicy;
  messageCount: number;
  alignedCount: number;
  isTruncated: boolean;
  createdAt: Date;
}

/** The totals of the reports of a period. A report that arrived several times counts once. */
export interface DmarcTotals {
  reportCount: number;
  messages: number;
  aligned: number;
  /** begin of the oldest and end of the newest; null when there are none */
  begin: Date | null;
  end: Date | null;
  /** as in the newest report; null when there are none */
  policy: DmarcPolicy | null;
}

export interface DmarcSource {
  sourceIp: string;
  headerFrom: string;
  count: number;
  alignedCount: number;
}

/** Maximum sources in a summary. */
const MAX_DMARC_SOURCES = 100;
/** Maximum records that a summary reads, from the newest reports: anyone can send forged reports without end. */
const MAX_SUMMED_RECORDS = 100_000;
const MAX_SUMMED_REPORTS = 10_000;

/** Returns the name of the workspace's domain; null when the workspace has none with that id. */
export async function findDomainName(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainId: string,
): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`
    select d.name from domain d where d.workspace_id = ${workspaceId} and d.id = ${domainId}`.execute(transaction);
  return rows[0]?.name ?? null;
}

/** Returns a page of a domain's reports, latest period first, and the total count. */
export async function listDmarcReports(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainId: string,
  page: Page,
): Promise<{ rows: StoredDmarcReport[]; total: number }> {
  const where = sql`r.workspace_id = ${workspaceId} and r.domain_id = ${domainId}`;
  const { rows } = await sql<StoredDmarcReport>`
    select ${columns} from dmarc_report r where ${where}
    order by r.ends_at desc, r.id desc limit ${page.limit} offset ${page.offset}`.execute(transaction);
  const counted = await sql<{ total: number }>`
    select count(*) as total from dmarc_report r where ${where}`.execute(transaction);
  return { rows, total: Number(counted.rows[0]?.total ?? 0) };
}

/**
 * Returns the reports on each of several domains between two cursors, latest period first; inverted: earliest first. Keyed by domain id.
 */
export async function pageReportsOfDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainIds: readonly string[],
  page: KeysetPage,
): Promise<Map<string, StoredDmarcReport[]>> {
  const order = (alias: string, column: string) => keysetOrder(alias, page, column);
  const { rows } = await sql<StoredDmarcReport>`
    select p.* from unnest(${domainIds}::text[]) as w (id)
    cross join lateral (
      select ${columns} from dmarc_report r where r.workspace_id = ${workspaceId} and r.domain_id = w.id
      ${keysetConditions('r', page, 'ends_at')} ${order('r', 'ends_at')} limit ${page.limit}) p
    ${order('p', 'end')}`.execute(transaction);
  return Map.groupBy(rows, ({ domainId }) => domainId);
}

/** Counts the reports on each of several domains, keyed by domain id; domains without reports are left out. */
export async function countReportsOfDomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ domain_id: string; total: number }>`
    select r.domain_id, count(*) as total from dmarc_report r
    where r.workspace_id = ${workspaceId} and r.domain_id = any (${domainIds}::text[]) group by r.domain_id`.execute(
    transaction,
  );
  return new Map(rows.map((row) => [row.domain_id, Number(row.total)]));
}

/** Returns those of the reports that belong to the workspace, unordered. */
export async function findDmarcReports(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<StoredDmarcReport[]> {
  const { rows } = await sql<StoredDmarcReport>`
    select ${columns} from dmarc_report r where r.workspace_id = ${workspaceId} and r.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** Returns some records of each of several reports, in order, keyed by report id. */
export async function findDmarcRecords(
  transaction: Transaction<Tables>,
  workspaceId: string,
  reportIds: readonly string[],
  { limit, offset }: Page,
): Promise<Map<string, DmarcRecord[]>> {
  const { rows } = await sql<{ id: string; records: DmarcRecord[] }>`
    select r.id, (select coalesce(jsonb_agg(n.record order by n.place), '[]')
      from jsonb_array_elements(r.records) with ordinality n (record, place)
      where n.place > ${offset} and n.place <= ${offset + limit}) as records
    from dmarc_report r where r.workspace_id = ${workspaceId} and r.id = any (${reportIds}::text[])`.execute(
    transaction,
  );
  return new Map(rows.map(({ id, records }) => [id, records]));
}

/** A report with its records. */
export type WholeDmarcReport = StoredDmarcReport & { records: DmarcRecord[] };

/** Returns those of the reports that belong to the workspace, with their records, unordered. */
export async function readDmarcReports(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<WholeDmarcReport[]> {
  const { rows } = await sql<WholeDmarcReport>`
    select ${columns}, r.records from dmarc_report r
    where r.workspace_id = ${workspaceId} and r.id = any (${ids}::text[])`.execute(transaction);
  return rows;
}

/** Sums up the reports that arrived, and whose period ended, since then; sources with the most mail first. */
export async function sumDmarcReports(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainId: string,
  since: Date,
): Promise<{ totals: DmarcTotals; sources: DmarcSource[]; worst: DmarcSource | null; isTruncated: boolean }> {
  const reports = sql`reports as materialized (
    select distinct on (r.domain, r.organization, r.report_id) r.id, r.begins_at, r.ends_at, r.policy, r.record_count, r.message_count,
      r.aligned_count, r.is_truncated
    from (
      select * from dmarc_report r
      where r.workspace_id = ${workspaceId} and r.domain_id = ${domainId} and r.ends_at >= ${since} and r.created_at >= ${since}
      order by r.ends_at desc, r.id desc limit ${MAX_SUMMED_REPORTS}) r
    order by r.domain, r.organization, r.report_id, r.ends_at desc, r.id desc)`;
  const summed = await sql<DmarcTotals & { isTruncated: boolean | null }>`
    with ${reports}
    select count(*) as "reportCount", coalesce(sum(message_count), 0)::float8 as messages, coalesce(sum(aligned_count), 0)::float8 as aligned,
      min(begins_at) as begin, max(ends_at) as end, (array_agg(policy order by ends_at desc, id desc))[1] as policy,
      bool_or(is_truncated) or sum(record_count) > ${MAX_SUMMED_RECORDS} or count(*) = ${MAX_SUMMED_REPORTS} as "isTruncated"
    from reports`.execute(transaction);
  const bySource = await sql<DmarcSource & { rank: number; failedRank: number }>`
    with ${reports}, read as (
      select id from (select id, sum(record_count) over (order by ends_at desc, id desc) as so_far from reports) n
      where so_far <= ${MAX_SUMMED_RECORDS}
    ), source as (
      select n."sourceIp", n."headerFrom", sum(n.count)::float8 as count,
        coalesce(sum(n.count) filter (where n.dkim = 'pass' or n.spf = 'pass'), 0)::float8 as "alignedCount"
      from read join dmarc_report r on r.workspace_id = ${workspaceId} and r.id = read.id
      cross join lateral jsonb_to_recordset(r.records) as n("sourceIp" text, "headerFrom" text, count bigint, dkim text, spf text)
      group by n."sourceIp", n."headerFrom"
    ), ranked as (
      select *, row_number() over (order by count desc, "sourceIp", "headerFrom") as rank,
        row_number() over (order by count - "alignedCount" desc, "sourceIp", "headerFrom") as "failedRank" from source
    )
    select * from ranked where rank <= ${MAX_DMARC_SOURCES} or "failedRank" = 1 order by rank`.execute(transaction);
  const worst = bySource.rows.find((row) => row.failedRank === 1 && row.count > row.alignedCount) ?? null;
  const [totals = NOTHING] = summed.rows;
  return {
    totals,
    sources: bySource.rows.filter((row) => row.rank <= MAX_DMARC_SOURCES),
    worst,
    isTruncated: summed.rows[0]?.isTruncated ?? false,
  };
}

const NOTHING: DmarcTotals = { reportCount: 0, messages: 0, aligned: 0, begin: null, end: null, policy: null };

const columns = sql`r.id, r.email_id as "emailId", r.domain_id as "domainId", r.domain, r.organization, r.report_id as "reportId", r.begins_at as begin,
  r.ends_at as end, r.policy, r.message_count as "messageCount", r.aligned_count as "alignedCount", r.is_truncated as "isTruncated",
  r.created_at as "createdAt"`;
