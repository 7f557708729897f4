import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/connection/database.ts';
import { asUser } from '../../db/connection/transaction.ts';
import {
  closeAccount,
  endAccount,
  eraseRows,
  eraseSystemMail,
  LAST_REQUESTS_MS,
} from '../../db/queries/accounts/erase-account.ts';

export interface AccountErasure {
  userId: string;
  /** address that the account was created with */
  email: string;
  /** whether a service may be running on the database */
  isServed: boolean;
}

/**
 * Erases an account: closes it, removes its data while its running work ends, and then removes the account. Can be interrupted at any
 * point: the next call continues, and so does the scheduling actor. Returns the number of removed rows.
 */
export async function eraseAccount(database: Database, { userId, email, isServed }: AccountErasure): Promise<number> {
  await asUser(database, userId, (transaction) => closeAccount(transaction, userId));
  let count = await eraseRows(database, userId);
  await eraseSystemMail(database, email);
  if (isServed) await sleep(LAST_REQUESTS_MS);
  for (;;) {
    count += await eraseRows(database, userId);
    if (await endAccount(database, userId)) return count;
  }
}
