import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient } from './connection/open-pool.ts';
import { isRunWithOtherSql } from './migrations/digest.ts';
import type { SchemaMigration } from './migrations/list.ts';
import { migrationNames } from './migrations/names.ts';

/** Key of the advisory lock, any 64-bit number. Two services that start at the same time wait for each other. */
const MIGRATION_LOCK = 7_306_080_110;
/** Polling interval of the lock: a statement that waits for it would block CREATE INDEX CONCURRENTLY. Milliseconds. */
const LOCK_RETRY_MS = 200;

/** The schema belongs to a newer version that this code does not support. */
export class SchemaTooNew extends Error {
  override name = 'SchemaTooNew';
}

/** The database was made before the first release: its tables or functions are not those of this code. */
export class SchemaTooOld extends Error {
  override name = 'SchemaTooOld';
}

/**
 * Updates the schema of the database under an advisory lock. Each migration runs in its own transaction, so a failed one leaves nothing
 * behind. Accounts without a workspace get one, with their
 * person as the owner. Returns the names of the migrations that ran. Unknown migrations are ignored. Throws SchemaTooNew, SchemaTooOld. The URL's
 * role must own the
 * database. Tests replace the list of migrations by `known`.
 */
export async function migrate(url: string, known?: readonly SchemaMigration[]): Promise<string[]> {
  const names = known?.map(({ name }) => name) ?? migrationNames;
  const client = await connectClient(url);
  try {
    // Most starts have nothing to do, and loading the ORM would be a third of their time.
    if ((await listMissing(client, names)).length === 0) {
      if (known === undefined) await client.query('select adopt_accounts()');
      return [];
    }
    const steps = known ?? (await import('./migrations/list.ts')).migrations;
    const { runMigration } = await import('./run-migration.ts');
    while (!(await takeLock(client))) await sleep(LOCK_RETRY_MS);
    await client.query(MIGRATION_TABLE);
    const missing = new Set(await listMissing(client, names));
    const due = steps.filter(({ name }) => missing.has(name));
    for (const step of due)
      await runMigration(client, step).catch((error: unknown) => {
        throw new Error(`migration ${step.name}: ${(error as Error).message}`, { cause: error });
      });
    if (known === undefined) await client.query('select adopt_accounts()');
    return due.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Returns the names of the migrations that have not run yet. Works with any role of the service. Throws SchemaTooNew, SchemaTooOld. */
export async function pendingMigrations(url: string): Promise<string[]> {
  const client = await connectClient(url);
  try {
    return await listMissing(client, migrationNames);
  } finally {
    await client.end();
  }
}

/** The table of the ORM's migrator, with the code version that each migration requires and the digest of its SQL. */
const MIGRATION_TABLE = `
  create table if not exists migration (
    id serial primary key, name varchar(255), executed_at timestamptz default current_timestamp, needs text, digest text)`;

async function takeLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_mine: boolean }>('select pg_try_advisory_lock($1) as is_mine', [
    MIGRATION_LOCK,
  ]);
  return rows[0]?.is_mine === true;
}

async function listMissing(client: pg.Client, names: readonly string[]): Promise<string[]> {
  // The service's roles cannot read this table until a migration grants it.
  if (!(await canReadMigrations(client))) return [...names];
  if (await isSchemaTooOld(client)) throw new SchemaTooOld(`${TOO_OLD}. ${TOO_OLD_FIX}`);
  const { rows } = await client.query<{ name: string; needs: string | null }>('select name, needs from migration');
  const tooNew = rows.find(({ needs }) => needs !== null && !names.includes(needs));
  if (tooNew !== undefined)
    throw new SchemaTooNew(
      `the database is of a newer version: migration ${tooNew.name} needs code that knows ${tooNew.needs}; start that version`,
    );
  const ran = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !ran.has(name));
}

/** What is wrong with the database of SchemaTooOld, and what to do. */
export const TOO_OLD = 'The database was made by a version before the first release and cannot be upgraded';
export const TOO_OLD_FIX =
  'Export its accounts with that version (npx node bin/account.ts export EMAIL DIRECTORY), then start with an empty database or another DATA_DIR';

/**
 * Returns whether a migration ran with other SQL than this code has, which happens before a release only: a released migration is never
 * edited. False where the role cannot read what ran. Works with any role of the service.
 */
export async function isSchemaTooOld(client: Pick<pg.Client, 'query'>): Promise<boolean> {
  if (!(await canReadMigrations(client))) return false;
  // As JSON: the oldest tables have no digests.
  const { rows } = await client.query<{ name: string; digest: string | null }>(
    `select name, to_jsonb(migration) ->> 'digest' as digest from migration order by id`,
  );
  return isRunWithOtherSql(rows);
}

async function canReadMigrations(client: Pick<pg.Client, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    `select coalesce(has_table_privilege(to_regclass('migration'), 'select'), false) as there`,
  );
  return rows[0]?.there === true;
}
