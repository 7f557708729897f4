import { isTransient } from '../../db/errors.ts';
import {
  type ClosedAccount,
  endAccount,
  eraseRows,
  eraseSystemMail,
  listClosedAccounts,
  postponeErasure,
} from '../../db/queries/accounts/erase-account.ts';
import { actorMetrics } from '../../schema/metrics.ts';
import type { ActorContext, Run } from '../actor.ts';

export interface ErasureOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: `erasure.${string}-removed` | 'erasure.before-end' | 'erasure.after-end') => void;
}

/** Accounts erased in one run. */
export const ERASURES_BATCH = 10;

/**
 * Erases the accounts that were closed and whose last requests have ended: their rows in small transactions, mail that the service sent
 * them, and at last the accounts themselves. Can be interrupted at any point, and run by several schedulers: an account stays due until it
 * is gone. One that cannot be erased is postponed, so that it does not hold up those closed after it. Returns how many were erased.
 */
export async function eraseClosedAccounts(
  context: ActorContext,
  options: ErasureOptions,
  run: Pick<Run, 'isStopping'>,
): Promise<number> {
  const { database, log } = context;
  let count = 0;
  for (const account of await listClosedAccounts(database, ERASURES_BATCH)) {
    if (run.isStopping()) break;
    try {
      if (await eraseAccount(context, options, run, account)) count++;
    } catch (error) {
      if (isTransient(error)) throw error;
      const about = { actor: 'scheduling', step: 'erasures' };
      actorMetrics.stepFailures.inc({ ...about, reason: 'fault' });
      log.error({ ...about, err: error, workspaceId: account.workspaceId }, 'actor: step failed for one user');
      await postponeErasure(database, account.workspaceId);
    }
  }
  return count;
}

/** Returns whether the account is gone; it is not when the actor stops, or when rows were added meanwhile. */
async function eraseAccount(
  { database, log }: ActorContext,
  { fault }: ErasureOptions,
  run: Pick<Run, 'isStopping'>,
  { workspaceId, email }: ClosedAccount,
): Promise<boolean> {
  const rows = await eraseRows(database, workspaceId, {
    isStopping: () => run.isStopping(),
    onRemoved: (table) => fault?.(`erasure.${table}-removed`),
  });
  if (run.isStopping()) return false;
  fault?.('erasure.rows-removed');
  if (email !== null) await eraseSystemMail(database, email);
  fault?.('erasure.before-end');
  if (!(await endAccount(database, workspaceId))) return false;
  fault?.('erasure.after-end');
  log.info({ workspaceId, rows }, 'scheduling: an account was erased');
  return true;
}
