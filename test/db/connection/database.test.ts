import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../db/connection/database.ts';
import { retireIdleConnections } from '../../../db/connection/open-pool.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { isTransient } from '../../../db/errors.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';

let testDatabase: TestDatabase;
let owner: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  owner = testDatabase.open(null);
});
afterAll(() => testDatabase.drop());

/** What the statement fails with in a transaction that begins like that. */
async function catchFailure(beginning: string, statement: string): Promise<unknown> {
  const done = inTransaction(owner, async (client) => {
    await client.query(beginning);
    await client.query(statement);
  });
  return done.then(
    () => null,
    (error: unknown) => error,
  );
}

test('an actor keeps the plan of a statement with an array', async () => {
  const client = await testDatabase.open('postroom_actor').pool.connect();
  const text = 'select id from email where workspace_id = $1 and id = any ($2::text[])';
  for (let n = 0; n < 10; n++) await client.query({ name: 'kept', text, values: ['usr_1', [`em_${n}`]] });
  const { rows } = await client.query(`select custom_plans from pg_prepared_statements where name = 'kept'`);
  client.release();
  expect(rows).toEqual([{ custom_plans: 0 }]);
});

test('connections that are idle are retired, those in use are not, and the next statement gets a new one', async () => {
  const { pool } = testDatabase.open('postroom_actor');
  const [inUse, ...others] = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  const readPid = async (client: Pick<PoolClient, 'query'>): Promise<unknown> =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const used = await readPid(inUse);
  const idle = await Promise.all(others.map(readPid));
  for (const client of others) client.release();
  await retireIdleConnections(pool);
  const connected = 'select pid from pg_stat_activity where pid = any ($1)';
  await expect
    .poll(async () => (await owner.pool.query<{ pid: number }>(connected, [[used, ...idle]])).rows)
    .toEqual([{ pid: used }]);
  expect(idle).not.toContain(await readPid(pool));
  expect(await readPid(inUse)).toBe(used);
  inUse.release();
});

const WRITE = `insert into event_counter (workspace_id, last_seq) values ('usr_1', 1)`;

test.each([
  ['a server that may not be written to, as one that another is taking over from', 'set transaction read only', WRITE],
  ['a statement that ran out of time', `set local statement_timeout = 20`, 'select pg_sleep(5)'],
])('%s counts as unreachable', async (_what, beginning, statement) => {
  expect(isTransient(await catchFailure(beginning, statement))).toBe(true);
});

test('a mistake in a statement does not count as unreachable', async () => {
  expect(isTransient(await catchFailure('select 1', 'select 1 / 0'))).toBe(false);
});

test('a query ends at its time limit when its server does not end it, and runs on where no limit is set', async () => {
  const slow = async (statementTimeoutMs: number | null) => {
    const database = openDatabase({
      url: testDatabase.url,
      role: null,
      poolSize: 1,
      applicationName: 'slow',
      onError: () => undefined,
      statementTimeoutMs,
    });
    // As a server that does not respond: its own limit is off.
    const query = inTransaction(database, async (client) => {
      const { rows } = await client.query('show statement_timeout');
      await client.query('set local statement_timeout = 0');
      await client.query('select pg_sleep(2.5)');
      return rows;
    });
    const outcome = await query.catch((error: Error) => error.message);
    await database.close();
    return outcome;
  };
  expect(await Promise.all([slow(100), slow(null)])).toEqual(['Query read timeout', [{ statement_timeout: '0' }]]);
});

test('a query of a stopping process counts as unreachable, so that its clients repeat it', async () => {
  const { url } = testDatabase;
  const stopping = openDatabase({
    url,
    role: null,
    poolSize: 1,
    applicationName: 'stopping',
    onError: () => undefined,
  });
  await stopping.close();
  expect(isTransient(await stopping.pool.query('select 1').catch((error: unknown) => error))).toBe(true);
});
