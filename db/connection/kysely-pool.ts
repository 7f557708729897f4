import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';

/**
 * The pool as Kysely gets it. A connection on which a statement ran out of time, or that broke, is closed at once: its answer may still
 * come, into whatever the next user asks, and Kysely 0.29 never gives a connection back whose `begin` failed.
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
      return (await client.query(text, [...parameters])) as unknown as PostgresQueryResult<R>;
    } catch (error) {
      // What PostgreSQL itself answered leaves the connection in order.
      if (error instanceof Error && !(error instanceof pg.DatabaseError)) {
        failure = error;
        client.release(error);
      }
      throw error;
    }
  }

  return {
    // Cursors, the other thing that Kysely may ask for, are not used.
    query: query as PostgresPoolClient['query'],
    release() {
      if (failure === null) client.release();
    },
  };
}
