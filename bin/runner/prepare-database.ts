import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '../../db/database.ts';
import { urlsOf } from '../../db/database-hosts.ts';
import { migrate, SchemaTooNew } from '../../db/migrate.ts';
import { fitsSecretKey } from '../../db/queries/secret-canary.ts';

export interface PrepareOptions {
  url: string;
  secretKey: Uint8Array;
  allowUnsafeWrites: boolean;
  /** told, in a line, what the service starts in spite of */
  warn?: (line: string) => void;
}

/** Why the service does not start; the message is one line for the operator. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}

/**
 * Brings the schema up to date and makes sure that what PostgreSQL commits lasts and that SECRET_KEY opens what is stored.
 * Answers the names of the migrations that ran. Throws StartRefused. The URL's role must own the database.
 */
export async function prepareDatabase(options: PrepareOptions): Promise<string[]> {
  const migrated = await migrate(options.url).catch((error: unknown) => {
    throw error instanceof SchemaTooNew ? new StartRefused(error.message, { cause: error }) : error;
  });
  const database = openDatabase({
    url: options.url,
    role: null,
    poolSize: 1,
    applicationName: 'start',
    onError: () => undefined,
  });
  try {
    const off = options.allowUnsafeWrites ? [] : await settingsThatLoseCommits(database);
    if (off.length > 0)
      throw new StartRefused(`PostgreSQL runs with ${off.join(', ')} off: mail that was accepted could be lost`);
    if (!(await fitsSecretKey(database, options.secretKey, randomBytes)))
      throw new StartRefused('SECRET_KEY is not the one this database was written with; put the first one back');
    if (urlsOf(options.url).length > 1 && (await losesCommitsAtFailover(database))) options.warn?.(ASYNCHRONOUS);
    return migrated;
  } finally {
    await database.close();
  }
}

const ASYNCHRONOUS =
  'DATABASE_URL names several hosts, and PostgreSQL replicates asynchronously: a failover can lose mail that was accepted. Set synchronous_standby_names (docs/deploy/postgresql.md)';

/** Whether a commit is confirmed before another server has it on disk. */
async function losesCommitsAtFailover(database: Database): Promise<boolean> {
  const { rows } = await database.pool.query<{ loses: boolean }>(
    `select current_setting('synchronous_standby_names') = '' or current_setting('synchronous_commit') not in ('on', 'remote_apply') as loses`,
  );
  return rows[0]?.loses === true;
}

/** Settings without which a commit may not survive a crash (guarantees.md §5). */
async function settingsThatLoseCommits(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name`,
  );
  return rows.map((row) => row.name);
}
