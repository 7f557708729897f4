import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database } from '../../../db/connection/database.ts';
import { asWorkspace, limitedTo } from '../../../db/connection/transaction.ts';
import { readAsWorkspace } from '../../../db/connection/workspace-read.ts';
import { contestVerifiedName } from '../../../db/queries/domains/domain-list.ts';
import { readRawBytes } from '../../../db/queries/emails/raw-bytes.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertEmails, type StoredMail } from '../../support/rows/email-rows.ts';

let test_: TestDatabase;
let actor: Database;
let gateway: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  gateway = test_.open('postroom_gateway');
  await actor.pool.query(
    `insert into domain (workspace_id, id, name) values ('usr_a', 'dom_a', 'a.test'), ('usr_b', 'dom_b', 'b.test')`,
  );
});
afterAll(() => test_.drop());

test('the gateway sees no row of a user table without a user', async () => {
  const tables = await actor.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and a.attnum > 0
     where c.relkind = 'r' and c.relrowsecurity`,
  );
  expect(tables.rows.length).toBeGreaterThan(15);
  for (const { name } of tables.rows) {
    const { rows } = await gateway.pool.query<{ count: number }>(`select count(*) from ${name}`);
    expect(rows[0]?.count, name).toBe(0);
  }
});

test('the gateway sees only the rows of the user it acts for', async () => {
  const names = await asWorkspace(gateway, 'usr_a', (transaction) =>
    transaction.selectFrom('domain').select('name').execute(),
  );
  expect(names).toEqual([{ name: 'a.test' }]);
});

test('a prepared read shows the rows of its user only, and leaves its connection without a user', async () => {
  const database = test_.open('postroom_gateway');
  const text = 'select name, $1::int as number from domain';
  const read = (workspaceId: string, number: number) =>
    readAsWorkspace(database, workspaceId, { name: 'names', text, values: [number] });
  expect(await read('usr_a', 1)).toEqual([{ name: 'a.test', number: 1 }]);
  expect(await read('usr_b', 2)).toEqual([{ name: 'b.test', number: 2 }]);
  const domain = { id: 'dom_x', name: 'x.test' };
  const limited = limitedTo(database, { domains: [domain], addresses: [] });
  expect(await readAsWorkspace(limited, 'usr_a', { name: 'names', text, values: [3] })).toEqual([]);
  const { rows } = await database.pool.query(`select current_user as role, count(*) as domains from domain`);
  expect(rows).toEqual([{ role: 'postroom_gateway', domains: 0 }]);
});

test('a prepared read that fails closes its connection, so that the next one prepares it again', async () => {
  const database = test_.open('postroom_gateway');
  const read = () => readAsWorkspace(database, 'usr_a', { name: 'later', text: 'select n from later', values: [] });
  await expect(read()).rejects.toThrow('relation "later" does not exist');
  await expect(read()).rejects.toThrow('relation "later" does not exist');
  const divide = (divisor: number) =>
    readAsWorkspace(database, 'usr_a', { name: 'quotient', text: 'select 6 / $1::int as result', values: [divisor] });
  expect(await divide(2)).toEqual([{ result: 3 }]);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect(await Promise.all([divide(3), divide(6)])).toEqual([[{ result: 2 }], [{ result: 1 }]]);
});

test('the gateway cannot write a row of another user', async () => {
  const write = asWorkspace(gateway, 'usr_a', (transaction) =>
    sql`insert into domain (workspace_id, id, name) values ('usr_b', 'x', 'x')`.execute(transaction),
  );
  await expect(write).rejects.toThrow(/row-level security/);
});

test('the gateway can neither take nor free a name for another user, nor see its owner', async () => {
  await actor.pool.query(`insert into verified_domain_name values ('b.test', 'usr_b', 'dom_b')`);
  await actor.pool.query(`insert into email_address_name values ('hello@b.test', 'usr_b', 'addr_b')`);
  for (const table of ['verified_domain_name', 'email_address_name']) {
    const [seen, freed, taken] = await asWorkspace(gateway, 'usr_a', async (transaction) => [
      await sql`select from ${sql.table(table)}`.execute(transaction),
      await sql`delete from ${sql.table(table)}`.execute(transaction),
      await sql`insert into ${sql.table(table)} select 'b.test', 'usr_a', 'x' where ${table} = 'verified_domain_name'
        on conflict do nothing`.execute(transaction),
    ]);
    expect([seen.rows.length, freed.numAffectedRows, taken.numAffectedRows], table).toEqual([0, 0n, 0n]);
    const take = asWorkspace(gateway, 'usr_a', (transaction) =>
      sql`insert into ${sql.table(table)} values ('new.test', 'usr_b', 'x')`.execute(transaction),
    );
    await expect(take, table).rejects.toThrow(/row-level security/);
  }
  const free = (name: string) => asWorkspace(gateway, 'usr_a', (transaction) => contestVerifiedName(transaction, name));
  expect([await free('b.test'), await free('free.test')]).toEqual([false, true]);
});

test('bytes are returned only to the user of the transaction, whichever user is named', async () => {
  const bytes = Buffer.from('Subject: secret\r\n\r\n');
  const raw = `insert into raw_message (id, packed, sha256, size_bytes) values ('raw_b', $1, sha256($1), length($1))`;
  await actor.pool.query(raw, [bytes]);
  await insertEmails(actor, 'usr_b', [anyMail('em_b')]);
  await actor.pool.query(`update email set raw_id = 'raw_b' where workspace_id = 'usr_b'`);
  const ask = `select packed as bytes from packed_messages('usr_b', '{em_b}')`;
  expect((await gateway.pool.query(ask)).rows).toEqual([]);
  const asOther = await asWorkspace(gateway, 'usr_a', (transaction) => sql.raw(ask).execute(transaction));
  expect(asOther.rows).toEqual([]);
  const size = `select bytes from raw_sizes('usr_b', '{em_b}')`;
  expect((await asWorkspace(gateway, 'usr_a', (transaction) => sql.raw(size).execute(transaction))).rows).toEqual([]);
  expect((await asWorkspace(gateway, 'usr_b', (transaction) => sql.raw(size).execute(transaction))).rows).toEqual([
    { bytes: bytes.length },
  ]);
  expect(await readRawBytes(gateway, 'usr_b', 'em_b', { start: 0, length: 1_000 })).toEqual(bytes);
});

test('every table that has a workspace_id lies under row-level security, global tables named excepted', async () => {
  const { rows } = await actor.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and a.attnum > 0
     where c.relkind = 'r' and not c.relrowsecurity order by 1`,
  );
  // Those of accounts are closed to these roles altogether (auth-sessions.test.ts).
  expect(rows.map((row) => row.name)).toEqual([
    'api_key',
    'auth_session',
    'oauth_code',
    'oauth_grant',
    'sign_in_provider',
    'workspace_invitation',
    'workspace_member',
  ]);
});

function anyMail(emailId: string): StoredMail {
  const at = new Date(Date.UTC(2026, 5, 1));
  return {
    emailId,
    messageId: `<${emailId}@b.test>`,
    inReplyTo: [],
    references: [],
    subject: 'secret',
    baseSubject: 'secret',
    ownAddress: 'hello@b.test',
    addresses: ['ann@a.test'],
    createdAt: at,
    date: at,
  };
}
