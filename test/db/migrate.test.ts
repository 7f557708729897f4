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

test('accounts without a workspace get one at the next start, and their keys and sessions go on working', async () => {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  // As an account was before workspaces.
  await client.query(`alter table person disable trigger create_own_workspace`);
  await client.query(`insert into person (id, email, name) values ('usr_old', 'old@before.test', 'Ada')`);
  await client.query(`alter table person enable trigger create_own_workspace`);
  await client.query(`alter table api_key drop constraint api_key_workspace_id_fkey`);
  await client.query(
    `insert into api_key (id, workspace_id, name, secret_sha256) values ('key_old', 'usr_old', 'old', '\\x01')`,
  );
  await client.query(
    `insert into auth_session (id, person_id, token, expires_at) values ('ses_old', 'usr_old', 'token', now() + interval '1 hour')`,
  );
  const session = () => client.query(`select workspace_id, role from session_of('token', now())`);
  expect((await session()).rows).toEqual([]);
  expect(await migrate(testDatabase.url)).toEqual([]);
  expect((await session()).rows).toEqual([{ workspace_id: 'usr_old', role: 'owner' }]);
  const key = await client.query(`select workspace_id, role from credential_owner('\\x01')`);
  expect(key.rows).toEqual([{ workspace_id: 'usr_old', role: null }]);
  await client.query(
    `alter table api_key add constraint api_key_workspace_id_fkey foreign key (workspace_id) references workspace`,
  );
  const { rows } = await client.query(`select name from workspace where id = 'usr_old'`);
  expect(rows).toEqual([{ name: 'Ada' }]);
  expect((await client.query('select adopt_accounts() as made')).rows).toEqual([{ made: 0 }]);
  await client.end();
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
