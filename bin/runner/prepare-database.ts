import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { fitsSecretKey } from '../../db/queries/secret-canary.ts';

export interface PrepareOptions {
  url: string;
  secretKey: Uint8Array;
  allowUnsafeWrites: boolean;
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
  const migrated = await migrate(options.url);
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
    return migrated;
  } finally {
    await database.close();
  }
}

/** Settings without which a commit may not survive a crash (guarantees.md §5). */
async function settingsThatLoseCommits(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name`,
  );
  return rows.map((row) => row.name);
}
