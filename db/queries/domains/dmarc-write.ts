import type { PoolClient } from 'pg';
import type { DmarcPolicy, DmarcRecord } from '../../../core/domains/dmarc-report.ts';

/** A DMARC aggregate report that arrived in an email. */
export interface NewDmarcReport {
  workspace_id: string;
  email_id: string;
  id: string;
  event_id: string;
  /** of the policy, canonical */
  domain: string;
  organization: string;
  report_id: string;
  /** ISO 8601 */
  begins_at: string;
  ends_at: string;
  policy: DmarcPolicy;
  records: DmarcRecord[];
  message_count: number;
  aligned_count: number;
  is_truncated: boolean;
}

/**
 * Stores the reports that concern a verified domain of their workspace: the policy's domain is that domain, or below it, or else above it. Other
 * reports are skipped, and so is an email whose report is stored already. Returns the new last event number per workspace. Must be called last
 * in the transaction that stores the emails.
 */
export async function insertDmarcReports(
  client: PoolClient,
  reports: readonly NewDmarcReport[],
): Promise<{ workspaceId: string; lastSeq: number }[]> {
  const { rows } = await client.query<{ workspace_id: string; last_seq: number }>(INSERT_SQL, [
    JSON.stringify(reports),
  ]);
  return rows.map((row) => ({ workspaceId: row.workspace_id, lastSeq: row.last_seq }));
}

/** Whether one of our domains, by name, is or contains a policy's domain; and whether it is below that domain. */
const holdsPolicy = (name: string, policy: string) => `right('.' || ${policy}, length(${name}) + 1) = '.' || ${name}`;

/** Whether a report on a policy's domain concerns one of our domains, both by name. */
export const concernsDomain = (name: string, policy: string): string =>
  `(${holdsPolicy(name, policy)} or ${holdsPolicy(policy, name)})`;

const INSERT_SQL = `
  with given as materialized (
    select * from json_to_recordset($1) as g (workspace_id text, email_id text, id text, event_id text, domain text, organization text,
      report_id text, begins_at timestamptz, ends_at timestamptz, policy jsonb, records jsonb, message_count integer,
      aligned_count integer, is_truncated boolean)
  ), stored as materialized (
    insert into dmarc_report as r (workspace_id, id, email_id, domain, domain_id, organization, report_id, begins_at, ends_at, policy, records,
      record_count, message_count, aligned_count, is_truncated, created_at)
    select g.workspace_id, g.id, g.email_id, g.domain, of_workspace.id, g.organization, g.report_id, g.begins_at, g.ends_at, g.policy, g.records,
      jsonb_array_length(g.records), g.message_count, g.aligned_count, g.is_truncated, (select postroom_now())
    from given g cross join lateral (
      select d.id, ${holdsPolicy('d.name', 'g.domain')} as holds_policy
      from domain d
      where d.workspace_id = g.workspace_id and d.status = 'verified'
        and ${concernsDomain('d.name', 'g.domain')}
      order by 2 desc, length(d.name) desc, d.name limit 1) of_workspace
    on conflict (workspace_id, email_id) do nothing
    returning r.workspace_id, r.id, r.email_id, r.domain, r.domain_id, r.organization, r.message_count, r.aligned_count
  )
  select workspace_id, append_events(workspace_id, events) as last_seq
  from (
    select s.workspace_id, jsonb_agg(jsonb_build_object('id', g.event_id, 'kind', 'dmarc.report_received', 'emailId', s.email_id,
      'data', jsonb_build_object('dmarcReportId', s.id, 'domainId', s.domain_id, 'domain', s.domain, 'organization', s.organization,
        'messageCount', s.message_count, 'alignedCount', s.aligned_count)) order by s.email_id) as events
    from stored s join given g on g.workspace_id = s.workspace_id and g.email_id = s.email_id
    group by s.workspace_id order by s.workspace_id) of_workspace`;
