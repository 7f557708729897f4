import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { namedStatement } from './prepared-text.ts';

/**
 * The pool for Kysely. A connection that broke, or on which a statement timed out, is closed at once: its response could still arrive
 * during the next query, and Kysely 0.29 never releases a connection whose `begin` failed.
 */
export function kyselyPool(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => closingBroken(await pool.connect()),
    end: () => pool.end(),
    options: pool.options,
  };
}

function closingBroken(client: pg.PoolClient): PostgresPoolClient {
  let failure: Error | null = null;

  async function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    if (failure !== null) throw failure;
    try {
      return (await client.query(namedStatement(text, parameters))) as unknown as PostgresQueryResult<R>;
    } catch (error) {
      // An error that PostgreSQL sent leaves the connection usable.
      if (error instanceof Error && !(error instanceof pg.DatabaseError)) {
        failure = error;
        client.release(error);
      }
      throw error;
    }
  }

  return {
    // Kysely could also ask for cursors; they are not used.
    query: query as PostgresPoolClient['query'],
    release() {
      if (failure === null) client.release();
    },
  };
}
