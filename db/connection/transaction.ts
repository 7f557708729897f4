import { type RawBuilder, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { domainExceeded } from '../../core/accounts/key-rights.ts';
import type { Tables } from '../entities/tables.ts';
import { type Database, type DomainLimit, isConnectionLost } from './database.ts';
import { DOMAIN_ROLE } from './logins.ts';

/*
 * The ways to open a transaction:
 * - `asUser`: everything that the gateway does for a user. Row-level security shows that user's rows only.
 * - `inUserTransaction`: the same for hot, prepared statements, in one round trip.
 * - `inTransaction`: actors and programs, whose roles see the rows of all users.
 * `db/entities/store.ts` runs MikroORM inside asUser.
 */

/**
 * Runs work in one transaction on one connection; commits when it resolves, rolls back when it throws.
 * No network call belongs inside.
 */
export async function inTransaction<T>(database: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error as Error;
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release(failure !== undefined && isConnectionLost(failure) ? failure : undefined);
  }
}

/**
 * The same database for a key of one domain of the user: every transaction of the user takes a role that reads what is of the domain and
 * may do nothing else (policies `_of_domain` in db/migrations/0001-initial). What PostgreSQL refuses then is thrown as forbidden.
 */
export function limitedTo(database: Database, domain: { id: string; name: string }): Database {
  return { ...database, limit: { ...domain, whole: database } };
}

/** The settings that make a transaction the user's, as names and values; they hold until it ends. The role comes last. */
function userSettings(userId: string, limit: DomainLimit | undefined): [name: string, value: string][] {
  if (limit === undefined) return [['postroom.user_id', userId]];
  return [
    ['postroom.user_id', userId],
    ['postroom.domain_id', limit.id],
    ['postroom.domain', limit.name],
    ['role', DOMAIN_ROLE],
  ];
}

/** As userSettings, as a statement of a client's. */
export function userSettingsSql(client: pg.ClientBase, userId: string, limit: DomainLimit | undefined): string {
  const settings = userSettings(userId, limit).map(
    ([name, value]) => `set_config('${name}', ${client.escapeLiteral(value)}, true)`,
  );
  return `select ${settings.join(', ')}`;
}

/** The error as it is to be thrown where transactions may be limited: what the role may not do reaches beyond the domain. */
export function limitedError(error: unknown, limit: DomainLimit | undefined): unknown {
  const isRefused = error instanceof pg.DatabaseError && error.code === INSUFFICIENT_PRIVILEGE;
  return limit !== undefined && isRefused ? domainExceeded('This', { domain: limit }, error) : error;
}

/** PostgreSQL, Appendix A. */
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Runs work in one transaction in which row-level security shows this user's rows only.
 * Every query of the gateway goes through here; outside it the gateway's role sees no row.
 */
export function asUser<T>(
  database: Database,
  userId: string,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  if (database.reading?.userId === userId) return database.reading.run(work);
  const settings = sql.join(userSettings(userId, database.limit).map(setting));
  const done = database.kysely.transaction().execute(async (transaction) => {
    await sql`select ${settings}`.execute(transaction);
    return work(transaction);
  });
  return database.limit === undefined
    ? done
    : done.catch((error: unknown) => Promise.reject(limitedError(error, database.limit)));
}

const setting = ([name, value]: [string, string]): RawBuilder<unknown> =>
  sql`set_config(${sql.lit(name)}, ${value}, true)`;

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
