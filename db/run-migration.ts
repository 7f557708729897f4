import pRetry from 'p-retry';
import type pg from 'pg';
import type { SchemaMigration } from './migrations/list.ts';

/**
 * How long a statement waits for a table that is in use. Whoever comes behind it waits, too, so this is what a migration costs the traffic
 * at most, each time that it is tried: less than any transaction of ours waits for a lock (500 ms), and than PostgreSQL takes to look for
 * deadlocks (deadlock_timeout, 1 s), so that it is the migration that gives way. PostgreSQL's milliseconds.
 */
const LOCK_TIMEOUT_MS = 400;
/** Between two tries, growing; and how long it is tried in all. Milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const PATIENCE_MS = 10 * 60_000;
/** lock_not_available, deadlock_detected, serialization_failure: others were in the way */
const IN_THE_WAY: readonly unknown[] = ['55P03', '40P01', '40001'];

/** Runs a migration and notes that it ran. Throws what PostgreSQL says, and then nothing of it has happened. */
export async function runMigration(client: pg.Client, { name, class: Step, needs }: SchemaMigration): Promise<void> {
  // It is asked for its statements alone.
  const migration = new Step(undefined as never, undefined as never);
  await migration.up();
  const statements = migration.getQueries().map(String);
  const note = { text: 'insert into migration (name, needs) values ($1, $2)', values: [name, needs ?? null] };
  await retryWhileInTheWay(async () => {
    if (migration.isTransactional()) {
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local statement_timeout = 0`);
      for (const statement of statements) await client.query(statement);
      await client.query(note);
      await client.query('commit');
    } else {
      // It waits for transactions to end, and nobody waits for it.
      await client.query('set lock_timeout = 0; set statement_timeout = 0');
      await dropInvalidIndexes(client);
      for (const statement of statements) await client.query(statement);
      await client.query(note);
    }
  }, client);
}

/** Runs the work again and again while other transactions are in its way; each time what it did so far is taken back. */
function retryWhileInTheWay(work: () => Promise<void>, client: pg.Client): Promise<void> {
  return pRetry(work, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: FIRST_PAUSE_MS,
    maxTimeout: LONGEST_PAUSE_MS,
    maxRetryTime: PATIENCE_MS,
    async onFailedAttempt() {
      await client.query('rollback');
      await dropInvalidIndexes(client);
    },
    shouldRetry: ({ error }) => IN_THE_WAY.includes((error as { code?: unknown }).code),
  });
}

/** What an index leaves that could not be made concurrently; only migrations make them so, and one migration runs at a time. */
async function dropInvalidIndexes(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where not i.indisvalid and c.relnamespace = 'public'::regnamespace and c.relkind = 'i'`,
  );
  for (const { name } of rows) await client.query(`drop index concurrently if exists ${name}`);
}
