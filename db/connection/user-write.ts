import type pg from 'pg';
import type { Database } from './database.ts';
import { limitedError, userSettings } from './transaction.ts';
import { runUserStatement, type UserStatement } from './user-statement.ts';

export interface UserWriteLimits {
  /** maximum wait for a row that another transaction locks; milliseconds */
  lockTimeoutMs: number;
  /** after which the statement fails, and nothing is written; milliseconds */
  timeoutMs: number;
  /** name of a lock of the user that is held, together with others who share it, before the statement begins */
  sharedLock: string;
}

/**
 * Runs one frequent statement that writes, as a transaction of the user: it is sent, run and committed in one round trip. When it rejects
 * with an error of PostgreSQL, nothing was written; after any other error, it may have been. Throws OpeningFailed when the lock is not free in time.
 */
export async function writeAsUser<Row extends pg.QueryResultRow>(
  database: Database,
  userId: string,
  { lockTimeoutMs, timeoutMs, sharedLock }: UserWriteLimits,
  statement: UserStatement,
): Promise<readonly Row[]> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    const limits: [string, string][] = [
      ['lock_timeout', String(lockTimeoutMs)],
      ['statement_timeout', String(Math.max(1, Math.round(timeoutMs)))],
    ];
    const settings = [...limits, ...userSettings(userId, database.limit)];
    return await runUserStatement<Row>(client, { settings, sharedLock: `${sharedLock} ${userId}` }, statement);
  } catch (error) {
    failure = error as Error;
    throw limitedError(error, database.limit);
  } finally {
    // After an error it is unknown what the connection has prepared.
    client.release(failure);
  }
}
