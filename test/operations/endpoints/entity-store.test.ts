import { afterAll, beforeAll, expect, test } from 'vitest';
import { Domain } from '../../../db/entities/domains.ts';
import { type EntityStore, openEntityStore } from '../../../db/entities/store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';

let testDatabase: TestDatabase;
let store: EntityStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  store = openEntityStore(testDatabase.open('postroom_gateway'));
});
afterAll(() => testDatabase.drop());

test('entities are read and written within the user’s rows only', async () => {
  await store.asWorkspace('usr_a', async ({ entities }) => {
    entities.create(Domain, { workspaceId: 'usr_a', id: 'dom_a', name: 'a.test' });
  });
  const own = await store.asWorkspace('usr_a', ({ entities }) => entities.find(Domain, {}));
  expect(own).toMatchObject([{ id: 'dom_a', name: 'a.test', status: 'pending', createdAt: expect.any(Date) }]);
  expect(await store.asWorkspace('usr_b', ({ entities }) => entities.find(Domain, {}))).toEqual([]);
});

test('the database rejects an entity of another user', async () => {
  const write = store.asWorkspace('usr_b', async ({ entities }) => {
    entities.create(Domain, { workspaceId: 'usr_a', id: 'dom_x', name: 'x.test' });
  });
  await expect(write).rejects.toThrow(/row-level security/);
});

test('statements beside entities run in the same transaction', async () => {
  const failed = store.asWorkspace('usr_a', async ({ entities, transaction }) => {
    await transaction
      .insertInto('verified_domain_name')
      .values({ name: 'gone.test', workspace_id: 'usr_a', domain_id: 'dom_g' })
      .execute();
    entities.create(Domain, { workspaceId: 'usr_a', id: 'dom_a', name: 'gone.test' });
    await entities.flush();
  });
  await expect(failed).rejects.toThrow(/domain_pkey/);
  const names = await store.asWorkspace('usr_a', ({ transaction }) =>
    transaction.selectFrom('verified_domain_name').selectAll().execute(),
  );
  expect(names).toEqual([]);
});
