import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/connection/database.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import {
  closeAccount,
  endAccount,
  eraseRows,
  eraseSystemMail,
  LAST_REQUESTS_MS,
} from '../../db/queries/accounts/erase-account.ts';

export interface AccountErasure {
  workspaceId: string;
  /** address that the account was created with */
  email: string;
  /** whether a service may be running on the database */
  isServed: boolean;
}

/**
 * Erases an account: closes it, removes its data while its running work ends, and then removes the account. Can be interrupted at any
 * point: the next call continues, and so does the scheduling actor. Returns the number of removed rows.
 */
export async function eraseAccount(
  database: Database,
  { workspaceId, email, isServed }: AccountErasure,
): Promise<number> {
  await asWorkspace(database, workspaceId, (transaction) => closeAccount(transaction, workspaceId));
  let count = await eraseRows(database, workspaceId);
  await eraseSystemMail(database, email);
  if (isServed) await sleep(LAST_REQUESTS_MS);
  for (;;) {
    count += await eraseRows(database, workspaceId);
    if (await endAccount(database, workspaceId)) return count;
  }
}
