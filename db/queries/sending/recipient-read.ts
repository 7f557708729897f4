import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import type { EmailAttempt, EmailRecipient } from '../emails/email-recipients.ts';

/** A recipient of an email, or of a forwarded copy of one. */
export interface Recipient extends Omit<EmailRecipient, 'log'> {
  id: string;
  emailId: string;
  /** of the forwarded copy; null: of the sent email itself */
  deliveryId: string | null;
  /** when it reported the message as spam */
  complainedAt: Date | null;
  createdAt: Date;
}

/** Returns those of the recipients that belong to the workspace, unordered. */
export function findRecipients(
  transaction: Transaction<Tables>,
  workspaceId: string,
  recipientIds: readonly string[],
): Promise<Recipient[]> {
  return select(transaction, sql`where r.workspace_id = ${workspaceId} and r.id = any (${recipientIds}::text[])`);
}

/** Returns the recipients of sent emails by email id: those in the header come first, in its order. Received mail has none. */
export async function findRecipientsByEmail(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, Recipient[]>> {
  const rows = await select(
    transaction,
    sql`join email e on e.workspace_id = ${workspaceId} and e.id = r.email_id
      where r.workspace_id = ${workspaceId} and r.email_id = any (${emailIds}::text[]) and r.delivery_id is null and e.type <> 'received'
      order by array_position(e.to_addresses || e.cc_addresses, r.address), r.address`,
  );
  return Map.groupBy(rows, (recipient) => recipient.emailId);
}

/** Returns every attempt by recipient id, in order. */
export async function findAttempts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  recipientIds: readonly string[],
): Promise<Map<string, EmailAttempt[]>> {
  const { rows } = await sql<EmailAttempt & { recipientId: string }>`
    select a.recipient_id as "recipientId", a.number, a.started_at as "startedAt", a.finished_at as "finishedAt", a.outcome, a.host,
      a.remote_address as "remoteAddress", a.is_tls as "isTls", a.code, a.enhanced_status as "enhancedStatus", a.text
    from sending_attempt a where a.workspace_id = ${workspaceId} and a.recipient_id = any (${recipientIds}::text[])
    order by a.recipient_id, a.number`.execute(transaction);
  return Map.groupBy(rows, (attempt) => attempt.recipientId);
}

async function select(transaction: Transaction<Tables>, tail: RawBuilder<unknown>): Promise<Recipient[]> {
  const { rows } = await sql<Recipient>`
    select r.id, r.email_id as "emailId", r.delivery_id as "deliveryId", r.address, r.status, r.attempts, r.last_code as code,
      r.last_status as "enhancedStatus", r.last_text as text, r.refusal_reason as "refusalReason", r.next_attempt_at as "nextAttemptAt", r.settled_at as "settledAt",
      r.complained_at as "complainedAt", r.created_at as "createdAt"
    from recipient r ${tail}`.execute(transaction);
  return rows;
}

/**
 * Makes the deferred recipients of a sent email due now, except those being tried. Returns the ids of all that are due then, including
 * any that were due before.
 */
export async function hastenRecipients(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update recipient r set next_attempt_at = least(r.next_attempt_at, (select postroom_now()))
    where r.workspace_id = ${workspaceId} and r.email_id = ${emailId} and r.delivery_id is null and r.status = 'pending' and r.attempts > 0
      and r.next_attempt_at is not null and (r.claimed_until is null or r.claimed_until < (select postroom_now()))
    returning r.id`.execute(transaction);
  return rows.map(({ id }) => id);
}
