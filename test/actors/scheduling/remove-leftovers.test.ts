import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { removeLeftovers } from '../../../db/queries/upkeep/remove-leftovers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';

let testDatabase: TestDatabase;
let actor: Database;
let owner: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
});
afterAll(() => testDatabase.drop());

const listIds = async (table: string, column: string) =>
  (await owner.pool.query<{ id: string }>(`select ${column} as id from ${table} order by 1`)).rows.map(({ id }) => id);

test('expired rows are removed, and valid ones stay', async () => {
  const { workspaceId } = await createMailbox(owner, { domain: 'left.test', address: 'hello@left.test' });
  await owner.pool.query(`insert into person (id, email) values ('usr_other', 'other@left.test')`);
  await owner.pool.query(
    `insert into auth_session (id, person_id, token, expires_at, created_at) values
       ('old', $1, 'a', now() - interval '2 days', now() - interval '3 days'), ('young', $1, 'b', now() + interval '2 days', now())`,
    [workspaceId],
  );
  await owner.pool.query(`
    insert into auth_verification (id, identifier, value, expires_at) values ('old', 'a', 'a', now() - interval '2 days'), ('young', 'b', 'b', now());
    insert into auth_rate_limit (key, last_at) values ('old', now() - interval '2 days'), ('young', now());
    delete from api_key;
    insert into api_key (id, workspace_id, name, secret_sha256, revoked_at) values ('old', 'usr_other', 'k', 'a', now() - interval '400 days'),
      ('young', 'usr_other', 'k', 'b', now() - interval '300 days'), ('living', 'usr_other', 'k', 'c', null);
    insert into request_window (workspace_id, leases) values
      ('old', array[('l', now(), 1, now() - interval '1 minute')::request_lease]), ('young', array[('l', now(), 1, now() + interval '1 hour')::request_lease])`);
  const ended = (id: string, columns: string) => `('usr_other', '${id}', 'dom', 'a.test', ${columns}, now())`;
  await owner.pool.query(`
    insert into reply_address (workspace_id, id, domain_id, domain, expires_at, revoked_at, created_at) values
      ${ended('young', `now() - interval '29 days', null`)}, ${ended('living', 'null, null')},
      ${ended('old', `now() + interval '1 day', now() - interval '31 days'`)};
    insert into thread_message_id (workspace_id, message_id, thread_id) values
      ('usr_other', 'reply-address:old', 'th'), ('usr_other', 'reply-address:young', 'th')`);
  expect(await removeLeftovers(actor)).toBe(1);
  for (const [table, column] of [
    ['auth_session', 'id'],
    ['auth_verification', 'id'],
    ['auth_rate_limit', 'key'],
    ['request_window', 'workspace_id'],
  ] as const)
    expect(await listIds(table, column), table).toEqual(['young']);
  expect(await listIds('api_key', 'id')).toEqual(['living', 'young']);
  expect(await listIds('reply_address', 'id')).toEqual(['living', 'young']);
  expect(await listIds('thread_message_id', 'message_id')).toEqual(['reply-address:young']);
});

test('late rows of an erased account are removed, those of others stay', async () => {
  await owner.pool.query(`
    insert into erased_account values ('usr_gone', now()), ('usr_long_gone', now() - interval '2 days');
    insert into smtp_offer (workspace_id, recipient, reverse_path, sha256, remote_address, email_id, accepted_at, expires_at)
    select u, 'r', '', 'a', '', 'em', now(), now() from unnest(array['usr_gone', 'usr_long_gone', 'usr_other']) u`);
  await removeLeftovers(actor);
  expect(await listIds('smtp_offer', 'workspace_id')).toEqual(['usr_long_gone', 'usr_other']);
});

test('an actor cannot read sessions or passwords, but can have old ones removed', async () => {
  await expect(actor.pool.query('select from auth_session')).rejects.toThrow(/permission denied/);
});
