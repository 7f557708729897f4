import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignThreads } from '../../../../actors/threading/assign-thread.ts';
import { type EmailTerms, emailTerms } from '../../../../core/search/email-terms.ts';
import { rankedWords, relevance, wordUse } from '../../../../core/search/relevance.ts';
import { compareRelevance, type RelevanceCursor } from '../../../../core/search/relevance-cursor.ts';
import { parseSearch } from '../../../../core/search/search-query.ts';
import { wordQuery } from '../../../../core/search/word-query.ts';
import type { KeysetPage } from '../../../../core/shared/page.ts';
import type { Database } from '../../../../db/connection/database.ts';
import { asWorkspace } from '../../../../db/connection/transaction.ts';
import { findMatchingEmails, findMatchingThreads } from '../../../../db/queries/search/find-mail.ts';
import { rankMatchingEmails, rankMatchingThreads } from '../../../../db/queries/search/rank-mail.ts';
import { readSources } from '../../../../db/queries/search/unindexed-email.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { someMail, storeMail } from '../../../support/rows/searched-mail.ts';
import { seededRandom } from '../../../support/rows/thread-mail.ts';
import { testActorContext } from '../../../support/stages/actor-context.ts';
import { buildAllWords } from '../../../support/stages/build-all-words.ts';

const USER = 'usr_rank';
const NOW = new Date('2026-07-01T00:00:00Z');
const ALL: KeysetPage<never> = { after: null, before: null, isInverted: false, limit: 1e6 };
const SEARCHES = [
  'hello',
  'inv',
  'world rare',
  '"hello world"',
  'from:ann rent',
  'subject:rent -world',
  'march is:unread',
  'everywhere after:2026-03-01',
  '東京',
];

let testDatabase: TestDatabase;
let actor: Database;
let gateway: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  gateway = testDatabase.open('postroom_gateway');
  const mails = someMail(seededRandom(5), 320);
  await storeMail(actor, USER, mails);
  const ids = mails.map(({ id }) => id);
  await assignThreads(testActorContext(actor), USER, ids);
  await actor.pool.query(`update unindexed_email set state = 'new'`);
});
afterAll(() => testDatabase.drop());

function ranked(
  text: string,
  page: KeysetPage<RelevanceCursor>,
  rank: typeof rankMatchingEmails = rankMatchingEmails,
): Promise<RelevanceCursor[]> {
  const search = { workspaceId: USER, terms: parseSearch(text, NOW), conditions: {} };
  return asWorkspace(gateway, USER, (transaction) => rank(transaction, search, page));
}

/** Returns all results, read in pages. */
async function pages(
  text: string,
  { isInverted, limit }: { isInverted: boolean; limit: number },
  rank: typeof rankMatchingEmails,
): Promise<RelevanceCursor[]> {
  const found: RelevanceCursor[] = [];
  for (let page: KeysetPage<RelevanceCursor> = { ...ALL, isInverted, limit }; ; ) {
    const rows = await ranked(text, page, rank);
    found.push(...rows);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return found;
    page = { ...page, [isInverted ? 'before' : 'after']: last };
  }
}

async function readAllTerms(): Promise<Map<string, EmailTerms>> {
  const { rows } = await actor.pool.query<{ id: string }>('select id from email where workspace_id = $1', [USER]);
  const emailIds = rows.map(({ id }) => id);
  const terms = new Map<string, EmailTerms>();
  const run = async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) =>
    (await actor.pool.query<Row>(text, [...values])).rows;
  await readSources(run, USER, { emailIds, isBodyWanted: true }, ({ id, source }) => {
    terms.set(id, emailTerms(source));
    return true;
  });
  return terms;
}

describe('results by relevance', () => {
  test.each(SEARCHES)('are those by time, each once, on pages of any direction: %s', async (text) => {
    for (const [rank, find] of [
      [rankMatchingEmails, (...given: Parameters<typeof findMatchingEmails>) => findMatchingEmails(...given)],
      [rankMatchingThreads, findMatchingThreads],
    ] as const) {
      const search = { workspaceId: USER, terms: parseSearch(text, NOW), conditions: {} };
      const byTime = await asWorkspace(gateway, USER, (transaction) => find(transaction, search, ALL));
      expect(byTime.length).toBeGreaterThan(0);
      const byRelevance = await ranked(text, ALL, rank);
      expect(byRelevance.map(({ id }) => id).toSorted()).toEqual(byTime.toSorted());
      expect(byRelevance.toSorted(compareRelevance)).toEqual(byRelevance);
      // Each page ranks all results again: five pages of many results cost a quarter of pages of seven.
      const limit = Math.max(7, Math.ceil(byRelevance.length / 5));
      expect(await pages(text, { isInverted: false, limit }, rank)).toEqual(byRelevance);
      expect(await pages(text, { isInverted: true, limit }, rank)).toEqual(byRelevance.toReversed());
    }
  });

  test('from a segment have the scores of the definition, computed from the text of every email', async () => {
    await buildAllWords(actor);
    expect((await actor.pool.query('select from unindexed_email')).rowCount).toBe(0);
    const terms = await readAllTerms();
    for (const text of SEARCHES) {
      const words = rankedWords(wordQuery(parseSearch(text, NOW)));
      const uses = new Map([...terms].map(([id, email]) => [id, wordUse(words, email)]));
      const all = [...uses.values()];
      const corpus = {
        emailCount: all.length,
        averageLength: all.reduce((sum, { length }) => sum + length, 0) / all.length,
        having: words.map((_, at) => all.filter(({ frequencies }) => (frequencies[at] ?? 0) > 0).length),
      };
      const found = await ranked(text, ALL);
      expect(found.length, text).toBeGreaterThan(0);
      for (const { id, score } of found) {
        const use = uses.get(id);
        expect(use && relevance(use, corpus), `${text} ${id}`).toBe(score);
      }
    }
  });

  test('of a thread have the score of its best message', async () => {
    const emails = await ranked('rent', ALL);
    const threads = await ranked('rent', ALL, rankMatchingThreads);
    const { rows } = await actor.pool.query<{ id: string; thread_id: string }>('select id, thread_id from email');
    const threadById = new Map(rows.map((row) => [row.id, row.thread_id]));
    for (const { id, score } of threads)
      expect(score).toBe(Math.max(...emails.flatMap((one) => (threadById.get(one.id) === id ? [one.score] : []))));
  });

  test('do not show mail of another account', async () => {
    const search = { workspaceId: USER, terms: parseSearch('hello', NOW), conditions: {} };
    expect(
      await asWorkspace(gateway, 'usr_other', (transaction) => rankMatchingEmails(transaction, search, ALL)),
    ).toEqual([]);
    expect(
      await asWorkspace(gateway, 'usr_other', (transaction) => rankMatchingThreads(transaction, search, ALL)),
    ).toEqual([]);
  });
});
