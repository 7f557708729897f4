import { migrationNames } from './migrations/names.ts';
import { connectClient } from './open-pool.ts';
import { primaryUrl } from './primary.ts';

/** Any 64-bit number; two services that start at once wait for each other on it. */
const MIGRATION_LOCK = 7_306_080_110;

/**
 * Brings the schema of the database up to date under an advisory lock, each migration in one transaction.
 * Answers the names of those that ran. The URL's role must own the database.
 */
export async function migrate(url: string): Promise<string[]> {
  const lock = await connectClient(url);
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    if (await isUpToDate(url)) return [];
    // Most starts find nothing to do: the ORM would be a third of what such a start costs.
    const [{ MikroORM }, { ormOptions }] = await Promise.all([
      import('@mikro-orm/postgresql'),
      import('./mikro-orm.config.ts'),
    ]);
    const orm = await MikroORM.init(ormOptions(await primaryUrl(url)));
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

async function isUpToDate(url: string): Promise<boolean> {
  const client = await connectClient(url);
  try {
    const known = await client.query<{ there: boolean }>(`select to_regclass('migration') is not null as there`);
    if (known.rows[0]?.there !== true) return false;
    const { rows } = await client.query<{ name: string }>('select name from migration');
    const ran = new Set(rows.map(({ name }) => name));
    return migrationNames.every((name) => ran.has(name));
  } finally {
    await client.end();
  }
}
