import { randomBytes } from 'node:crypto';
import { Migration } from '@mikro-orm/migrations';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate, pendingMigrations, SchemaTooNew, SchemaTooOld } from '../../db/migrate.ts';
import { migrations, type SchemaMigration } from '../../db/migrations/list.ts';
import { migrationNames } from '../../db/migrations/names.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import { runToEnd } from '../support/runner.ts';
import { until } from '../support/servers/service.ts';

let testDatabase: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  client = await connect();
});
afterEach(async () => {
  await client.end();
  await testDatabase.drop();
});

async function connect(): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: testDatabase.url });
  await opened.connect();
  return opened;
}

function step(name: string, statements: string[], isTransactional = true): SchemaMigration {
  class Step extends Migration {
    override up(): void {
      for (const statement of statements) this.addSql(statement);
    }
    override isTransactional(): boolean {
      return isTransactional;
    }
  }
  return { name, class: Step };
}

const with_ = (...more: SchemaMigration[]) => migrate(testDatabase.url, [...migrations, ...more]);
const has = async (name: string) =>
  (await client.query('select to_regclass($1) is not null as there', [name])).rows[0].there;
const ran = async () => (await client.query('select name from migration order by id')).rows.map(({ name }) => name);

test('a migration that fails leaves nothing behind, and those before it stay', async () => {
  const good = step('0002-good', ['create table good (id text)']);
  const bad = step('0003-bad', ['create table half (id text)', 'alter table good add column more text', 'select 1/0']);
  await expect(with_(good, bad)).rejects.toThrow('migration 0003-bad: division by zero');
  expect([await has('good'), await has('half')]).toEqual([true, false]);
  const columns = await client.query(`select from information_schema.columns where table_name = 'good'`);
  expect(columns.rowCount).toBe(1);
  expect(await ran()).toEqual([...migrationNames, '0002-good']);
  const mended = step('0003-bad', ['create table half (id text)']);
  expect(await with_(good, mended)).toEqual(['0003-bad']);
});

test('an index is created concurrently outside a transaction, and the rest of a failed one is removed', async () => {
  await client.query('create table many (id int); insert into many values (1), (1)');
  const bad = step('0002-index', ['create unique index concurrently many_id on many (id)'], false);
  await expect(with_(bad)).rejects.toThrow(/could not create unique index/);
  expect(await has('many_id')).toBe(false);
  const good = step('0002-index', ['create index concurrently many_id on many (id)'], false);
  expect(await with_(good)).toEqual(['0002-index']);
  const { rows } = await client.query(`select indisvalid from pg_index where indexrelid = 'many_id'::regclass`);
  expect(rows).toEqual([{ indisvalid: true }]);
});

test('several concurrent migrations run once, also where an index waits for the end of transactions', async () => {
  await client.query('create table many (id int)');
  await client.query('begin; insert into many values (1)');
  const index = step('0002-index', ['create index concurrently many_id on many (id)'], false);
  const all = Promise.all([with_(index), with_(index), with_(index)]);
  const other = await connect();
  await until(
    'the index waits',
    () => '',
    async () => {
      const { rowCount } = await other.query(`select from pg_locks where locktype = 'virtualxid' and not granted`);
      return rowCount === 1;
    },
  );
  await other.end();
  await client.query('commit');
  expect((await all).toSorted()).toEqual([[], [], ['0002-index']]);
});

test('a migration lets traffic pass while it waits for a table in use', async () => {
  await client.query('create table busy (id int)');
  await client.query('begin; insert into busy values (1)');
  const migrating = with_(step('0002-column', ['alter table busy add column more text']));
  const other = await connect();
  const isWaiting = async () =>
    (await other.query(`select from pg_locks where not granted and relation = 'busy'::regclass`)).rowCount === 1;
  await until('it waits', () => '', isWaiting);
  // Behind the migration in the line; it lets go again and again.
  for (let n = 0; n < 3; n++) await other.query('insert into busy (id) values ($1)', [n]);
  await client.query('commit');
  expect(await migrating).toEqual(['0002-column']);
  expect((await other.query('select more from busy')).rowCount).toBe(4);
  await other.end();
});

test('a migration gives way to traffic when they wait for each other', async () => {
  await client.query('create table one (id int); create table two (id int)');
  await client.query('begin; insert into two values (1)');
  const [one, two] = ['alter table one add column more text', 'alter table two add column more text'];
  const migrating = with_(step('0002-columns', [one, 'select pg_sleep(0.2)', two]));
  const other = await connect();
  await until(
    'it holds the first table',
    () => '',
    async () => {
      const { rowCount } = await other.query(
        `select from pg_locks where granted and relation = 'one'::regclass and mode = 'AccessExclusiveLock'`,
      );
      return rowCount === 1;
    },
  );
  await other.end();
  // PostgreSQL looks for deadlocks on behalf of whoever waits for a second, and this is who waits first.
  await client.query('insert into one (id) values (1)');
  await client.query('commit');
  expect(await migrating).toEqual(['0002-columns']);
});

test('older code works with a newer schema, unless a migration requires newer code', async () => {
  await with_(step('0002-next', ['create table next (id text)']));
  expect(await migrate(testDatabase.url)).toEqual([]);
  expect(await pendingMigrations(testDatabase.url)).toEqual([]);
  const next = step('0002-next', []);
  await with_(next, { ...step('0003-drop', ['drop table next']), needs: '0002-next' });
  await expect(migrate(testDatabase.url)).rejects.toThrow(SchemaTooNew);
  await expect(migrate(testDatabase.url)).rejects.toThrow(/migration 0003-drop needs code that knows 0002-next/);
  // The version between knows what it asks for, and not the migration itself.
  expect(await with_(next)).toEqual([]);
});

test('a database of before the first release is refused by the start and by --check, which say what to do', async () => {
  await client.query('alter table migration drop column digest');
  await expect(migrate(testDatabase.url)).rejects.toThrow(SchemaTooOld);
  await expect(pendingMigrations(testDatabase.url)).rejects.toThrow(SchemaTooOld);
  const environment = { DATABASE_URL: testDatabase.url, SECRET_KEY: randomBytes(32).toString('base64url') };
  for (const words of [['bin/migrate.ts', '--check'], ['bin/migrate.ts']]) {
    const refused = await runToEnd(words, environment);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/before the first release and cannot be upgraded\. Export its accounts with that version/),
    ]);
  }
});

test('a database whose migration or search functions have other SQL than the code is refused', async () => {
  const { rows } = await client.query<{ digest: string }>('select digest from migration');
  const [statements = '', search = ''] = rows[0]?.digest.split('.') ?? [];
  const record = (digest: string | null) => client.query('update migration set digest = $1', [digest]);
  for (const other of [`${'0'.repeat(64)}.${search}`, `${statements}.${'0'.repeat(64)}`, null]) {
    await record(other);
    await expect(migrate(testDatabase.url)).rejects.toThrow(SchemaTooOld);
    await expect(pendingMigrations(testDatabase.url)).rejects.toThrow(SchemaTooOld);
  }
  // A later migration, of newer code, changed the search functions.
  await record(`${statements}.${search}`);
  await client.query(`insert into migration (name, digest) values ('0002-next', '0.0')`);
  expect(await pendingMigrations(testDatabase.url)).toEqual([]);
});

test('bin/migrate.ts --check reports pending migrations, and changes nothing', async () => {
  const environment = { DATABASE_URL: testDatabase.url, SECRET_KEY: randomBytes(32).toString('base64url') };
  expect(await runToEnd(['bin/migrate.ts', '--check'], environment)).toMatchObject({ status: 0 });
  await client.query(`delete from migration`);
  const missing = await runToEnd(['bin/migrate.ts', '--check'], environment);
  expect([missing.status, missing.stderr]).toEqual([1, `Pending migrations: ${migrationNames.join(', ')}\n`]);
  expect(await ran()).toEqual([]);
});
