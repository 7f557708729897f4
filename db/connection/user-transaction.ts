import pg from 'pg';
import { type Database, limitedError, userSettingsSql } from './database.ts';

/**
 * What is prepared here touches rows by their keys, and its plan is kept on the connection: one made while a table was small must not
 * read all of it later (see actors' plans in database.ts).
 */
const PLANNING = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']
  .map((way) => `set local enable_${way} = off`)
  .join('; ');

export interface UserTransactionOptions {
  /** what no two transactions of the user do at the same time; null: anything */
  lock: string | null;
  /** milliseconds that a row held by another transaction is waited for */
  lockTimeoutMs: number;
}

/**
 * As asUser, for hot, prepared statements on a client of the pool: one round trip opens the transaction. A connection that broke, or on which
 * a statement ran out of time, is closed.
 */
export async function inUserTransaction<T>(
  database: Database,
  userId: string,
  { lock, lockTimeoutMs }: UserTransactionOptions,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    const user = client.escapeLiteral(userId);
    const locked =
      lock === null
        ? ''
        : `; select pg_advisory_xact_lock(hashtextextended(${client.escapeLiteral(`${lock} `)} || ${user}, 0))`;
    const opening = `begin; set local lock_timeout = ${lockTimeoutMs}; ${PLANNING}`;
    await client.query(`${opening}; ${userSettingsSql(client, userId, database.limit)}${locked}`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // What is no answer of PostgreSQL's leaves the connection in an unknown state.
    if (!(error instanceof pg.DatabaseError)) failure = error as Error;
    else await client.query('rollback').catch((reason: Error) => void (failure = reason));
    throw limitedError(error, database.limit);
  } finally {
    client.release(failure);
  }
}
