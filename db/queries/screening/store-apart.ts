import type pg from 'pg';
import { keptApartFor, type SpamCheck } from '../../../core/screening/spam-check.ts';
import { type EmailRows, withBodiesApart } from '../emails/store-received.ts';
import type { FeedEvent } from '../threads/thread-events.ts';

/** The emails of one workspace that were stored apart. */
interface StoredApart {
  workspaceId: string;
  /** to append last in the transaction */
  events: FeedEvent[];
}

/**
 * Creates emails from receptions that this claimant holds and that a scanner found to be spam or infected, in one statement: with their
 * content, in the trash, and without a thread, a route, search words and totals. The content of infected mail is only what its header
 * section says, and its bytes are reached through the quarantine only. A reception that was parsed already or is claimed by another process
 * is skipped.
 */
export async function storeKeptApart(
  client: pg.ClientBase,
  claimant: string,
  rows: readonly EmailRows[],
  makeEventId: () => string,
): Promise<StoredApart[]> {
  const { fields, bodies } = withBodiesApart(
    rows.map((row) => (row.screening?.virus == null ? row : withoutContent(row))),
  );
  const { rows: stored } = await client.query<{ workspace_id: string; email_id: string }>({
    name: 'store-kept-apart',
    text: STORE_SQL,
    values: [JSON.stringify(fields), bodies, claimant],
  });
  const rowOf = new Map(rows.map((row) => [`${row.workspace_id} ${row.email_id}`, row]));
  const byWorkspace = Map.groupBy(stored, ({ workspace_id: workspaceId }) => workspaceId);
  return [...byWorkspace].map(([workspaceId, emails]) => ({
    workspaceId,
    events: emails.map(({ email_id: emailId }) => ({
      id: makeEventId(),
      kind: 'email.spam',
      emailId,
      data: spamEventData(rowOf.get(`${workspaceId} ${emailId}`)?.screening ?? null),
    })),
  }));
}

/** Returns the data of the event `email.spam`. */
export function spamEventData(screening: EmailRows['screening'] | null): Record<string, unknown> {
  const spam: SpamCheck | null = screening?.spam ?? null;
  return {
    verdict: keptApartFor(screening ?? null) ?? 'spam',
    score: spam?.score ?? null,
    virus: screening?.virus ?? null,
    by: spam?.by ?? 'filter',
  };
}

function withoutContent(row: EmailRows): EmailRows {
  return {
    ...row,
    preview: '',
    text_body: null,
    html_body: null,
    cleaned_text: null,
    cleaned_html: null,
    removed_parts: [],
    attachments: [],
    // The findings quote what is taken away. The verdict stays: an agent can still read the subject and the names.
    injection: row.injection === null ? null : { ...row.injection, findings: [] },
    attachment_count: 0,
  };
}

const bodySql = (n: number) =>
  `convert_from(substring($2::bytea from places[${2 * n + 1}] + 1 for places[${2 * n + 2}]), 'UTF8')`;

const STORE_SQL = `
  with given as materialized (
    select * from json_to_recordset($1) as g (workspace_id text, email_id text, message_id text, subject text,
      base_subject text, from_name text, from_address text, from_text text, to_addresses text[], cc_addresses text[], preview text,
      date timestamptz, attachment_count integer, headers jsonb, addresses jsonb, in_reply_to text[], reference_ids text[],
      places integer[], removed_parts jsonb, attachments jsonb, authentication jsonb, injection jsonb, screening jsonb, priority text,
      is_truncated boolean, parse_error text, parser_version smallint, search_text text, parties text[])
  ), finished as materialized (
    update reception r set parsed_at = (select postroom_now()), claimed_by = null, claimed_until = null, last_error = g.parse_error
    from given g
    where r.workspace_id = g.workspace_id and r.email_id = g.email_id and r.claimed_by = $3 and r.ctid = any (array(
      select (select o.ctid from reception o where o.workspace_id = w.workspace_id and o.email_id = w.email_id) from given w))
    returning case when g.screening->>'virus' is null then r.raw_id end as raw_id,
      case when g.screening->>'virus' is null then 'spam' else 'virus' end as kept_apart, r.recipient, r.own_address,
      substring(r.own_address from '[^@]*$') as own_domain, r.address_id, r.domain_id, r.accepted_at, r.reply_address_id, r.is_test, g.*
  ), email_row as (
    insert into email (workspace_id, id, type, status, created_at, raw_id, own_address, own_domain, address_id, domain_id, recipient,
      message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses, preview, date,
      has_attachments, attachment_count, is_test, reply_address_id, trashed_at, kept_apart)
    select workspace_id, email_id, 'received', 'delivered', accepted_at, raw_id, own_address, own_domain, address_id, domain_id, recipient,
      message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses, preview, date,
      attachment_count > 0, attachment_count, is_test, reply_address_id, (select postroom_now()), kept_apart
    from finished
  ), content_row as (
    insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, cleaned_text,
      cleaned_html, removed_parts, attachments, authentication, injection, screening, priority, is_truncated, parse_error, parser_version)
    select workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, ${[0, 1, 2, 3].map(bodySql).join(', ')},
      removed_parts, attachments, authentication, injection, screening, priority, is_truncated, parse_error, parser_version
    from finished
  ), trashed_row as (
    insert into trashed_email (workspace_id, email_id, trashed_at, created_at, text, parties)
    select workspace_id, email_id, (select postroom_now()), accepted_at, search_text, parties from finished
  )
  select workspace_id, email_id from finished order by workspace_id, accepted_at, email_id`;
