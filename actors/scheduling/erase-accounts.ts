import { endAccount, eraseRows, eraseSystemMail, listClosedAccounts } from '../../db/queries/accounts/erase-account.ts';
import type { ActorContext, Run } from '../actor.ts';

export interface ErasureOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'erasure.rows-removed' | 'erasure.before-end' | 'erasure.after-end') => void;
}

/** Accounts erased in one run. */
export const ERASURES_BATCH = 10;

/**
 * Erases the accounts that were closed and whose last requests have ended: their rows in small transactions, mail that the service sent
 * them, and at last the accounts themselves. Can be interrupted at any point, and run by several schedulers: an account stays due until it
 * is gone. Returns how many were erased.
 */
export async function eraseClosedAccounts(
  { database, log }: ActorContext,
  { fault }: ErasureOptions,
  run: Pick<Run, 'isStopping'>,
): Promise<number> {
  let count = 0;
  for (const { userId, email } of await listClosedAccounts(database, ERASURES_BATCH)) {
    if (run.isStopping()) break;
    const rows = await eraseRows(database, userId, () => run.isStopping());
    if (run.isStopping()) break;
    fault?.('erasure.rows-removed');
    await eraseSystemMail(database, email);
    fault?.('erasure.before-end');
    if (!(await endAccount(database, userId))) continue;
    fault?.('erasure.after-end');
    log.info({ userId, rows }, 'scheduling: an account was erased');
    count++;
  }
  return count;
}
