import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNTHREADED_SQL } from '../../../../db/queries/threads/thread-claim.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

test('mail without a thread is found by its index, by a plan made for empty tables too', async () => {
  const { pool } = testDatabase.open('postroom_actor');
  const { rows } = await pool.query<Record<string, string>>(`explain (generic_plan) ${UNTHREADED_SQL}`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/Index Scan using email_unthreaded on email e/);
  expect(plan).not.toContain('Sort');
});
