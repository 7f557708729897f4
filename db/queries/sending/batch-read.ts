import { sql, type Transaction } from 'kysely';
import type { EmailStatus } from '../../../core/emails/email-status.ts';
import type { Tables } from '../../entities/tables.ts';

/** An email of a batch. */
export interface BatchedEmail {
  id: string;
  /** its position in the batch, 0-based */
  index: number;
  status: EmailStatus;
  messageId: string;
  failureReason: string | null;
  createdAt: Date;
  updatedAt: Date;
  sentAt: Date | null;
  scheduledAt: Date | null;
  /** whether an SMTP transaction was started for one of its recipients */
  isTried: boolean;
}

/** Returns those of the batches that belong to the workspace, with their emails in order, by id. */
export async function readBatches(
  transaction: Transaction<Tables>,
  workspaceId: string,
  batchIds: readonly string[],
): Promise<Map<string, { createdAt: Date; emails: BatchedEmail[] }>> {
  const batches = await transaction
    .selectFrom('batch')
    .select(['id', 'created_at as createdAt'])
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`id = any (${batchIds}::text[])`)
    .execute();
  if (batches.length === 0) return new Map();
  const { rows } = await sql<BatchedEmail & { batchId: string }>`
    select e.batch_id as "batchId", e.id, e.batch_index as index, e.status, e.message_id as "messageId",
      e.failure_reason as "failureReason", e.created_at as "createdAt", e.updated_at as "updatedAt", e.sent_at as "sentAt",
      e.scheduled_at as "scheduledAt",
      exists (
        select from recipient r where r.workspace_id = ${workspaceId} and r.email_id = e.id
        and (r.attempts > 0 or r.claimed_by is not null or r.status <> 'pending')
      ) as "isTried"
    from email e where e.workspace_id = ${workspaceId} and e.batch_id = any (${batches.map(({ id }) => id)}::text[])
    order by e.batch_id, e.batch_index`.execute(transaction);
  const emails = Map.groupBy(rows, ({ batchId }) => batchId);
  return new Map(batches.map(({ id, createdAt }) => [id, { createdAt, emails: emails.get(id) ?? [] }]));
}
