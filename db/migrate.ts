import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient } from './connection/open-pool.ts';
import type { SchemaMigration } from './migrations/list.ts';
import { migrationNames } from './migrations/names.ts';

/** Any 64-bit number; two services that start at once wait for each other on it. */
const MIGRATION_LOCK = 7_306_080_110;
/** Asked again and again, as whoever waits for it within a statement would keep an index from being made concurrently; milliseconds. */
const LOCK_RETRY_MS = 200;

/** The schema is of a newer version, with which this code cannot work. */
export class SchemaTooNew extends Error {
  override name = 'SchemaTooNew';
}

/**
 * Brings the schema of the database up to date under an advisory lock, each migration in a transaction of its own, so that one that fails
 * leaves nothing behind. Answers the names of those that ran. Migrations that this code does not know are left alone. Throws SchemaTooNew.
 * The URL's role must own the database. `known` stands for all migrations, for tests.
 */
export async function migrate(url: string, known?: readonly SchemaMigration[]): Promise<string[]> {
  const names = known?.map(({ name }) => name) ?? migrationNames;
  const client = await connectClient(url);
  try {
    // Most starts find nothing to do: the ORM would be a third of what such a start costs.
    if ((await missingOf(client, names)).length === 0) return [];
    const steps = known ?? (await import('./migrations/list.ts')).migrations;
    const { runMigration } = await import('./run-migration.ts');
    while (!(await takeLock(client))) await sleep(LOCK_RETRY_MS);
    await client.query(MIGRATION_TABLE);
    const missing = new Set(await missingOf(client, names));
    const due = steps.filter(({ name }) => missing.has(name));
    for (const step of due)
      await runMigration(client, step).catch((error: unknown) => {
        throw new Error(`migration ${step.name}: ${(error as Error).message}`, { cause: error });
      });
    return due.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Returns the names of the migrations that this code has and the database has not, for any role of the service. Throws SchemaTooNew. */
export async function pendingMigrations(url: string): Promise<string[]> {
  const client = await connectClient(url);
  try {
    return await missingOf(client, migrationNames);
  } finally {
    await client.end();
  }
}

/** As the ORM's migrator has it, and which code each migration asks for. */
const MIGRATION_TABLE = `
  create table if not exists migration (
    id serial primary key, name varchar(255), executed_at timestamptz default current_timestamp, needs text)`;

async function takeLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_mine: boolean }>('select pg_try_advisory_lock($1) as is_mine', [
    MIGRATION_LOCK,
  ]);
  return rows[0]?.is_mine === true;
}

async function missingOf(client: pg.Client, names: readonly string[]): Promise<string[]> {
  // Until the migration that lets it, a role of the service cannot read what ran.
  const there = await client.query<{ there: boolean }>(
    `select coalesce(has_table_privilege(to_regclass('migration'), 'select'), false) as there`,
  );
  if (there.rows[0]?.there !== true) return [...names];
  const { rows } = await client.query<{ name: string; needs: string | null }>('select name, needs from migration');
  const tooNew = rows.find(({ needs }) => needs !== null && !names.includes(needs));
  if (tooNew !== undefined)
    throw new SchemaTooNew(
      `the database is of a newer version: migration ${tooNew.name} needs code that knows ${tooNew.needs}; start that version`,
    );
  const ran = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !ran.has(name));
}
