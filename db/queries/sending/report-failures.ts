import { claimStatement } from '../../claim.ts';
import type { Database } from '../../connection/database.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** A failed recipient whose sender has not been notified, with the email and the last server. */
export interface UnreportedFailure {
  workspaceId: string;
  recipientId: string;
  address: string;
  attempts: number;
  code: number | null;
  status: string | null;
  text: string | null;
  host: string | null;
  queuedAt: Date;
  settledAt: Date;
  emailId: string;
  /** the From address, lower case */
  ownAddress: string;
  messageId: string;
  subject: string;
  rawId: string | null;
  inReplyTo: string[];
  references: string[];
}

/** Claims up to `limit` recipients whose senders must be notified, first failed first. */
export async function claimFailures(database: Database, claimant: string, limit: number): Promise<UnreportedFailure[]> {
  const { rows } = await database.pool.query<UnreportedFailure>({
    name: 'claim-failures',
    text: CLAIM_SQL,
    values: [claimant, limit],
  });
  return rows;
}

const CLAIM_SQL = `
  with claimed as materialized (${claimStatement({
    table: 'recipient',
    isDue: `d.status = 'failed' and d.reported_at is null and ${notSetAsideSql('report', 'd.workspace_id', 'd.id')}`,
    orderBy: 'd.settled_at',
    returning: [
      'workspace_id',
      'id',
      'email_id',
      'address',
      'attempts',
      'last_code',
      'last_status',
      'last_text',
      'queued_at',
      'settled_at',
      'created_at',
    ],
  })})
  select r.workspace_id as "workspaceId", r.id as "recipientId", r.address, r.attempts, r.last_code as code, r.last_status as status,
    r.last_text as text, a.host, coalesce(r.queued_at, r.created_at) as "queuedAt", r.settled_at as "settledAt", r.email_id as "emailId",
    e.own_address as "ownAddress", e.message_id as "messageId", e.subject, e.raw_id as "rawId", c.in_reply_to as "inReplyTo",
    c.reference_ids as "references"
  from claimed r
  join email e on e.workspace_id = r.workspace_id and e.id = r.email_id
  join email_content c on c.workspace_id = r.workspace_id and c.email_id = r.email_id
  left join lateral (
    select l.host from sending_attempt l where l.workspace_id = r.workspace_id and l.recipient_id = r.id order by l.number desc limit 1
  ) a on true
  order by r.settled_at, r.address, r.id`;

/** Marks these recipients as reported, whether the sender was notified or cannot be. */
export async function markReported(
  database: Database,
  workspaceId: string,
  recipientIds: readonly string[],
): Promise<void> {
  await database.pool.query({
    name: 'mark-reported',
    text: `update recipient set reported_at = (select postroom_now()), claimed_by = null, claimed_until = null
           where workspace_id = $1 and id = any ($2) and status = 'failed'`,
    values: [workspaceId, recipientIds],
  });
}
