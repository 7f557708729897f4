import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace, shareSendRights } from '../../db/connection/transaction.ts';
import { appendEvents } from '../../db/queries/emails/email-flags.ts';
import { type BatchedEmail, readBatches } from '../../db/queries/sending/batch-read.ts';
import { retryEmails } from '../../db/queries/sending/retry-emails.ts';
import { lockOutgoing, setScheduledStatus } from '../../db/queries/sending/scheduled-change.ts';
import { authorizeBatchChange } from '../accounts/key-reach.ts';
import { isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { requireSendingRight } from './scheduled-emails.ts';

/** Status of an email in a batch. Scheduled and paused mail, and mail that waits for approval, is pending; rejected mail is cancelled; mail with a sending attempt is processing. */
export type BatchItemStatus = 'pending' | 'processing' | 'sent' | 'failed' | 'cancelled';

/**
 * Derived from the emails. queued: nothing has started; processing: some emails are unfinished; completed;
 * partially_failed: some were sent and some failed; failed: none was sent; cancelled: all were cancelled.
 */
export type BatchStatus = 'queued' | 'processing' | 'completed' | 'partially_failed' | 'failed' | 'cancelled';

export type BatchCounts = Record<BatchItemStatus, number>;

export interface Batch {
  id: string;
  status: BatchStatus;
  counts: BatchCounts;
  createdAt: Date;
  /** the latest change of any of its emails */
  updatedAt: Date;
  items: (Omit<BatchedEmail, 'status'> & { status: BatchItemStatus })[];
}

/** Throws not_found. */
export async function readBatch(context: OperationContext, batchId: string): Promise<Batch> {
  const [batch] = await loadBatches(context, [batchId]);
  if (batch == null) throw batchNotFound();
  return batch;
}

/** Returns one batch per id, null where the user has none. */
export async function loadBatches(
  { database, workspaceId }: OperationContext,
  batchIds: readonly string[],
): Promise<(Batch | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    readBatches(transaction, workspaceId, batchIds.filter(isValidId)),
  );
  return batchIds.map((id) => {
    const rows = found.get(id);
    return rows === undefined ? null : toBatch(id, rows);
  });
}

/**
 * Cancels the emails of a batch that are still scheduled or paused; emails already sent are not affected. Returns how
 * many were cancelled. Throws not_found, and validation when nothing could ever be cancelled.
 */
export async function cancelBatch(
  context: OperationContext,
  batchId: string,
): Promise<{ batch: Batch; cancelledCount: number }> {
  if (!isValidId(batchId)) throw batchNotFound();
  const { bus, database, workspaceId } = await authorizeBatchChange(context, batchId, batchNotFound);
  const { cancelledCount, lastSeq } = await asWorkspace(database, workspaceId, async (transaction) => {
    const found = (await readBatches(transaction, workspaceId, [batchId])).get(batchId);
    if (found === undefined) throw batchNotFound();
    const ids = found.emails.map((email) => email.id);
    const locked = await lockOutgoing(transaction, workspaceId, ids);
    const waiting = locked.filter(
      ({ type, status }) => type === 'scheduled' && status !== 'cancelled' && status !== 'rejected',
    );
    if (waiting.length === 0 && locked.every(({ status }) => status !== 'cancelled' && status !== 'rejected'))
      throw new UserError('validation', 'Every email in this batch has already been sent.', {
        isOfState: true,
      });
    if (waiting.length === 0) return { cancelledCount: 0, lastSeq: null };
    await setScheduledStatus(
      transaction,
      workspaceId,
      waiting.map((email) => email.id),
      'cancelled',
    );
    const kind = 'email.cancelled';
    const events = waiting.map((email) => ({ id: newIdentifier(context, 'event'), kind, emailId: email.id }));
    return { cancelledCount: waiting.length, lastSeq: await appendEvents(transaction, workspaceId, events) };
  });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  return { batch: await readBatch(context, batchId), cancelledCount };
}

/**
 * Sends the emails of a batch that failed or bounced again, to those recipients. Suppressed recipients and emails whose bytes are gone are
 * left out; those whose sender's domain is not verified any more fail again. Returns how many are sent again. Throws not_found, forbidden.
 */
export async function retryBatch(
  context: OperationContext,
  batchId: string,
): Promise<{ batch: Batch; retriedCount: number }> {
  if (!isValidId(batchId)) throw batchNotFound();
  const { bus, database, workspaceId } = await authorizeBatchChange(context, batchId, batchNotFound);
  const emailIds = await asWorkspace(database, workspaceId, async (transaction) => {
    await shareSendRights(transaction, workspaceId);
    const found = (await readBatches(transaction, workspaceId, [batchId])).get(batchId);
    if (found === undefined) throw batchNotFound();
    const failed = found.emails.filter((email) => toItemStatus(email) === 'failed');
    const failedIds = failed.map(({ id }) => id);
    await requireSendingRight(context, transaction, failedIds);
    return retryEmails(transaction, { workspaceId, keyId: context.rights.keyId }, failedIds);
  });
  if (emailIds.length > 0) bus.wake('sending.send.wake', { workspaceId, emailIds });
  return { batch: await readBatch(context, batchId), retriedCount: emailIds.length };
}

/** Counts the items by status. */
export function countItems(statuses: readonly BatchItemStatus[]): BatchCounts {
  const counts: BatchCounts = { pending: 0, processing: 0, sent: 0, failed: 0, cancelled: 0 };
  for (const status of statuses) counts[status]++;
  return counts;
}

export function summarizeBatch({ pending, processing, sent, failed, cancelled }: BatchCounts): BatchStatus {
  if (pending + processing > 0) return processing + sent + failed + cancelled === 0 ? 'queued' : 'processing';
  if (failed > 0) return sent > 0 ? 'partially_failed' : 'failed';
  return sent === 0 && cancelled > 0 ? 'cancelled' : 'completed';
}

function toBatch(batchId: string, found: { createdAt: Date; emails: BatchedEmail[] }): Batch {
  const items = found.emails.map((email) => ({ ...email, status: toItemStatus(email) }));
  const counts = countItems(items.map((item) => item.status));
  const changes = [found.createdAt, ...found.emails.map((email) => email.updatedAt)];
  const updatedAt = new Date(Math.max(...changes.map((at) => at.getTime())));
  return { id: batchId, status: summarizeBatch(counts), counts, createdAt: found.createdAt, updatedAt, items };
}

function toItemStatus({ status, isTried }: BatchedEmail): BatchItemStatus {
  switch (status) {
    case 'scheduled':
    case 'paused':
    case 'awaiting_approval':
      return 'pending';
    case 'pending':
      return isTried ? 'processing' : 'pending';
    case 'delivered':
      return 'sent';
    case 'bounced':
    case 'failed':
      return 'failed';
    case 'cancelled':
    case 'rejected':
      return 'cancelled';
  }
}

function batchNotFound(): UserError {
  return new UserError('not_found', 'Batch not found');
}
