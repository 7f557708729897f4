import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { ormOptions } from './mikro-orm.config.ts';

/** Any 64-bit number; two services that start at once wait for each other on it. */
const MIGRATION_LOCK = 7_306_080_110;

/**
 * Brings the schema of the database up to date under an advisory lock, each migration in one transaction.
 * Answers the names of those that ran. The URL's role must own the database.
 */
export async function migrate(url: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: url });
  // It idles while others migrate: when it breaks, an error without a listener would end the process.
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const orm = await MikroORM.init(ormOptions(url));
    try {
      const ran = await orm.migrator.up();
      return ran.map((migration) => migration.name);
    } finally {
      await orm.close();
    }
  } finally {
    await lock.end();
  }
}
