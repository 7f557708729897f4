import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../../db/connection/database.ts';
import { emailVector, mergeWords } from '../../../../db/queries/search/email-words.ts';
import { wordQuery } from '../../../../db/queries/search/word-vector.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

let testDatabase: TestDatabase;
let actor: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

test('the words of new emails are merged into the index once there are enough, and are found before and after', async () => {
  await writeEmails(0, 30);
  expect(await mergeWords(actor, 31)).toBe(0);
  expect(await found('common')).toBe(30);
  // The server counts rows a moment after the commit.
  let pages = 0;
  while (pages === 0) {
    pages = await mergeWords(actor, 30);
    await sleep(50);
  }
  expect(await found('common')).toBe(30);
  expect(await mergeWords(actor, 30)).toBe(0);

  await writeEmails(30, 10);
  expect(await found('common')).toBe(40);
  expect(await found('number39')).toBe(1);
});

async function writeEmails(from: number, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => from + n);
  const empty = { fromText: '', fromAddress: '', recipientTexts: [], recipients: [], ownAddress: '', html: null };
  const vectors = ids.map((n) =>
    emailVector('usr_a', { ...empty, subject: 'Common', text: `number${n}`, hasAttachments: false }),
  );
  await actor.pool.query(
    `insert into email_words (user_id, email_id, created_at, words)
     select 'usr_a', 'em_' || v.n, now(), v.words::tsvector from unnest($1::integer[], $2::text[]) as v(n, words)`,
    [ids, vectors],
  );
}

/** How many emails the index finds by the word. */
async function found(word: string): Promise<number> {
  const client = await actor.pool.connect();
  try {
    await client.query('begin; set local enable_seqscan = off');
    const query = wordQuery('usr_a', [{ words: [word], isPrefix: false, place: null }], 'all');
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::integer as count from email_words where words @@ $1::tsquery',
      [query],
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.query('rollback');
    client.release();
  }
}
