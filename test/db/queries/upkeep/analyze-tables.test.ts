import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../../db/connection/database.ts';
import { analyzeTables } from '../../../../db/queries/upkeep/analyze-tables.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let testDatabase: TestDatabase;
let actor: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

test('statistics of a table that grew are taken, once', async () => {
  await actor.pool.query(
    `insert into thread_alias (workspace_id, alias_id, thread_id) select 'usr_a', 'th_' || n, 'th_a' from generate_series(1, 1000) n`,
  );
  // The server counts changes a moment after the commit.
  while (!(await isAnalyzed())) {
    await analyzeTables(actor);
    await sleep(50);
  }
  expect(await analyzeTables(actor)).toBe(0);
});

async function isAnalyzed(): Promise<boolean> {
  const { rows } = await actor.pool.query<{ isAnalyzed: boolean }>(
    `select reltuples >= 1000 as "isAnalyzed" from pg_class where relname = 'thread_alias'`,
  );
  return rows[0]?.isAnalyzed ?? false;
}

test('the statistics of raw messages are taken from few rows, because ANALYZE holds all of them in memory', async () => {
  const owner = testDatabase.open(null);
  const client = await owner.pool.connect();
  try {
    await client.query(
      `insert into raw_message (id, packed, sha256, size_bytes) select 'raw_' || n, '\\x00', '\\x00', 1 from generate_series(1, 5000) n`,
    );
    const notices: string[] = [];
    client.on('notice', ({ message }) => notices.push(message ?? ''));
    await client.query('analyze verbose raw_message');
    expect(notices.join('\n')).toContain('containing 5000 live rows and 0 dead rows; 3000 rows in sample');
  } finally {
    client.release();
  }
});
