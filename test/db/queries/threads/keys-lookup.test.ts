import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

test('threads of message ids are found by keys alone, by a plan made for empty tables too', async () => {
  const { pool } = testDatabase.open('postroom_actor');
  const { rows } = await pool.query<Record<string, string>>(
    'explain (generic_plan) select * from find_threads_of_keys($1, $2::text[])',
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(
    /thread_message_id_pkey on .*\n\s+Index Cond: \(\(workspace_id = \$1\) AND \(message_id = k\.key\)\)/,
  );
  expect(plan).toMatch(/relayed_message_id_pkey on .*\n\s+Index Cond: \(\(workspace_id = \$1\) AND \(local_part = /);
});
