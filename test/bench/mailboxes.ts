import { readFileSync } from 'node:fs';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { migrate } from '../../db/migrate.ts';
import type { OperationContext } from '../../operations/context.ts';
import { countEmails, pageEmails } from '../../operations/emails/emails.ts';
import { UNBOUNDED_ROOM } from '../../operations/response-room.ts';
import {
  listThreads,
  pageInbox,
  pageThreadEmails,
  readThread,
  type ThreadQuery,
} from '../../operations/threads/threads.ts';
import { databaseUrl, loginAs, onServer } from '../support/cluster/cluster.ts';
import { fillLargeMailbox, largeMailbox, largeMailboxWords } from '../support/rows/large-mailbox.ts';
import { fillLargeMailboxWords, leaveTail } from '../support/rows/large-mailbox-words.ts';

export const USER = 'usr_bench';
/** All searches are made at this time, shortly after the last mail. */
const NOW = new Date('2026-10-31T12:00:00Z');
/** The page that the dashboard opens a thread with, and one more, which shows whether there are others. */
const NEWEST_MESSAGES = { after: null, before: null, isInverted: true, limit: 51 };
/** A page of the inbox, and one more. */
const FIRST_PAGE = { after: null, before: null, isInverted: false, limit: 26 };

/** One user's mailbox of one size, in a database of its own. Each pool has one connection, whose CPU time can be read. */
export interface Mailbox {
  count: number;
  actor: Database;
  gateway: Database;
  /** of the same role as `actor`, for what is not counted */
  writer: Database;
  threadIds: string[];
}

/** Opens the mailbox of this size on the server. Fills it first, unless an earlier run did. */
export async function openMailbox(clusterUrl: string, count: number): Promise<Mailbox> {
  const name = `mailbox_${count}`;
  const url = databaseUrl(clusterUrl, name);
  const startedAt = performance.now();
  const admin = open(clusterUrl, null);
  const { rowCount } = await admin.pool.query('select from pg_database where datname = $1', [name]);
  await admin.close();
  if (rowCount === 0) {
    await onServer(clusterUrl, `create database ${name}`);
    await migrate(url);
    await fillLargeMailbox(url, USER, count);
  }
  const owner = open(url, null);
  const { rowCount: isFilled } = await owner.pool.query('select from word_segment limit 1');
  if (isFilled === 0) await fillLargeMailboxWords(url, USER);
  await leaveTail(owner, USER);
  const { rows } = await owner.pool.query<{ id: string }>('select id from thread order by random() limit 20000');
  const { rows: sizes } = await owner.pool.query<{ size: string; threads: number; most: number }>(
    `select pg_size_pretty(pg_database_size(current_database())) as size, count(*) as threads, max(message_count) as most from thread`,
  );
  await owner.close();
  console.log(
    `${count} messages, ready in ${Math.round((performance.now() - startedAt) / 1000)} s:`,
    JSON.stringify(sizes[0]),
  );
  const openAs = async (role: 'postroom_actor' | 'postroom_gateway') => open(await loginAs(url, role), role);
  return {
    count,
    actor: await openAs('postroom_actor'),
    gateway: await openAs('postroom_gateway'),
    writer: await openAs('postroom_actor'),
    threadIds: rows.map((row) => row.id),
  };
}

function open(url: string, role: 'postroom_actor' | 'postroom_gateway' | null): Database {
  const database = openDatabase({
    url,
    role,
    poolSize: 1,
    applicationName: 'bench',
    onError: () => undefined,
    statementTimeoutMs: null,
  });
  // Its CPU time is read from the process that serves it.
  database.pool.options.idleTimeoutMillis = 0;
  return database;
}

/** Returns a function that reads the CPU time that the server has used for the pool's only connection; milliseconds. */
export async function cpuClock({ pool }: Database): Promise<() => number> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const file = `/proc/${rows[0]?.pid}/schedstat`;
  return () => Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6;
}

/** An operation on a mailbox. */
export interface Reading {
  /** names its row in docs/benchmarks.json */
  id: string;
  work: string;
  run: (mailbox: Mailbox, random: () => number) => Promise<unknown>;
  /** before each run, not counted */
  prepare?: (mailbox: Mailbox, random: () => number) => Promise<unknown>;
  /** this many times as many operations as of others, for those that take long */
  share?: number;
}

export const readings: readonly Reading[] = [
  { id: 'list', work: 'list of threads, first page of 25', run: (mailbox) => list(mailbox, {}, null) },
  {
    id: 'list-behind',
    work: 'list of threads, 25 behind any',
    run: (mailbox, random) => list(mailbox, {}, anyThread(mailbox, random)),
  },
  {
    id: 'list-100',
    work: 'list of threads, 100 behind any',
    run: (mailbox, random) => list(mailbox, {}, anyThread(mailbox, random), 100),
  },
  {
    id: 'unread',
    work: 'list of unread threads, 25 behind any',
    run: (mailbox, random) => list(mailbox, { isUnread: true }, anyThread(mailbox, random)),
  },
  {
    id: 'person',
    work: 'list of threads with one person, 25',
    run: (mailbox, random) => list(mailbox, { address: `person${Math.floor(random() * 5000)}@corp7.test` }, null),
  },
  {
    id: 'own-address',
    work: 'list of threads of one of 40 addresses, 25',
    run: (mailbox) => list(mailbox, { address: largeMailbox.ownAddress }, null),
  },
  {
    id: 'substring',
    work: 'list of threads by a text that is in none',
    run: (mailbox, random) => list(mailbox, { search: Math.floor(random() * 2 ** 32).toString(16) }, null),
  },
  {
    id: 'open',
    work: 'open any thread with its messages (REST)',
    run: (mailbox, random) => readThread(makeContext(mailbox), anyThread(mailbox, random)),
  },
  {
    id: 'open-long',
    work: 'open the thread of 1 % of the mail, newest 50',
    run: (mailbox) => pageThreadEmails(makeContext(mailbox), [largeMailbox.longThreadId], NEWEST_MESSAGES),
  },
  ...(
    [
      ['rare', 'a word of 3 messages', () => largeMailboxWords.rare],
      ['thousandth', 'a word of a thousandth', () => largeMailboxWords.ofThousand],
      ['every', 'a word of every message', () => largeMailboxWords.every],
      [
        'never-met',
        'two common words that are never together',
        () => `${largeMailboxWords.ofTen} ${largeMailboxWords.former}`,
      ],
      ['sender', 'a sender and an ordinary word', (random) => `from:person${Math.floor(random() * 5000)} hello`],
    ] as const satisfies [string, string, (random: () => number) => string][]
  ).flatMap(([id, words, text]): Reading[] => [
    {
      id: `emails-${id}`,
      work: `search of emails for ${words}`,
      run: (mailbox, random) => pageEmails(makeContext(mailbox), { words: text(random) }, FIRST_PAGE),
      share: 0.1,
    },
    {
      id: `inbox-${id}`,
      work: `search of threads for ${words}`,
      run: (mailbox, random) => pageInbox(makeContext(mailbox), { search: text(random) }, FIRST_PAGE),
      share: 0.1,
    },
  ]),
  {
    id: 'inbox-notices',
    work: 'search of threads for a sender of a tenth of the mail',
    run: (mailbox) => pageInbox(makeContext(mailbox), { search: 'from:noreply' }, FIRST_PAGE),
    share: 0.1,
  },
  ...(['all', '90d'] as const).map((timeRange) => ({
    id: `total-${timeRange}`,
    work: `total of emails, ${timeRange === 'all' ? 'all time' : '90 days'}`,
    run: (mailbox: Mailbox) => countEmails(makeContext(mailbox), { timeRange }),
    share: 0.1,
  })),
];

function list(mailbox: Mailbox, query: ThreadQuery, cursor: string | null, limit = 25): Promise<unknown> {
  return listThreads(makeContext(mailbox), query, { limit, cursor });
}

/** Reading needs no more of the context than this. */
export function makeContext(mailbox: Mailbox): OperationContext {
  return { database: mailbox.gateway, workspaceId: USER, room: UNBOUNDED_ROOM, now: () => NOW } as OperationContext;
}

function anyThread(mailbox: Mailbox, random: () => number): string {
  return mailbox.threadIds[Math.floor(random() * mailbox.threadIds.length)] ?? '';
}
