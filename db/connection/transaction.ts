import { Kysely, PostgresDialect, type PostgresPoolClient, type RawBuilder, sql, type Transaction } from 'kysely';
import pg from 'pg';
import type { Origin } from '../../core/accounts/audit.ts';
import { type Reach, reachExceeded, withoutCovered } from '../../core/accounts/key-rights.ts';
import type { Tables } from '../entities/tables.ts';
import { isForbidden, isTransient } from '../errors.ts';
import type { Database, ReadLimit } from './database.ts';
import { DOMAIN_ROLE } from './logins.ts';

/*
 * The one door to transactions. There are three modes:
 * - `asWorkspace`. Use it for what the gateway does for a workspace: row-level security shows only the rows of that workspace.
 * - `inWorkspaceTransaction`. Use it for the same where each request runs prepared statements, or needs a lock of the workspace: one round trip opens
 * it.
 * - `inTransaction`. Use it in actors and programs, whose roles see the rows of all workspaces; `inTransactionFrom` where its first statements have
 *   no parameters and can be sent with `begin`.
 *
 * What looks like another way leads here: `db/entities/store.ts` runs MikroORM inside asWorkspace, `read-session.ts` lets all reads of one response
 * share one snapshot, `workspace-read.ts` sends a single statement with the settings of asWorkspace, and `transactionOn` lends an open transaction to
 * Kysely. Two things run before roles and tables exist, with a `begin` of their own: migrations and the repair of logins.
 */

/**
 * Runs work in one transaction on one connection; commits when it resolves, rolls back when it throws. It must not make network calls.
 */
export function inTransaction<T>(database: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return inTransactionFrom(database, '', work);
}

/**
 * Like inTransaction. Its first statements, as text without parameters, are sent together with `begin`, in one round trip; work gets the rows
 * of the last of them. The server logs the text of a statement that fails, so it must not contain anything of mail.
 */
export async function inTransactionFrom<Row extends pg.QueryResultRow, T>(
  database: Database,
  statements: string,
  work: (client: pg.PoolClient, rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    // One result for each statement when there are several.
    const begun: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client.query<Row>(`begin; ${statements}`);
    const result = await work(client, [begun].flat().at(-1)?.rows ?? []);
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error as Error;
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release(failure !== undefined && isTransient(failure) ? failure : undefined);
  }
}

/**
 * Returns the same database for an API key that is limited to domains or addresses, or for the filter of an endpoint: transactions of the workspace
 * take a role that reads only the rows of these domains and addresses (policies `_of_domain` in db/migrations/0001-initial). What PostgreSQL refuses
 * is thrown as forbidden.
 */
export function limitedTo(database: Database, reach: Reach): Database {
  return { ...database, limit: { ...withoutCovered(reach), whole: database } };
}

/** Returns the same database for the changes of a request: triggers write entries of the audit log that say who made them. */
export function madeBy(database: Database, origin: Origin): Database {
  const { limit } = database;
  return {
    ...database,
    origin,
    ...(limit === undefined ? {} : { limit: { ...limit, whole: { ...limit.whole, origin } } }),
  };
}

/** The setting that audit_actor reads (db/migrations/0001-initial/audit.sql). */
export const ORIGIN_SETTING = 'postroom.origin';

/** Separates the names in a setting; the function is_in_reach splits them. */
const SEPARATOR = '\n';

/** Returns the settings that limit a transaction to the workspace, as names and values; they last until it ends. The role comes last. */
export function workspaceSettings(workspaceId: string, limit: ReadLimit | undefined): [name: string, value: string][] {
  if (limit === undefined) return [['postroom.workspace_id', workspaceId]];
  return [
    ['postroom.workspace_id', workspaceId],
    ['postroom.domain_id', limit.domains.map(({ id }) => id).join(SEPARATOR)],
    ['postroom.domain', limit.domains.map(({ name }) => name).join(SEPARATOR)],
    ['postroom.address', limit.addresses.join(SEPARATOR)],
    ['role', DOMAIN_ROLE],
  ];
}

function originSettings({ origin }: Database): [name: string, value: string][] {
  return origin === undefined ? [] : [[ORIGIN_SETTING, JSON.stringify(origin)]];
}

/** Returns workspaceSettings as a statement. */
export function workspaceSettingsSql(client: pg.ClientBase, workspaceId: string, limit: ReadLimit | undefined): string {
  return settingsSql(client, workspaceSettings(workspaceId, limit));
}

function settingsSql(client: pg.ClientBase, given: readonly (readonly [name: string, value: string])[]): string {
  const settings = given.map(([name, value]) => `set_config('${name}', ${client.escapeLiteral(value)}, true)`);
  return `select ${settings.join(', ')}`;
}

/** Returns the error to throw: with a limit, insufficient privilege means that the work exceeds it. */
export function limitedError(error: unknown, limit: ReadLimit | undefined): unknown {
  const isRefused = isForbidden(error);
  return limit !== undefined && isRefused ? reachExceeded('This', { reach: limit }, error) : error;
}

/**
 * Runs work in one transaction in which row-level security shows only this workspace's rows. All queries of the gateway use it; outside, its
 * role sees no rows.
 */
export function asWorkspace<T>(
  database: Database,
  workspaceId: string,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  if (database.reading?.workspaceId === workspaceId) return database.reading.run(work);
  const settings = sql.join(
    [...originSettings(database), ...workspaceSettings(workspaceId, database.limit)].map(setting),
  );
  const done = database.kysely.transaction().execute(async (transaction) => {
    await sql`select ${settings}`.execute(transaction);
    return work(transaction);
  });
  return database.limit === undefined
    ? done
    : done.catch((error: unknown) => Promise.reject(limitedError(error, database.limit)));
}

/** Returns a transaction that is open on this client, such as that of inWorkspaceTransaction, for queries that are composed. */
export function transactionOn(client: pg.ClientBase): Transaction<Tables> {
  const lent = {
    query: ((text: string, parameters: readonly unknown[]) =>
      client.query(text, [...parameters])) as unknown as PostgresPoolClient['query'],
    release: () => undefined,
  };
  const pool = { connect: async () => lent, end: async () => undefined, options: {} };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) as unknown as Transaction<Tables>;
}

const setting = ([name, value]: [string, string]): RawBuilder<unknown> =>
  sql`set_config(${sql.lit(name)}, ${value}, true)`;

/**
 * Prepared statements here read rows by key, and their plans are cached on the connection: a plan made while a table was small must not
 * scan all of it later (see ACTOR_PLANNING in database.ts).
 */
const PLANNING = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']
  .map((way) => `set local enable_${way} = off`)
  .join('; ');

/** A lock of the workspace, held until the transaction ends. */
export interface WorkspaceLock {
  name: string;
  /** whether it is held together with others who share it */
  isShared?: boolean;
}

/** Shared by what stores emails, see lock_send_rights in db/migrations/0001-initial/grants.sql. */
export const SEND_RIGHTS_LOCK = 'send rights';

/** Returns the number of a lock as SQL; `workspaceId` is an expression. */
export function lockNumberSql(name: string, workspaceId: string): string {
  return name === SEND_RIGHTS_LOCK
    ? `send_rights_lock(${workspaceId})`
    : `hashtextextended('${name} ' || ${workspaceId}, 0)`;
}

/** Holds still what decides who may send, in a transaction that has locked no email yet; statements after this one see what was decided before. */
export async function shareSendRights(transaction: Transaction<Tables>, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(send_rights_lock(${workspaceId}))`.execute(transaction);
}

export interface WorkspaceTransactionOptions {
  /** in the order in which they are taken, before the first statement of the work */
  locks?: readonly WorkspaceLock[];
  /** maximum wait for a row that another transaction locks; milliseconds */
  lockTimeoutMs: number;
}

/**
 * Like asWorkspace, for frequent prepared statements on a client of the pool: one round trip opens the transaction. A connection that broke, or
 * on which a statement timed out, is closed.
 */
export async function inWorkspaceTransaction<T>(
  database: Database,
  workspaceId: string,
  { locks = [], lockTimeoutMs }: WorkspaceTransactionOptions,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    const user = client.escapeLiteral(workspaceId);
    const locked = locks.map(
      ({ name, isShared = false }) =>
        `; select pg_advisory_xact_lock${isShared ? '_shared' : ''}(${lockNumberSql(name, user)})`,
    );
    const opening = `begin; set local lock_timeout = ${lockTimeoutMs}; ${PLANNING}`;
    const settings = settingsSql(client, [
      ...originSettings(database),
      ...workspaceSettings(workspaceId, database.limit),
    ]);
    await client.query(`${opening}; ${settings}${locked.join('')}`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // After an error that PostgreSQL did not send, the state of the connection is unknown.
    if (!(error instanceof pg.DatabaseError)) failure = error as Error;
    else await client.query('rollback').catch((reason: Error) => void (failure = reason));
    throw limitedError(error, database.limit);
  } finally {
    client.release(failure);
  }
}
