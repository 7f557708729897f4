import { randomBytes } from 'node:crypto';
import { type Database, type DatabaseRole, openDatabase } from '../../db/connection/database.ts';
import { listUrls } from '../../db/connection/database-hosts.ts';
import { ensureLogins, type LoginRole, LoginsRefused, loginRoles, loginUrl } from '../../db/connection/logins.ts';
import { migrate, pendingMigrations, SchemaTooNew, SchemaTooOld } from '../../db/migrate.ts';
import { fitsSecretKey } from '../../db/queries/upkeep/secret-canary.ts';
import { StartRefused } from './start-refused.ts';

export interface PrepareOptions {
  url: string;
  secretKey: Uint8Array;
  allowUnsafeWrites: boolean;
  /** `migrate` by default */
  migrate?: (url: string) => Promise<string[]>;
  /** receives one line for each risk that does not stop the service from starting */
  warn?: (line: string) => void;
}

/**
 * Migrates the schema, sets the logins of the service's roles, and checks that PostgreSQL's commits are durable and that SECRET_KEY
 * decrypts the stored data. Returns the names of the migrations that ran. Throws StartRefused. The URL's role must own the database.
 */
export async function prepareDatabase(options: PrepareOptions): Promise<string[]> {
  const { url, secretKey } = options;
  const migrated = await (options.migrate ?? migrate)(url).catch(refuseSchema);
  await onDatabase(url, null, async (database) => {
    await assertSafeWrites(database, options);
    if (listUrls(url).length > 1 && (await losesCommitsAtFailover(database))) options.warn?.(ASYNCHRONOUS);
    // Before the logins: a wrong key must not change their passwords.
    if (!(await fitsSecretKey(database, secretKey, randomBytes)))
      throw new StartRefused('SECRET_KEY does not match this database. Set the original key');
  });
  await ensureLogins(url, secretKey).catch((error: unknown) => {
    throw error instanceof LoginsRefused ? new StartRefused(error.message, { cause: error }) : error;
  });
  await Promise.all(loginRoles.map((role) => assertSafeLogin(options, role)));
  return migrated;
}

/**
 * Checks that processes which log in as these roles can work on the database as it is, without changing anything. Returns the names of the
 * pending migrations, which the owner has to run. Throws StartRefused, and PostgreSQL's error if a login fails.
 */
export async function inspectDatabase(
  options: PrepareOptions,
  roles: readonly [LoginRole, ...LoginRole[]],
): Promise<string[]> {
  const [role] = roles;
  const url = loginUrl(options.url, role, options.secretKey);
  const pending = await pendingMigrations(url).catch(refuseSchema);
  if (pending.length > 0) return pending;
  for (const login of roles) await assertSafeLogin(options, login);
  if (listUrls(url).length > 1 && (await onDatabase(url, role, losesCommitsAtFailover))) options.warn?.(ASYNCHRONOUS);
  return [];
}

/** Throws StartRefused if the role has excess rights or its commits are not durable. */
async function assertSafeLogin(options: PrepareOptions, role: LoginRole): Promise<void> {
  await onDatabase(loginUrl(options.url, role, options.secretKey), role, async (database) => {
    const { rows } = await database.pool.query<{ user: string; excess: boolean }>(
      `select session_user as user, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication as excess
       from pg_roles where rolname = session_user`,
    );
    const [session] = rows;
    if (session?.user !== role || session.excess)
      throw new StartRefused(`The PostgreSQL role ${role} has excess rights. Run npx node bin/migrate.ts`);
    await assertSafeWrites(database, options);
  });
}

async function assertSafeWrites(database: Database, options: PrepareOptions): Promise<void> {
  const off = options.allowUnsafeWrites ? [] : await settingsThatLoseCommits(database);
  if (off.length > 0)
    throw new StartRefused(`PostgreSQL runs with ${off.join(', ')} off, so accepted mail could be lost`);
}

async function onDatabase<T>(url: string, role: DatabaseRole, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ url, role, poolSize: 1, applicationName: 'start', onError: () => undefined });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

function refuseSchema(error: unknown): never {
  throw error instanceof SchemaTooNew || error instanceof SchemaTooOld
    ? new StartRefused(error.message, { cause: error })
    : error;
}

const ASYNCHRONOUS =
  'DATABASE_URL names several hosts, and PostgreSQL replicates asynchronously: a failover can lose mail that was accepted. Set synchronous_standby_names (docs/deploy/postgresql.md)';

/** Returns whether a commit is confirmed before another server has it on disk. */
async function losesCommitsAtFailover(database: Database): Promise<boolean> {
  const { rows } = await database.pool.query<{ loses: boolean }>(
    `select current_setting('synchronous_standby_names') = '' or current_setting('synchronous_commit') not in ('on', 'remote_apply') as loses`,
  );
  return rows[0]?.loses === true;
}

/** Returns the settings that are off although durable commits need them. */
async function settingsThatLoseCommits(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name`,
  );
  return rows.map((row) => row.name);
}
