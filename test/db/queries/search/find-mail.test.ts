import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildWords } from '../../../../actors/scheduling/build-words.ts';
import { assignThreads } from '../../../../actors/threading/assign-thread.ts';
import { parseSearch } from '../../../../core/search/search-query.ts';
import type { KeysetPage } from '../../../../core/shared/page.ts';
import type { Database } from '../../../../db/connection/database.ts';
import { asWorkspace, inTransaction } from '../../../../db/connection/transaction.ts';
import * as find from '../../../../db/queries/search/find-mail.ts';
import type { SearchConditions } from '../../../../db/queries/search/search-sql.ts';
import { noteChanged, noteGone } from '../../../../db/queries/search/unindexed-email.ts';
import { lockMessages, markTrashed, trashMessages } from '../../../../db/queries/threads/thread-trash.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import {
  type ReferenceConditions,
  readSearchReference,
  type SearchReference,
} from '../../../support/rows/search-reference.ts';
import { someMail, storeMail } from '../../../support/rows/searched-mail.ts';
import { seededRandom } from '../../../support/rows/thread-mail.ts';
import { testActorContext } from '../../../support/stages/actor-context.ts';

const USER = 'usr_both';
const NOW = new Date('2026-07-01T00:00:00Z');
const SMALL: find.FindBounds = { near: 15, few: 40, first: 4, messages: 3, instants: 5 };
const LIMITS = { newCount: 1, newSeconds: 0, changedCount: 1e6, goneCount: 1e6, changedSeconds: 1e6 };

let testDatabase: TestDatabase;
let actor: Database;
let gateway: Database;
const random = seededRandom(21);
let reference: SearchReference;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  gateway = testDatabase.open('postroom_gateway');
  const mails = someMail(random, 420);
  for (const [from, to] of [
    [0, 150],
    [150, 270],
    [270, 300],
    [300, 320],
  ] as const) {
    await storeMail(actor, USER, mails.slice(from, to));
    await actor.pool.query(`update unindexed_email set state = 'new'`);
    await build(LIMITS);
  }
  await storeMail(actor, USER, mails.slice(320));
  await actor.pool.query(`update unindexed_email set state = 'new'`);
  await assignThreads(
    testActorContext(actor),
    USER,
    mails.map(({ id }) => id),
  );
  const labelled = await actor.pool.query<{ id: string }>('select id from thread where workspace_id = $1 order by id', [
    USER,
  ]);
  for (const { id } of labelled.rows) {
    const given = ['Urgent', 'to do'].filter(() => random() < 0.2);
    await actor.pool.query('update thread set labels = $3, label_keys = $4 where workspace_id = $1 and id = $2', [
      USER,
      id,
      given,
      given.map((label) => label.toLowerCase()),
    ]);
  }
  const some = (share: number) => mails.filter(() => random() < share).map(({ id }) => id);
  const changed = some(0.05);
  await actor.pool.query(
    `update email_content set text_body = 'changed text hello rare', html_body = null where workspace_id = $1 and email_id = any ($2)`,
    [USER, changed],
  );
  await noteChanged(actor.pool, USER, changed);
  const gone = some(0.05);
  await noteGone(actor.pool, USER, gone);
  for (const [table, column] of [
    ['email', 'id'],
    ['email_content', 'email_id'],
  ])
    await actor.pool.query(`delete from ${table} where workspace_id = $1 and ${column} = any ($2)`, [USER, gone]);
  const trashed = labelled.rows.map(({ id }) => id).filter(() => random() < 0.1);
  await inTransaction(actor, async (client) => {
    await lockMessages(client, USER, trashed, 'lists');
    await trashMessages(client, USER, trashed);
    await markTrashed(
      client,
      USER,
      trashed.map((id) => ({ id, from: null })),
    );
  });
  const isChanged = new Set(changed);
  const unchanged = mails.filter(({ id, html }) => html !== null && !isChanged.has(id));
  reference = await readSearchReference(actor, USER, new Map(unchanged.map(({ id, visible }) => [id, visible])));
});
afterAll(() => testDatabase.drop());

describe('a search finds the mail that a comparison of every email with every condition finds', () => {
  test('with several segments, changed and removed mail, and a tail', async () => {
    expect(await readState()).toEqual({ segments: 4, states: ['changed', 'gone', 'new'] });
    await compareMany(60);
  });

  test('after a rewrite', async () => {
    await build({ ...LIMITS, newCount: 1e6, newSeconds: 1e6, changedCount: 1, goneCount: 1 });
    expect(await readState()).toMatchObject({ states: ['new'] });
    await compareMany(40);
  });

  test('after a complete build and merge', async () => {
    for (let count = 0; count < 12; count++) await build(LIMITS);
    expect(await readState()).toMatchObject({ states: [] });
    await compareMany(40);
  });
});

async function compareMany(count: number): Promise<void> {
  let found = 0;
  for (let at = 0; at < count; at++) found += await compare(someSearch(), someConditions());
  expect(found).toBeGreaterThan(count);
}

async function compare(
  text: string,
  conditions: { emails: ReferenceConditions; threads: ReferenceConditions },
): Promise<number> {
  const terms = parseSearch(text, NOW);
  const about = JSON.stringify({ text, conditions });
  const inOrder = <T>(rows: T[], isInverted: boolean) => (isInverted ? rows.toReversed() : rows);
  return asWorkspace(gateway, USER, async (transaction) => {
    const isInverted = random() < 0.5;
    const emails = { workspaceId: USER, terms, conditions: withSql(conditions.emails) };
    const wanted = inOrder(reference.emails(terms, conditions.emails), isInverted);
    const wantedIds = wanted.map(({ id }) => id);
    const size = pageSize(wanted.length);
    expect(
      await paged(isInverted, size, wanted, (page) => find.findMatchingEmails(transaction, emails, page, SMALL)),
      about,
    ).toEqual(wantedIds);
    expect(
      await find.findMatchingEmails(transaction, emails, { after: null, before: null, isInverted, limit: 1e6 }),
      about,
    ).toEqual(wantedIds);
    expect(await find.countMatchingEmails(transaction, emails), about).toBe(wanted.length);

    const threads = { workspaceId: USER, terms, conditions: withSql(conditions.threads) };
    const wantedThreads = inOrder(reference.threads(terms, conditions.threads), isInverted);
    const threadSize = pageSize(wantedThreads.length);
    for (const bounds of [SMALL, { ...SMALL, few: 1e5 }, find.FIND_BOUNDS]) {
      const pages = paged(isInverted, threadSize, wantedThreads, (page) =>
        find.findMatchingThreads(transaction, threads, page, bounds),
      );
      expect(await pages, `${about} ${JSON.stringify(bounds)}`).toEqual(wantedThreads.map(({ id }) => id));
    }
    expect(await find.countMatchingThreads(transaction, threads), about).toBe(wantedThreads.length);
    return wanted.length;
  });
}

function withSql({
  ownAddress,
  ownDomain,
  participant,
  participantDomain,
  ...conditions
}: ReferenceConditions): SearchConditions {
  const value = (text: string | null | undefined) => (text == null ? null : sql<string>`${text}::text`);
  return {
    ...conditions,
    ownAddress: value(ownAddress),
    ownDomain: value(ownDomain),
    participant: value(participant),
    participantDomain: value(participantDomain),
  };
}

/** So that there are one to four pages. */
function pageSize(count: number): number {
  return Math.max(1, Math.ceil((count + 1) / (1 + Math.floor(random() * 4))));
}

async function paged(
  isInverted: boolean,
  limit: number,
  wanted: readonly { id: string; at: Date }[],
  read: (page: KeysetPage) => Promise<string[]>,
): Promise<string[]> {
  const places = new Map(wanted.map(({ id, at }) => [id, at]));
  const found: string[] = [];
  let page: KeysetPage = { after: null, before: null, isInverted, limit };
  for (;;) {
    const ids = await read(page);
    expect(ids.length).toBeLessThanOrEqual(limit);
    found.push(...ids);
    const last = ids.at(-1);
    if (last === undefined || ids.length < limit) return found;
    page = { ...page, [isInverted ? 'before' : 'after']: { id: last, at: places.get(last) ?? new Date(0) } };
  }
}

function pick<T>(items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

function someSearch(): string {
  const words = [
    'hello',
    'inv',
    'invoice',
    'über',
    '東京',
    '京',
    'привет',
    'world',
    'rare',
    'everywhere',
    'zzz',
    'visibleword',
    'changed',
    'e',
    'a',
  ] as const;
  const word = () =>
    pick<string>([
      pick(words),
      pick(words),
      `"${pick(words)}"`,
      `"${pick(words)} ${pick(words)}"`,
      '"hello world"',
      '"the invoice of"',
      'ann@x.test',
      'from:ann',
      'from:ann@x.test',
      'from:"Ann Lee"',
      'to:bob',
      'to:own@home.test',
      'to:y.test',
      'subject:rent',
      'subject:"rent for mar"',
      'domain:x.test',
      'domain:home.test',
      'has:attachment',
    ]);
  const filters = [
    'label:urgent',
    'label:"to do"',
    'before:2026-03-01',
    'after:2026-03-01',
    'after:2026-02-01',
    'is:unread',
    'is:read',
    'is:archived',
    'in:inbox',
    'in:sent',
    'in:received',
    'in:scheduled',
    'in:trash',
  ] as const;
  const terms = Array.from({ length: 1 + Math.floor(random() * 2.5) }, () => `${random() < 0.25 ? '-' : ''}${word()}`);
  if (random() < 0.4) terms.push(`${random() < 0.25 ? '-' : ''}${pick(filters)}`);
  if (random() < 0.1) terms.push(pick(filters));
  return terms.join(' ');
}

function someConditions(): { emails: ReferenceConditions; threads: ReferenceConditions } {
  const maybe = <T>(share: number, value: T) => (random() < share ? value : null);
  return {
    emails: {
      tests: maybe(0.15, [pick(['received', 'sent', 'marked read', '!marked archived', 'held'])]) ?? [],
      status: maybe(0.1, 'delivered'),
      since: maybe(0.1, new Date('2026-04-01T00:00:00Z')),
      ownAddress: maybe(0.1, 'own@home.test'),
      ownDomain: maybe(0.1, 'home.test'),
      partyAddress: maybe(0.1, 'ann@x.test'),
    },
    threads: {
      isUnread: random() < 0.1,
      isArchived: maybe(0.2, random() < 0.5),
      participant: maybe(0.1, 'ann@x.test'),
      participantDomain: maybe(0.1, 'y.test'),
    },
  };
}

async function build(limits: typeof LIMITS): Promise<void> {
  await buildWords(testActorContext(actor), { limits }, { isStopping: () => false });
}

async function readState(): Promise<{ segments: number; states: string[] }> {
  const { rows } = await actor.pool.query<{ segments: number; states: string[] }>(
    `select (select count(*)::integer from word_segment where retired_at is null) as segments,
       array(select distinct state from unindexed_email order by state) as states`,
  );
  return rows[0] ?? { segments: -1, states: [] };
}
