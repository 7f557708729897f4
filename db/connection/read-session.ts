import { Kysely, PostgresDialect, type PostgresPoolClient, type Transaction } from 'kysely';
import pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import type { Tables } from '../entities/tables.ts';
import { type Database } from './database.ts';
import { namedStatement } from './prepared-text.ts';
import { limitedError, workspaceSettingsSql } from './transaction.ts';

/** Runs many reads of one user, such as those of a GraphQL request, in one transaction instead of one each. */
export interface ReadSession {
  /** like the pool's, but asWorkspace reads through the session and cannot write */
  database: Database;
  /** Ends an open transaction. Later reads open a new one. */
  end(): Promise<void>;
  /** The results are no longer needed: reads that were not sent yet, and later ones, are rejected. */
  stop(): void;
}

/** An idle transaction ends after this time. Milliseconds. */
const IDLE_MS = 50;

interface Open {
  client: pg.PoolClient;
  transaction: Transaction<Tables>;
  /** the error that broke it; it is not used any more */
  failure: Error | null;
  /** running reads */
  running: number;
}

/**
 * The first read opens the transaction, in one round trip. Each statement sees what was committed before it. The transaction ends on
 * request or when idle. A failed statement fails the other reads of its transaction; later reads get a new one.
 */
export function openReadSession(database: Database, workspaceId: string): ReadSession {
  let current: Promise<Open> | null = null;
  let idle: NodeJS.Timeout | undefined;
  const course = { isStopped: false };

  async function run<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    clearTimeout(idle);
    refuseStopped(course);
    const opening = (current ??= open(database, workspaceId, course));
    let session: Open;
    try {
      session = await opening;
    } catch (error) {
      if (current === opening) current = null;
      throw error;
    }
    session.running++;
    try {
      return await work(session.transaction);
    } finally {
      session.running--;
      if (session.failure !== null && current === opening) current = null;
      if (session.running === 0) {
        if (current === opening) idle = setTimeout(() => void end(), IDLE_MS);
        else await close(session);
      }
    }
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const opening = current;
    current = null;
    const session = await opening?.catch(() => undefined);
    // Otherwise the last read closes it.
    if (session?.running === 0) await close(session);
  }

  return {
    database: { ...database, reading: { workspaceId, run } },
    end,
    stop() {
      course.isStopped = true;
    },
  };
}

function refuseStopped({ isStopped }: { isStopped: boolean }): void {
  if (isStopped) throw new UserError('unavailable', 'The request is over');
}

async function open(database: Database, workspaceId: string, course: { isStopped: boolean }): Promise<Open> {
  const client = await database.pool.connect();
  const session: Open = { client, transaction: null as never, failure: null, running: 0 };
  if (course.isStopped) client.release();
  refuseStopped(course);
  try {
    await client.query(`begin read only; ${workspaceSettingsSql(client, workspaceId, database.limit)}`);
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
  const ask = async (text: string, parameters: readonly unknown[]) => {
    if (session.failure !== null) throw limitedError(session.failure, database.limit);
    refuseStopped(course);
    try {
      return await client.query(namedStatement(text, parameters));
    } catch (error) {
      session.failure ??= error as Error;
      throw limitedError(error, database.limit);
    }
  };
  // One after the other: a connection runs one statement at a time.
  let last: Promise<unknown> = Promise.resolve();
  const query = (text: string, parameters: readonly unknown[]) => {
    const result = last.then(() => ask(text, parameters));
    last = result.catch(() => undefined);
    return result;
  };
  const lent = { query: query as unknown as PostgresPoolClient['query'], release: () => undefined };
  const pool = { connect: async () => lent, end: async () => undefined, options: database.pool.options };
  session.transaction = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
  }) as unknown as Transaction<Tables>;
  return session;
}

async function close({ client, failure }: Open): Promise<void> {
  // After an error that PostgreSQL did not send, the state of the connection is unknown.
  if (failure !== null && !(failure instanceof pg.DatabaseError)) return client.release(failure);
  try {
    await client.query(failure === null ? 'commit' : 'rollback');
    client.release();
  } catch (error) {
    client.release(error as Error);
  }
}
