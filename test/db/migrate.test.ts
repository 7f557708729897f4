import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import { waitFor } from '../support/wait-for.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

test('a schema that is up to date is left as it is', async () => {
  expect(await migrate(testDatabase.url)).toEqual([]);
});

test('a connection that breaks during a migration is an error of the caller and does not end the process', async () => {
  const other = new pg.Client({ connectionString: testDatabase.url });
  await other.connect();
  await other.query('begin; lock table migration in access exclusive mode');
  const outcome = migrate(testDatabase.url).then(
    () => 'done',
    () => 'refused',
  );
  await waitFor(async () => {
    const { rows } = await other.query(`select from pg_locks where not granted and relation = 'migration'::regclass`);
    expect(rows).toHaveLength(1);
  });
  // Whoever holds the advisory lock is idle, while another connection migrates.
  await other.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`);
  await other.query('rollback');
  await other.end();
  expect(['done', 'refused']).toContain(await outcome);
});
