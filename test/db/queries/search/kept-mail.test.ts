import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseSearch } from '../../../../core/search/search-query.ts';
import type { Database } from '../../../../db/connection/database.ts';
import { asWorkspace } from '../../../../db/connection/transaction.ts';
import { countMatchingEmails, findMatchingEmails } from '../../../../db/queries/search/find-mail.ts';
import { SEARCH_CACHE_LIMITS, searchCache } from '../../../../db/queries/search/search-cache.ts';
import { noteChanged, noteGone } from '../../../../db/queries/search/unindexed-email.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { someMail, storeMail } from '../../../support/rows/searched-mail.ts';
import { seededRandom } from '../../../support/rows/thread-mail.ts';
import { buildAllWords } from '../../../support/stages/build-all-words.ts';

const NOW = new Date('2026-07-01T00:00:00Z');
const ALL = { after: null, before: null, isInverted: false, limit: 1e6 };

let testDatabase: TestDatabase;
let actor: Database;
let gateway: Database;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  gateway = testDatabase.open('postroom_gateway');
});
afterEach(() => testDatabase.drop());

/** Each user has ids of their own, as a cache of the process outlives a test. */
async function store(workspaceId: string, text: string, count = 12): Promise<string[]> {
  const mails = someMail(seededRandom(3), count).map((mail, at) => ({
    ...mail,
    id: `em_${workspaceId}_${String(at).padStart(2, '0')}`,
    text: `${text} number${at}`,
    html: null,
    visible: '',
  }));
  await storeMail(actor, workspaceId, mails);
  return mails.map(({ id }) => id);
}

function found(workspaceId: string, search: string, database = gateway): Promise<string[]> {
  const of = { workspaceId, terms: parseSearch(search, NOW), conditions: {} };
  return asWorkspace(database, workspaceId, async (transaction) => {
    const ids = await findMatchingEmails(transaction, of, ALL);
    expect(await countMatchingEmails(transaction, of)).toBe(ids.length);
    return ids.toSorted();
  });
}

async function rewrite(workspaceId: string, id: string, text: string): Promise<void> {
  await actor.pool.query('update email_content set text_body = $3 where workspace_id = $1 and email_id = $2', [
    workspaceId,
    id,
    text,
  ]);
  await noteChanged(actor.pool, workspaceId, [id]);
}

async function remove(workspaceId: string, id: string): Promise<void> {
  await noteGone(actor.pool, workspaceId, [id]);
  for (const [table, column] of [
    ['email', 'id'],
    ['email_content', 'email_id'],
  ])
    await actor.pool.query(`delete from ${table} where workspace_id = $1 and ${column} = $2`, [workspaceId, id]);
}

test.each(['unindexed', 'indexed'])('%s mail that is kept is found by its present words only', async (state) => {
  const workspaceId = `usr_kept_${state}`;
  const [first = '', second = '', ...others] = await store(workspaceId, 'quokka');
  if (state === 'indexed') await buildAllWords(actor);
  const all = [first, second, ...others];
  for (let count = 0; count < 2; count++) expect(await found(workspaceId, 'quokka')).toEqual(all);
  for (const [word, former] of [
    ['potoroo', 'quokka'],
    ['bettong', 'potoroo'],
  ] as const) {
    await rewrite(workspaceId, first, word);
    for (let count = 0; count < 2; count++) {
      expect(await found(workspaceId, word)).toEqual([first]);
      expect(await found(workspaceId, `"${word}"`)).toEqual([first]);
      expect(await found(workspaceId, former)).not.toContain(first);
    }
  }
  await remove(workspaceId, second);
  expect(await found(workspaceId, 'quokka')).toEqual(others);
  await buildAllWords(actor);
  expect(await found(workspaceId, 'quokka')).toEqual(others);
  expect(await found(workspaceId, 'bettong')).toEqual([first]);
});

test('fifty searches at once of two accounts find each their own mail, and keep no more than their share', async () => {
  const users = ['usr_fifty_a', 'usr_fifty_b'] as const;
  const stored = new Map<string, string[]>();
  for (const workspaceId of users) stored.set(workspaceId, await store(workspaceId, 'quokka', 30));
  await buildAllWords(actor);
  for (const workspaceId of users) await rewrite(workspaceId, stored.get(workspaceId)?.[0] ?? '', 'quokka again');
  const searches = Array.from({ length: 50 }, (_, at) => users[at % 2] ?? users[0]);
  const results = await Promise.all(searches.map((workspaceId) => found(workspaceId, 'quokka')));
  for (const [at, workspaceId] of searches.entries()) expect(results[at]).toEqual(stored.get(workspaceId));
  for (const workspaceId of users)
    expect(searchCache.bytesOfAccount(workspaceId)).toBeLessThanOrEqual(SEARCH_CACHE_LIMITS.perAccount);
  expect(searchCache.bytes).toBeLessThanOrEqual(SEARCH_CACHE_LIMITS.perProcess);
});

test('what is kept of an account is not found by another that names it', async () => {
  const [first = ''] = await store('usr_kept_owner', 'quokka');
  await buildAllWords(actor);
  expect(await found('usr_kept_owner', 'quokka')).toContain(first);
  const of = { workspaceId: 'usr_kept_owner', terms: parseSearch('quokka', NOW), conditions: {} };
  expect(
    await asWorkspace(gateway, 'usr_kept_other', (transaction) => findMatchingEmails(transaction, of, ALL)),
  ).toEqual([]);
  expect(await asWorkspace(gateway, 'usr_kept_other', (transaction) => countMatchingEmails(transaction, of))).toBe(0);
});

test('a segment whose rows are destroyed while it is kept is still exact, and after a discard is read from mail', async () => {
  const all = await store('usr_kept_damage', 'quokka');
  await buildAllWords(actor);
  expect(await found('usr_kept_damage', 'quokka')).toEqual(all);
  await actor.pool.query(`update word_block set bytes = '\\x00' where workspace_id = $1`, ['usr_kept_damage']);
  expect(await found('usr_kept_damage', 'quokka')).toEqual(all);
  expect(await found('usr_kept_damage', 'number3')).toEqual([all[3]]);
  await actor.pool.query(`select discard_word_segment(workspace_id, id) from word_segment where workspace_id = $1`, [
    'usr_kept_damage',
  ]);
  expect(await found('usr_kept_damage', 'quokka')).toEqual(all);
});
