import pRetry from 'p-retry';
import type pg from 'pg';
import { isContention } from './errors.ts';
import { computeDigest } from './migrations/digest.ts';
import type { SchemaMigration } from './migrations/list.ts';

/**
 * Maximum time that a statement waits for a table that is in use. Statements that arrive later wait behind it, so this limits the delay of
 * each attempt. It is shorter than the lock timeout of our transactions (500 ms) and than deadlock_timeout (1 s), so that the migration gives
 * way first. Milliseconds.
 */
const LOCK_TIMEOUT_MS = 400;
/** Growing pauses between attempts, and the total time limit. Milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const PATIENCE_MS = 10 * 60_000;

/** Runs a migration and records it. Throws PostgreSQL's error, and then nothing has changed. */
export async function runMigration(client: pg.Client, { name, class: Step, needs }: SchemaMigration): Promise<void> {
  // Only its statements are used.
  const migration = new Step(undefined as never, undefined as never);
  await migration.up();
  const statements = migration.getQueries().map(String);
  const note = {
    text: 'insert into migration (name, needs, digest) values ($1, $2, $3)',
    values: [name, needs ?? null, computeDigest(name)],
  };
  await retryContended(async () => {
    if (migration.isTransactional()) {
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local statement_timeout = 0`);
      for (const statement of statements) await client.query(statement);
      await client.query(note);
      await client.query('commit');
    } else {
      // It waits for running transactions, but nothing waits for it.
      await client.query('set lock_timeout = 0; set statement_timeout = 0');
      await dropInvalidIndexes(client);
      for (const statement of statements) await client.query(statement);
      await client.query(note);
    }
  }, client);
}

/** Retries the work while it conflicts with other transactions; each failed attempt is rolled back. */
function retryContended(work: () => Promise<void>, client: pg.Client): Promise<void> {
  return pRetry(work, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: FIRST_PAUSE_MS,
    maxTimeout: LONGEST_PAUSE_MS,
    maxRetryTime: PATIENCE_MS,
    async onFailedAttempt() {
      await client.query('rollback');
      await dropInvalidIndexes(client);
    },
    shouldRetry: ({ error }) => isContention(error),
  });
}

/** Drops invalid indexes of failed CREATE INDEX CONCURRENTLY. Only migrations create indexes this way, one at a time. */
async function dropInvalidIndexes(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where not i.indisvalid and c.relnamespace = 'public'::regnamespace and c.relkind = 'i'`,
  );
  for (const { name } of rows) await client.query(`drop index concurrently if exists ${name}`);
}
