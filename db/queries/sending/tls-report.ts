import type pg from 'pg';
import type { SessionCount } from '../../../core/sending/tls-report.ts';
import type { Database } from '../../connection/database.ts';

/** Sessions with the servers of a domain, to be added to those of the day. */
export interface CountedSessions extends SessionCount {
  domain: string;
  /** hash of policy and failure */
  id: string;
}

/** The report of one domain and day, claimed. */
export interface ClaimedTlsReport {
  /** UTC, as in 2026-11-23 */
  day: string;
  domain: string;
  reportId: string;
  /** URIs of the domain that have it already */
  sentTo: string[];
}

/** Reports that are claimed at once. */
export const REPORT_BATCH = 20;
/** How long a claim holds; longer than all attempts of a batch take. */
const CLAIM = `interval '15 minutes'`;
/** A report goes out at a random time of the first hours of the next day, because other senders report the same day (RFC 8460 §4.1). */
const DELAY = `interval '5 minutes' + random() * interval '4 hours'`;
const RETRY = `interval '1 hour' + random() * interval '10 minutes'`;
/** A report that cannot be delivered is given up this long after its day. */
const GIVE_UP = `interval '30 hours'`;

/** Adds sessions to the counts of the current UTC day, and plans the reports about them. For actors. */
export async function addTlsSessions(database: Database, counted: readonly CountedSessions[]): Promise<void> {
  await database.pool.query({
    name: 'add-tls-sessions',
    text: `
      with today as materialized (
        select (postroom_now() at time zone 'UTC')::date as day
      ), given as materialized (
        select t.day, g.* from today t cross join jsonb_to_recordset($1) as
          g(domain text, id text, policy jsonb, failure jsonb, sessions bigint)
      ), counted as (
        insert into tls_session_count as c (day, domain, id, policy, failure, sessions)
        select day, domain, id, policy, nullif(failure, 'null'), sessions from given order by domain, id
        on conflict (day, domain, id) do update set sessions = c.sessions + excluded.sessions
      )
      insert into tls_report (day, domain, report_id, due_at)
      select day, domain, gen_random_uuid(), (day + 1)::timestamp at time zone 'UTC' + ${DELAY}
      from (select distinct day, domain from given) d order by domain
      on conflict (day, domain) do nothing`,
    values: [JSON.stringify(counted)],
  });
}

/** Claims due reports, so that no other actor sends them now. */
export async function claimTlsReports(database: Database, claimant: string): Promise<ClaimedTlsReport[]> {
  const { rows } = await database.pool.query<ClaimedTlsReport>({
    name: 'claim-tls-reports',
    text: `
      update tls_report r set due_at = (select postroom_now()) + ${CLAIM}, claimed_by = $1
      where r.ctid = any (array(
        select c.ctid from tls_report c where c.due_at <= (select postroom_now())
        order by c.due_at limit ${REPORT_BATCH} for update skip locked))
      returning r.day::text, r.domain, r.report_id as "reportId", r.sent_to as "sentTo"`,
    values: [claimant],
  });
  return rows;
}

/** Returns what the report is about. */
export async function readTlsSessions(
  database: Database,
  { day, domain }: Pick<ClaimedTlsReport, 'day' | 'domain'>,
): Promise<SessionCount[]> {
  const { rows } = await database.pool.query<SessionCount>({
    name: 'read-tls-sessions',
    text: `select policy, failure, sessions::float8 as sessions from tls_session_count where day = $1 and domain = $2 order by id`,
    values: [day, domain],
  });
  return rows;
}

/** Notes that a target has the report. False when the claim was lost: the caller rolls back. */
export async function noteTlsReportSent(
  client: Pick<pg.ClientBase, 'query'>,
  claimant: string,
  { day, domain }: ClaimedTlsReport,
  uri: string,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'note-tls-report-sent',
    text: `
      update tls_report set sent_to = sent_to || $4::text where day = $2 and domain = $3 and claimed_by = $1 and not sent_to @> array[$4::text]`,
    values: [claimant, day, domain, uri],
  });
  return rowCount === 1;
}

/** Releases a claimed report. It is removed when it is done or too old, else it is due again in an hour. */
export async function releaseTlsReport(
  database: Database,
  claimant: string,
  { day, domain }: ClaimedTlsReport,
  isDone: boolean,
): Promise<void> {
  await database.pool.query({
    name: 'release-tls-report',
    text: `
      with ended as (
        delete from tls_report where day = $2 and domain = $3 and claimed_by = $1
          and ($4::boolean or (day + 1)::timestamp at time zone 'UTC' + ${GIVE_UP} <= postroom_now())
        returning day, domain
      ), removed as (
        delete from tls_session_count c using ended e where c.day = e.day and c.domain = e.domain
      )
      update tls_report r set due_at = postroom_now() + ${RETRY}, claimed_by = null
      where r.day = $2 and r.domain = $3 and r.claimed_by = $1 and not exists (select from ended)`,
    values: [claimant, day, domain, isDone],
  });
}
