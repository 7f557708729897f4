import type { Transaction } from 'kysely';
import { type Quota, type QuotaUse, quotaExceeded } from '../../core/accounts/quotas.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import { readQuotaState } from '../../db/queries/accounts/customer.ts';
import type { OperationContext } from '../context.ts';

/**
 * Requires that one more domain or address is within the quota of the workspace, in the transaction that adds it: of several at once, the
 * others wait. Throws forbidden.
 */
export async function requireRoom(
  { rights, workspaceId }: Pick<OperationContext, 'rights' | 'workspaceId'>,
  transaction: Transaction<Tables>,
  quota: Exclude<Quota, 'mailPerDay' | 'storedBytes'>,
): Promise<void> {
  if (!rights.mayHaveQuotas) return;
  const state = await readQuotaState(transaction, workspaceId, { isLocking: true });
  if (state !== null) requireLeft({ quota, limit: state.quotas[quota] ?? Infinity, used: state[quota], added: 1 });
}

/**
 * Requires that so many more emails are within the quota of today, and that stored mail leaves room. Requests that run at the same moment may
 * exceed it together, and stored bytes are those of the last measurement. Throws forbidden.
 */
export async function requireMailQuota(
  { database, rights, workspaceId }: OperationContext,
  added: number,
): Promise<void> {
  if (!rights.mayHaveQuotas) return;
  const whole = database.limit?.whole ?? database;
  const state = await asWorkspace(whole, workspaceId, (transaction) =>
    readQuotaState(transaction, workspaceId, { isLocking: false }),
  );
  if (state === null) return;
  requireLeft({ quota: 'mailPerDay', limit: state.quotas.mailPerDay ?? Infinity, used: state.mailPerDay, added });
  requireLeft({ quota: 'storedBytes', limit: state.quotas.storedBytes ?? Infinity, used: state.storedBytes, added: 1 });
}

function requireLeft(use: QuotaUse): void {
  const error = quotaExceeded(use);
  if (error !== null) throw error;
}
