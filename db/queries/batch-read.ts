import { sql, type Transaction } from 'kysely';
import type { EmailStatus, Tables } from '../tables.ts';

/** An email of a batch. */
export interface BatchedEmail {
  id: string;
  /** its place in the batch, 0-based */
  index: number;
  status: EmailStatus;
  messageId: string;
  failureReason: string | null;
  createdAt: Date;
  updatedAt: Date;
  sentAt: Date | null;
  scheduledAt: Date | null;
  /** whether a server was asked, or is being asked, to take it for one of its recipients */
  isTried: boolean;
}

/** A batch with its emails in their order; null when the user has none of that id. */
export async function readBatch(
  transaction: Transaction<Tables>,
  userId: string,
  batchId: string,
): Promise<{ createdAt: Date; emails: BatchedEmail[] } | null> {
  const batch = await transaction
    .selectFrom('batch')
    .select('created_at as createdAt')
    .where('user_id', '=', userId)
    .where('id', '=', batchId)
    .executeTakeFirst();
  if (batch === undefined) return null;
  const { rows: emails } = await sql<BatchedEmail>`
    select e.id, e.batch_index as index, e.status, e.message_id as "messageId", e.failure_reason as "failureReason",
      e.created_at as "createdAt", e.updated_at as "updatedAt", e.sent_at as "sentAt", e.scheduled_at as "scheduledAt",
      exists (
        select from recipient r where r.user_id = ${userId} and r.email_id = e.id
        and (r.attempts > 0 or r.claimed_by is not null or r.status <> 'pending')
      ) as "isTried"
    from email e where e.user_id = ${userId} and e.batch_id = ${batchId} order by e.batch_index`.execute(transaction);
  return { createdAt: batch.createdAt, emails };
}
