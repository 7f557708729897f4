import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { parseSearch } from '../../../core/search/search-query.ts';
import { type Database } from '../../../db/connection/database.ts';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { countFoundEmails, pageFoundEmails } from '../../../db/queries/emails/email-find.ts';
import type { FindBounds } from '../../../db/queries/search/find-mail.ts';
import * as lists from '../../../db/queries/threads/thread-list.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { countEmails, pageEmails } from '../../../operations/emails/emails.ts';
import { countInbox, type InboxQuery, pageInbox } from '../../../operations/threads/threads.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { matchingIds } from '../../support/rows/search-definition.ts';
import { type SearchedMail, someMail, storeMail } from '../../support/rows/searched-mail.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { buildAllWords } from '../../support/stages/build-all-words.ts';

const USER = 'usr_search';
const NOW = new Date('2026-07-01T00:00:00Z');
const MAILS = 600;

let testDatabase: TestDatabase;
let actor: Database;
let gateway: Database;
let mails: SearchedMail[];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  gateway = testDatabase.open('postroom_gateway');
  const random = seededRandom(7);
  mails = someMail(random, MAILS);
  // The same mail of somebody else: none of it may ever show.
  for (const workspaceId of [USER, 'usr_other']) {
    await storeMail(actor, workspaceId, mails);
    await assignThreads(
      testActorContext(actor),
      workspaceId,
      mails.map((mail) => mail.id),
    );
  }
  await buildAllWords(actor);
  const { rows } = await actor.pool.query<{ id: string; thread_id: string | null }>(
    'select id, thread_id from email where workspace_id = $1',
    [USER],
  );
  const threadById = new Map(rows.map((row) => [row.id, row.thread_id]));
  const labels = new Map<string, string[]>();
  for (const threadId of new Set(threadById.values()))
    if (threadId !== null)
      labels.set(
        threadId,
        ['Urgent', 'to do', 'Rechnung'].filter(() => random() < 0.2),
      );
  for (const [threadId, given] of labels)
    await actor.pool.query('update thread set labels = $3, label_keys = $4 where workspace_id = $1 and id = $2', [
      USER,
      threadId,
      given,
      given.map((label) => label.toLowerCase()),
    ]);
  mails = mails.map((mail) => {
    const threadId = threadById.get(mail.id) ?? null;
    return { ...mail, threadId, labels: labels.get(threadId ?? '') ?? [] };
  });
});
afterAll(() => testDatabase.drop());

function context(workspaceId = USER): OperationContext {
  return { database: gateway, workspaceId, now: () => NOW } as unknown as OperationContext;
}

const SEARCHES = [
  'invoice',
  'inv',
  'INVOICE',
  'über',
  'uber',
  'straße',
  '東京',
  '京都',
  'привет',
  'hello world',
  '"hello world"',
  '"world hello"',
  '"hello wor"',
  'hello -world',
  '-hello',
  '-"hello world"',
  'from:ann',
  'from:ann@x.test',
  'from:x.test',
  'from:"Ann Lee"',
  '-from:ann',
  'to:bob',
  'to:bob@y.test',
  'to:own@home.test',
  'subject:rent',
  'subject:"rent for march"',
  'subject:rent from:ann to:own',
  'domain:x.test',
  '-domain:x.test',
  'label:urgent',
  'label:"To Do"',
  'label:urgent label:rechnung',
  '-label:urgent',
  'label:nothing',
  'before:2026-03-01',
  'after:2026-03-01',
  'after:2026-02-01 before:2026-03-01',
  '-before:2026-03-01',
  '-after:2026/03/01',
  'after:30d',
  'after:2026-03-01T12:00:00Z invoice',
  'has:attachment',
  '-has:attachment',
  'is:unread',
  'is:read',
  'is:archived',
  '-is:archived',
  '-is:unread invoice',
  'in:inbox',
  'in:archive',
  'in:sent',
  'in:received -in:inbox',
  'in:scheduled',
  'in:sent has:attachment hello',
  'rare',
  'everywhere',
  'everywhere label:urgent is:unread -from:ann',
  'ann@x.test',
  'https://shop.test/path?q=1',
  '12:30',
  "o'brien",
  'secretcss',
  'visibleword',
  'zzzz',
];

// By bounds so small that every step is taken.
const SMALL: FindBounds = { near: 15, few: 40, first: 4, messages: 3, instants: 5 };
const ANY = {
  type: null,
  status: null,
  isHeld: false,
  isRead: null,
  isArchived: null,
  since: null,
  domain: null,
  address: null,
};
const EVERY = { isUnread: false, isArchived: null, domain: null, address: null };

describe('a search finds exactly the matches of its definition, on every page in both directions', () => {
  test.each(SEARCHES)('%s', async (search) => {
    const expected = matchingIds(mails, search, NOW);
    const terms = parseSearch(search, NOW);
    const [emails, emailCount] = await asWorkspace(gateway, USER, async (transaction) => [
      await paged(
        (page) => pageFoundEmails(transaction, USER, { terms, conditions: ANY }, page, SMALL),
        (email) => ({ at: email.createdAt, id: email.id }),
      ),
      await countFoundEmails(transaction, USER, { terms, conditions: ANY }),
    ]);
    expect(emails).toEqual(expected.emails);
    expect(emailCount).toBe(expected.emails.length);
    const [threads, threadCount] = await asWorkspace(gateway, USER, async (transaction) => [
      await paged(
        (page) => lists.pageInbox(transaction, USER, { terms, ...EVERY }, page, SMALL),
        (thread) => ({ at: thread.lastMessageAt, id: thread.id }),
      ),
      await lists.countInbox(transaction, USER, { terms, ...EVERY }),
    ]);
    expect(threads).toEqual(expected.threads);
    expect(threadCount).toBe(expected.threads.length);
  });
});

describe('the operations find the same', () => {
  test.each(['hello', 'rare', 'from:ann -world', 'in:sent'])('%s', async (search) => {
    const expected = matchingIds(mails, search, NOW);
    const query = { words: search, timeRange: 'all' } as const;
    const emails = await paged(
      (page) => pageEmails(context(), query, page),
      (email) => ({ at: email.createdAt, id: email.id }),
    );
    expect(emails).toEqual(expected.emails);
    expect(await countEmails(context(), query)).toBe(expected.emails.length);
    expect(await inbox({ search, isArchived: 'any' })).toEqual(expected.threads);
    expect(await countInbox(context(), { search, isArchived: 'any' })).toBe(expected.threads.length);
  });

  test('combines with filters of the email list', async () => {
    const found = matchingIds(mails, 'hello is:unread in:received -is:archived after:2026-06-01', NOW).emails;
    const query = {
      words: 'hello',
      type: 'received',
      status: 'unread',
      timeRange: '30d',
      address: 'own@home.test',
      domain: 'home.test',
    } as const;
    const emails = await pageEmails(context(), query, FIRST);
    expect(emails.map(({ id }) => id)).toEqual(found);
    expect(found.length).toBeGreaterThan(3);
    expect(await countEmails(context(), { ...query, domain: 'other.test' })).toBe(0);
    expect(await countEmails(context(), { ...query, address: 'addr_unknown' })).toBe(0);
    expect(await countEmails(context(), { ...query, status: 'bounced', type: 'all' })).toBe(0);
    expect(await countEmails(context(), { ...query, status: 'blocked', type: 'all' })).toBe(0);
  });

  test('words and a substring cannot be combined', async () => {
    await expect(countEmails(context(), { words: 'a', search: 'b' })).rejects.toMatchObject({
      code: 'validation',
      details: [{ field: 'search' }],
    });
  });
});

describe('the inbox', () => {
  const byThread = () => {
    const threads = new Map<string, SearchedMail[]>();
    for (const mail of mails)
      if (mail.threadId !== null) threads.set(mail.threadId, [...(threads.get(mail.threadId) ?? []), mail]);
    return threads;
  };
  const isArchived = (thread: readonly SearchedMail[]) => {
    const received = thread.filter((mail) => mail.type === 'received');
    return received.length > 0 && received.every((mail) => mail.isArchived);
  };
  const those = (holds: (thread: SearchedMail[]) => boolean) => {
    const chosen = new Set([...byThread()].filter(([, thread]) => holds(thread)).map(([id]) => id));
    expect(chosen.size).toBeGreaterThan(0);
    return matchingIds(mails, '', NOW).threads.filter((id) => chosen.has(id));
  };

  test('shows threads that are not archived, archived ones, or both', async () => {
    expect(await inbox({})).toEqual(those((thread) => !isArchived(thread)));
    expect(await inbox({ isArchived: true })).toEqual(those(isArchived));
    expect(await inbox({ isArchived: 'any' })).toEqual(those(() => true));
    expect(await countInbox(context(), {})).toBe(those((thread) => !isArchived(thread)).length);
  });

  test('shows archived threads too when the search asks for archived mail', async () => {
    const expected = those((thread) => thread.some((mail) => mail.isArchived));
    expect(await inbox({ search: 'in:archive' })).toEqual(expected);
    expect(await inbox({ search: 'is:archived', isArchived: false })).toEqual(
      those((thread) => thread.some((mail) => mail.isArchived) && !isArchived(thread)),
    );
  });

  test('shows unread threads, threads of a label in any case, of a participant and of a domain', async () => {
    expect(await inbox({ isUnread: true, isArchived: 'any' })).toEqual(
      those((thread) => thread.some((mail) => mail.type === 'received' && !mail.isRead)),
    );
    expect(await inbox({ label: ' URGENT ', isArchived: 'any' })).toEqual(
      those((thread) => thread.some((mail) => mail.labels.includes('Urgent'))),
    );
    const hasAddress = (end: string) => (thread: SearchedMail[]) =>
      thread.some((mail) => [mail.from, ...mail.to].some(({ address }) => address.endsWith(end)));
    expect(await inbox({ address: 'Ann@X.test', isArchived: 'any' })).toEqual(those(hasAddress('ann@x.test')));
    expect(await inbox({ domain: 'x.test', isArchived: 'any' })).toEqual(those(hasAddress('@x.test')));
    expect(await inbox({ label: 'no\u0000label' })).toEqual([]);
  });

  test('combines its filters with a search', async () => {
    const found = new Set(matchingIds(mails, 'hello', NOW).threads);
    const both = those(
      (thread) =>
        !isArchived(thread) && thread.some((mail) => mail.labels.includes('Urgent') && found.has(mail.threadId ?? '')),
    );
    expect(await inbox({ search: 'hello', label: 'urgent' })).toEqual(both);
    expect(await countInbox(context(), { search: 'hello', label: 'urgent' })).toBe(both.length);
  });
});

/** Others' mail, and the planner's knowledge of it: of a table that is half one user's it would read all. */
async function crowd(): Promise<void> {
  const { pool } = testDatabase.open(null);
  for (const table of ['thread', 'email', 'word_segment', 'word_block']) {
    const { rows } = await pool.query<{ columns: string }>(
      `select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
       where table_schema = current_schema and table_name = $1 and is_generated = 'NEVER'`,
      [table],
    );
    await pool.query(
      `insert into ${table} (${rows[0]?.columns}) select ${rows[0]?.columns} from (
         select (jsonb_populate_record(t, jsonb_build_object('workspace_id', 'usr_' || n))).*
         from ${table} t, generate_series(1, 20) n where t.workspace_id = 'usr_other'
       ) copy on conflict do nothing`,
    );
  }
  await pool.query('analyze');
}

test('no step of a search reads a whole table', async () => {
  const tables = `select relname, seq_scan::integer from pg_stat_user_tables
    where relname in ('email', 'email_content', 'word_block', 'thread', 'route') order by relname`;
  const scans = async () => (await actor.pool.query(tables)).rows;
  await crowd();
  await asWorkspace(gateway, USER, (transaction) => sql`select pg_stat_force_next_flush()`.execute(transaction));
  const before = await scans();
  await asWorkspace(gateway, USER, async (transaction) => {
    for (const search of SEARCHES) {
      const terms = parseSearch(search, NOW);
      await pageFoundEmails(transaction, USER, { terms, conditions: ANY }, FIRST, SMALL);
      await countFoundEmails(transaction, USER, { terms, conditions: ANY });
      await lists.pageInbox(transaction, USER, { terms, ...EVERY }, FIRST, SMALL);
      await lists.countInbox(transaction, USER, { terms, ...EVERY });
    }
    await sql`select pg_stat_force_next_flush()`.execute(transaction);
  });
  expect(await scans()).toEqual(before);
  // Such a scan would show.
  await asWorkspace(gateway, USER, async (transaction) => {
    await sql`set local enable_indexscan = off; set local enable_indexonlyscan = off; set local enable_bitmapscan = off`.execute(
      transaction,
    );
    await sql`select count(*) from email`.execute(transaction);
    await sql`select pg_stat_force_next_flush()`.execute(transaction);
  });
  expect(await scans()).not.toEqual(before);
});

describe('mail of another user is not found', () => {
  test('by its words', async () => {
    await storeMail(actor, 'usr_secret', [
      { ...(mails[0] as SearchedMail), id: 'em_secret', text: 'xylophone', html: null },
    ]);
    await assignThreads(testActorContext(actor), 'usr_secret', ['em_secret']);
    const query = { words: 'xylophone', timeRange: 'all' } as const;
    expect(await countEmails(context('usr_secret'), query)).toBe(1);
    for (const ask of [query, { ...query, words: 'xylophone -nothing' }]) {
      expect(await countEmails(context(), ask)).toBe(0);
      expect(await pageEmails(context(), ask, FIRST)).toEqual([]);
      expect(await inbox({ search: ask.words, isArchived: 'any' })).toEqual([]);
    }
  });

  test('by a function called with the id of another user', async () => {
    const terms = parseSearch('hello', NOW);
    const asked = await asWorkspace(gateway, 'usr_nobody', async (transaction) => [
      await pageFoundEmails(transaction, USER, { terms, conditions: ANY }, FIRST),
      await lists.pageInbox(transaction, USER, { terms, ...EVERY }, FIRST),
      await countFoundEmails(transaction, USER, { terms, conditions: ANY }),
      await lists.countInbox(transaction, USER, { terms, ...EVERY }),
    ]);
    expect(asked).toEqual([[], [], 0, 0]);
    const functions = `select (select count(*) from search_mail(q, p)) + (select count(*) from search_inbox(q, p)) + count_mail(q) + count_inbox(q) as found
      from (select row($1, '{}', null, null, null, null, null, '{}', '{}', false, null, null, null, null, null)::search_query as q,
        row(null, null, null, null, false, 10, 10, 10, 10)::search_page as p) x`;
    expect((await gateway.pool.query(functions, [USER])).rows).toEqual([{ found: 0 }]);
    const own = await asWorkspace(gateway, USER, (transaction) =>
      sql.raw(functions.replace('$1', `'${USER}'`)).execute(transaction),
    );
    expect(Number((own.rows[0] as { found: number }).found)).toBeGreaterThan(600);
  });
});

const FIRST = { after: null, before: null, isInverted: false, limit: 100 };

function inbox(query: InboxQuery): Promise<string[]> {
  return paged(
    (page) => pageInbox(context(), query, page),
    (thread) => ({ at: thread.lastMessageAt, id: thread.id }),
  );
}

interface Place {
  at: Date;
  id: string;
}

async function paged<T extends { id: string }>(
  ask: (page: { after: Place | null; before: Place | null; isInverted: boolean; limit: number }) => Promise<T[]>,
  readPlace: (item: T) => Place,
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: Place | null = null; ; ) {
    const page = await ask({ after, before: null, isInverted: false, limit: 97 });
    ids.push(...page.map((item) => item.id));
    const last = page.at(-1);
    if (page.length < 97 || last === undefined) break;
    after = readPlace(last);
  }
  const backward: string[] = [];
  for (let before: Place | null = null; ; ) {
    const page = await ask({ after: null, before, isInverted: true, limit: 71 });
    backward.push(...page.map((item) => item.id));
    const last = page.at(-1);
    if (page.length < 71 || last === undefined) break;
    before = readPlace(last);
  }
  expect(backward.toReversed()).toEqual(ids);
  return ids;
}
