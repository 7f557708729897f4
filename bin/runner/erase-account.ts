import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/connection/database.ts';
import { closeAccount, endAccount, eraseRows, eraseSystemMail } from '../../db/queries/accounts/erase-account.ts';

/** Gateways forget revoked keys within five seconds, and requests that were let in before end within as many. Milliseconds. */
const LAST_REQUESTS_MS = 6_000;

export interface AccountErasure {
  userId: string;
  /** with which it was made */
  email: string;
  /** whether a service may be running on the database */
  isServed: boolean;
}

/**
 * Erases an account: closes it, removes all that it has while what is under way for it ends, and then the account itself. Cut at any point, it
 * goes on where it was when it is called again. Answers how many rows went.
 */
export async function eraseAccount(database: Database, { userId, email, isServed }: AccountErasure): Promise<number> {
  await closeAccount(database, userId);
  let count = await eraseRows(database, userId);
  await eraseSystemMail(database, email);
  if (isServed) await sleep(LAST_REQUESTS_MS);
  for (;;) {
    count += await eraseRows(database, userId);
    if (await endAccount(database, userId)) return count;
  }
}
