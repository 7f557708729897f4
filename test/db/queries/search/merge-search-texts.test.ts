import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../../db/connection/database.ts';
import { mergeSearchTexts } from '../../../../db/queries/search/merge-search-texts.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let testDatabase: TestDatabase;
let actor: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

test('the texts of new emails are merged into the index once there are enough', async () => {
  await writeEmails(0, 30);
  expect(await mergeSearchTexts(actor, 31)).toBe(0);
  // The server counts rows a moment after the commit.
  let pages = 0;
  while (pages === 0) {
    pages = await mergeSearchTexts(actor, 30);
    await sleep(50);
  }
  expect(await mergeSearchTexts(actor, 30)).toBe(0);
  await writeEmails(30, 10);
  const { rows } = await actor.pool.query(
    `select count(*)::integer as count from email_search where text like '%common%'`,
  );
  expect(rows).toEqual([{ count: 40 }]);
});

async function writeEmails(from: number, count: number): Promise<void> {
  await actor.pool.query(
    `insert into email_search (workspace_id, email_id, created_at, text, parties)
     select 'usr_a', 'em_' || n, now(), 'common number' || n, '{}' from generate_series($1::integer, $2) n`,
    [from, from + count - 1],
  );
}
