import type { ClientBase } from 'pg';
import type { RefusalReason } from '../../../core/sending/refusal-advice.ts';
import type { RecipientStatus } from '../../../core/smtp/delivery-status.ts';

/** A recipient of an email for which a report arrived. */
export interface ReportRecipient {
  id: string;
  /** whether the report may be about it: it was in the SMTP transaction of the recipient that the return address was created for */
  isReportable: boolean;
  emailId: string;
  /** of the forwarded copy; null: the email itself was sent */
  deliveryId: string | null;
  threadId: string | null;
  address: string;
  status: RecipientStatus;
  lastStatus: string | null;
  lastText: string | null;
  /** whether there was a complaint before */
  isComplainedOf: boolean;
}

/** A recipient's change. */
export interface ReportedChange {
  id: string;
  /** `delayed` and `complained` leave its status unchanged */
  kind: 'bounced' | 'delayed' | 'complained';
  /** of a DSN; null otherwise */
  status: string | null;
  text: string | null;
  /** null: a complaint */
  reason: RefusalReason | null;
}

/** An event of the email that the recipients belong to. */
export interface ReportEvent {
  kind: 'email.bounced' | 'email.delayed' | 'email.complained';
  data: unknown;
}

/**
 * Locks the recipients of the email, or of its forwarded copy, whose return address names one of them, in key order. Empty when the user
 * has no such recipient, or the email has not been sent.
 */
export async function lockReportRecipients(
  client: ClientBase,
  workspaceId: string,
  returnId: string,
): Promise<ReportRecipient[]> {
  const { rows } = await client.query<ReportRecipient>({
    name: 'report-lock-recipients',
    text: RECIPIENTS_SQL,
    values: [workspaceId, returnId],
  });
  return rows;
}

// return_id is written when the transaction is over: if a report is faster, the domain decides.
const RECIPIENTS_SQL = `
  select r.id, r.id = named.id or r.return_id = named.id
      or (r.domain = named.domain and (r.return_id is null or r.claimed_by is not null)) as "isReportable",
    r.email_id as "emailId", r.delivery_id as "deliveryId", e.thread_id as "threadId", r.address, r.status, r.last_status as "lastStatus", r.last_text as "lastText",
    r.complained_at is not null as "isComplainedOf"
  from recipient named
  join email e on e.workspace_id = named.workspace_id and e.id = named.email_id and (e.type = 'sent' or named.delivery_id is not null)
  join recipient r on r.workspace_id = named.workspace_id and r.email_id = named.email_id
    and r.delivery_id is not distinct from named.delivery_id
  where named.workspace_id = $1 and named.id = $2
  order by r.id for update of r`;

/** Marks a reception that creates no email as done. False when this claimant no longer holds it: then nothing may be written. */
export async function finishReportReception(
  client: ClientBase,
  workspaceId: string,
  receptionId: string,
  claimant: string,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'report-finish-reception',
    text: `update reception set parsed_at = (select postroom_now()), claimed_by = null, claimed_until = null
           where workspace_id = $1 and email_id = $2 and claimed_by = $3`,
    values: [workspaceId, receptionId, claimant],
  });
  return rowCount === 1;
}

/** Writes the changes of locked recipients. A process that is sending to one that bounced loses its claim. */
export async function changeReported(
  client: ClientBase,
  workspaceId: string,
  changes: readonly ReportedChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await client.query({ name: 'report-change', text: CHANGE_SQL, values: [workspaceId, JSON.stringify(changes)] });
}

const CHANGE_SQL = `
  update recipient r set
    status = case when c.kind = 'bounced' then c.kind else r.status end,
    settled_at = case when c.kind = 'bounced' then (select postroom_now()) else r.settled_at end,
    next_attempt_at = case when c.kind = 'bounced' then null else r.next_attempt_at end,
    claimed_by = case when c.kind = 'bounced' then null else r.claimed_by end,
    claimed_until = case when c.kind = 'bounced' then null else r.claimed_until end,
    complained_at = case when c.kind = 'complained' then (select postroom_now()) else r.complained_at end,
    last_code = case when c.kind = 'complained' then r.last_code end,
    last_status = case when c.kind = 'complained' then r.last_status else c.status end,
    last_text = case when c.kind = 'complained' then r.last_text else c.text end,
    refusal_reason = case when c.kind = 'complained' then r.refusal_reason else c.reason end
  from json_to_recordset($2) as c (id text, kind text, status text, text text, reason text)
  where r.workspace_id = $1 and r.id = c.id`;

/** Recomputes the status of the email from its recipients. */
export async function refreshReported(client: ClientBase, workspaceId: string, emailId: string): Promise<void> {
  await client.query({
    name: 'report-refresh',
    text: 'select from refresh_sent_emails(array[$1::text], array[$2::text])',
    values: [workspaceId, emailId],
  });
}

/** Appends to the workspace's event feed; must be last in its transaction. Returns the last sequence number; null when there are no events. */
export async function appendReportEvents(
  client: ClientBase,
  workspaceId: string,
  events: readonly object[],
): Promise<number | null> {
  if (events.length === 0) return null;
  const { rows } = await client.query<{ last_seq: number }>({
    name: 'report-append-events',
    text: 'select append_events($1, $2::jsonb) as last_seq',
    values: [workspaceId, JSON.stringify(events)],
  });
  return rows[0]?.last_seq ?? null;
}
