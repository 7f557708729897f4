import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asUser, type Database } from '../../db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test_: TestDatabase;
let actor: Database;
let gateway: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  gateway = test_.open('postroom_gateway');
  await actor.pool.query(
    `insert into domain (user_id, id, name) values ('usr_a', 'dom_a', 'a.test'), ('usr_b', 'dom_b', 'b.test')`,
  );
});
afterAll(() => test_.drop());

test('the gateway sees no row of a user table without a user', async () => {
  const tables = await actor.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id' and a.attnum > 0
     where c.relkind = 'r' and c.relrowsecurity`,
  );
  expect(tables.rows.length).toBeGreaterThan(15);
  for (const { name } of tables.rows) {
    const { rows } = await gateway.pool.query<{ count: number }>(`select count(*) from ${name}`);
    expect(rows[0]?.count, name).toBe(0);
  }
});

test('the gateway sees the rows of the user it acts for and no other', async () => {
  const names = await asUser(gateway, 'usr_a', (transaction) =>
    transaction.selectFrom('domain').select('name').execute(),
  );
  expect(names).toEqual([{ name: 'a.test' }]);
});

test('the gateway cannot write a row of another user', async () => {
  const write = asUser(gateway, 'usr_a', (transaction) =>
    sql`insert into domain (user_id, id, name) values ('usr_b', 'x', 'x')`.execute(transaction),
  );
  await expect(write).rejects.toThrow(/row-level security/);
});

test('every table that has a user_id lies under row-level security, global tables named excepted', async () => {
  const { rows } = await actor.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id' and a.attnum > 0
     where c.relkind = 'r' and not c.relrowsecurity order by 1`,
  );
  expect(rows.map((row) => row.name)).toEqual(['api_key', 'email_address_name', 'verified_domain_name']);
});
