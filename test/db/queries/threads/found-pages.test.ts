import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSearch } from '../../../../core/search/search-query.ts';
import type { KeysetPage } from '../../../../core/shared/page.ts';
import { type Database, openDatabase } from '../../../../db/connection/database.ts';
import { asWorkspace } from '../../../../db/connection/transaction.ts';
import { pageFoundEmails } from '../../../../db/queries/emails/email-find.ts';
import { listThreads, pageInbox } from '../../../../db/queries/threads/thread-list.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { fillLargeMailbox, largeMailboxWords } from '../../../support/rows/large-mailbox.ts';
import { fillLargeMailboxWords } from '../../../support/rows/large-mailbox-words.ts';

const USER = 'usr_found';
const MESSAGES = 9_000;
const WORD = largeMailboxWords.ofHundred;
/** Messages that have the word. */
const MATCHES = MESSAGES / 100;
const PAGE = 20;
const FIRST: KeysetPage = { after: null, before: null, isInverted: false, limit: PAGE };
const THREADS = { isUnread: false, isClaimed: null, isTrashed: false, domain: null, address: null };
const EMAILS = {
  type: null,
  status: null,
  isHeld: false,
  isRead: null,
  isArchived: null,
  since: null,
  domain: null,
  address: null,
};

let testDatabase: TestDatabase;
let gateway: Database;
/** of one connection, whose counters tell which rows were read */
let single: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await fillLargeMailbox(testDatabase.url, USER, MESSAGES);
  await fillLargeMailboxWords(testDatabase.url, USER);
  gateway = testDatabase.open('postroom_gateway');
  single = openDatabase({
    url: testDatabase.readUrl('postroom_gateway'),
    role: 'postroom_gateway',
    poolSize: 1,
    applicationName: 'test',
    onError: () => undefined,
  });
});
afterAll(async () => {
  await single?.close();
  await testDatabase?.drop();
});

const parseWords = (text: string) => ({ terms: parseSearch(text, new Date('2026-10-31T12:00:00Z')), part: null });

/** Returns how many rows of threads and emails indexes and scans have returned to this database so far. */
async function countRead(): Promise<number> {
  await single.pool.query('select pg_stat_force_next_flush()');
  const { rows } = await single.pool.query<{ count: string }>(
    `select sum(pg_stat_get_tuples_fetched(c) + pg_stat_get_tuples_returned(c)) as count from unnest('{thread,email}'::regclass[]) c`,
  );
  return Number(rows[0]?.count);
}

test.each<[string, () => Promise<unknown[]>]>([
  ['threads', () => listThreads(single, USER, { ...THREADS, search: parseWords(WORD) }, FIRST)],
  [
    'an inbox',
    () =>
      asWorkspace(single, USER, (transaction) =>
        pageInbox(transaction, USER, { ...THREADS, isArchived: null, ...parseWords(WORD) }, FIRST),
      ),
  ],
  [
    'emails',
    () =>
      asWorkspace(single, USER, (transaction) =>
        pageFoundEmails(transaction, USER, { ...parseWords(WORD), conditions: EMAILS }, FIRST),
      ),
  ],
])('a page of found %s reads rows of the matches, not of the whole account', async (_, read) => {
  // Generic plans, too, which a connection chooses from the sixth time on.
  for (let time = 0; time < 7; time++) {
    const before = await countRead();
    expect(await read()).toHaveLength(PAGE);
    expect((await countRead()) - before).toBeLessThan(MATCHES * 6);
  }
});

const { every, ofTen, ofHundred, former } = largeMailboxWords;

test.each([ofHundred, ofTen, every, `${ofTen} ${former}`, `${ofTen} w150`, 'w40 w41'])(
  'the pages of a search of a large mailbox have each match once, newest first: %s',
  async (text) => {
    const wanted = await readMatches(text.split(' '));
    const threads = await readPages(wanted.threads, (page) => findThreads(text, page));
    expect(threads).toEqual(wanted.threads.map(({ id }) => id));
    const emails = await readPages(wanted.emails, (page) => findEmails(text, page));
    expect(emails).toEqual(wanted.emails.map(({ id }) => id));
  },
);

interface Match {
  id: string;
  at: Date;
}

const findThreads = async (text: string, page: KeysetPage): Promise<string[]> => {
  const threads = await listThreads(gateway, USER, { ...THREADS, search: parseWords(text) }, page);
  return threads.map(({ id }) => id);
};
const findEmails = (text: string, page: KeysetPage): Promise<string[]> =>
  asWorkspace(gateway, USER, async (transaction) => {
    const emails = await pageFoundEmails(transaction, USER, { ...parseWords(text), conditions: EMAILS }, page);
    return emails.map(({ id }) => id);
  });

/** Returns what has all words, or words that begin so, in one message, by reading the text of every message. */
async function readMatches(words: readonly string[]): Promise<{ threads: Match[]; emails: Match[] }> {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  try {
    const { rows: emails } = await client.query<Match & { thread_id: string }>(
      `select e.id, e.created_at as at, e.thread_id from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
       where not exists (select from unnest($1::text[]) w where position(' ' || w in ' ' || c.text_body) = 0) order by e.created_at desc, e.id collate "C" desc`,
      [words],
    );
    const { rows: threads } = await client.query<Match>(
      `select id, last_message_at as at from thread where id = any ($1) order by last_message_at desc, id collate "C" desc`,
      [emails.map((email) => email.thread_id)],
    );
    return { threads, emails };
  } finally {
    await client.end();
  }
}

/** Returns the ids of all pages, each of which begins after the last row of the one before. */
async function readPages(wanted: readonly Match[], read: (page: KeysetPage) => Promise<string[]>): Promise<string[]> {
  const places = new Map(wanted.map(({ id, at }) => [id, at]));
  const found: string[] = [];
  const limit = Math.max(7, Math.ceil(wanted.length / 12));
  for (let after: KeysetPage['after'] = null; ; ) {
    const ids = await read({ ...FIRST, limit, after });
    found.push(...ids);
    const last = ids.at(-1);
    if (last === undefined || ids.length < limit) return found;
    after = { id: last, at: places.get(last) ?? new Date(0) };
  }
}
