import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ActorContext } from '../../../actors/actor.ts';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Row } from '../../../db/entities/tables.ts';
import { analyzeTables } from '../../../db/queries/upkeep/analyze-tables.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertEmails, type StoredMail } from '../../support/rows/email-rows.ts';
import {
  batches,
  canonicalPartition,
  partitionByDefinition,
  randomMail,
  seededRandom,
  shuffled,
} from '../../support/rows/thread-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let context: ActorContext;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
  context = testActorContext(database);
});
afterAll(() => testDatabase.drop());

test('threads in PostgreSQL are the components of the definition, with positions and rows that agree', async () => {
  for (let seed = 0; seed < 36; seed++) {
    const random = seededRandom(1_000 + seed);
    const workspaceId = user();
    const messages = randomMail(random, {
      count: 40,
      referringShare: [0, 0.2, 0.4][seed % 3] ?? 0,
      days: 40 + (seed % 4) * 80,
    });
    const mails = messages.map((message) => ({
      ...message,
      type: random() < 0.2 ? ('sent' as const) : ('received' as const),
      isRead: random() < 0.3,
      isArchived: random() < 0.3,
    }));
    for (const batch of batches(shuffled(mails, random), 12, random)) {
      await insertEmails(database, workspaceId, batch);
      await assignThreads(
        context,
        workspaceId,
        batch.map((mail) => mail.emailId),
      );
    }
    const emails = await listEmails(workspaceId);
    const threadById = new Map(emails.map((email) => [email.id, email.thread_id ?? '']));
    expect(canonicalPartition(threadById), `seed ${seed}`).toEqual(partitionByDefinition(messages));
    await expectConsistent(workspaceId);
  }
});

test('a reply, its parent and a bare Re: become one thread with reasons and positions', async () => {
  const workspaceId = user();
  await store(workspaceId, [
    mail('em_1', 0, { messageId: '<1@x.test>', subject: 'Rent for May', baseSubject: 'Rent for May' }),
    mail('em_2', 1, { inReplyTo: ['<1@x.test>'], subject: 'Re: Rent for May', baseSubject: 'Rent for May' }),
    mail('em_3', 2, { references: ['<1@x.test>'], subject: 'other words', baseSubject: 'other words' }),
    mail('em_4', 3, { subject: 'RE: rent for may', baseSubject: 'rent for may' }),
    mail('em_5', 4, { subject: 'Fwd: Rent for May', baseSubject: 'Rent for May' }),
  ]);
  const emails = await listEmails(workspaceId);
  expect(emails.map((email) => [email.id, email.thread_position, email.thread_reason])).toEqual([
    ['em_1', 0, 'new'],
    ['em_2', 1, 'header'],
    ['em_3', 2, 'references'],
    ['em_4', 3, 'subject'],
    ['em_5', 0, 'new'],
  ]);
  const [thread] = await listThreads(workspaceId);
  expect(thread).toMatchObject({
    root_message_id: '<1@x.test>',
    normalized_subject: 'Rent for May',
    participant_emails: ['ann@a.test', 'me@home.test'],
    participant_names: ['Ann <ann@a.test>', 'Me <me@home.test>'],
    search_text: 'rent for may\nann@a.test\nme@home.test',
    message_count: 4,
    latest_email_id: 'em_4',
    created_at: day(0),
    last_message_at: day(3),
  });
});

test('a plain message that comes after a bare Re: near it joins its thread', async () => {
  const workspaceId = user();
  await store(workspaceId, [mail('em_2', 2, { subject: 'Re: rent', messageId: '<2@x.test>' })]);
  await store(workspaceId, [
    mail('em_1', 1, { messageId: '<1@x.test>' }),
    mail('em_3', 40, { messageId: '<3@x.test>' }),
  ]);
  expect(
    (await listEmails(workspaceId)).map((email) => [email.id, email.thread_position, email.thread_reason]),
  ).toEqual([
    ['em_1', 0, 'subject'],
    ['em_2', 1, 'new'],
    ['em_3', 0, 'new'],
  ]);
  await expectConsistent(workspaceId);
});

test.each([
  ['300 letters', `<${'a'.repeat(300)}@x.test>`],
  ['200 characters outside the basic plane', `<${'\u{1f511}'.repeat(200)}@x.test>`],
  ['130 of two bytes each', `<${'\u00e4'.repeat(130)}@x.test>`],
])('a reply in a later batch finds its parent by a msg-id of %s', async (_, messageId) => {
  const workspaceId = user();
  await store(workspaceId, [mail('em_1', 1, { messageId })]);
  await store(workspaceId, [mail('em_2', 2, { inReplyTo: [messageId], subject: 'other', baseSubject: 'other' })]);
  expect(await listThreads(workspaceId)).toMatchObject([{ message_count: 2 }]);
});

test('a new conversation takes three round trips, and so does a reply', async () => {
  const workspaceId = user();
  await store(workspaceId, [mail('em_1', 1, {})]);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const countTrips = async (stored: StoredMail) => {
    await insertEmails(database, workspaceId, [stored]);
    query.mockClear();
    await assignThreads(context, workspaceId, [stored.emailId]);
    return query.mock.calls.length;
  };
  const trips = [
    await countTrips(mail('em_2', 2, { subject: 'keys', baseSubject: 'keys' })),
    await countTrips(mail('em_3', 3, { inReplyTo: ['<em_1@mail.test>'] })),
  ];
  query.mockRestore();
  expect(trips).toEqual([3, 3]);
  expect((await listThreads(workspaceId)).map((thread) => thread.message_count)).toEqual([2, 1]);
});

test('a late parent makes one thread of two; the older stays and the other id leads to it forever', async () => {
  const workspaceId = user();
  await store(workspaceId, [mail('em_2', 2, { references: ['<b@x.test>'], subject: 'b', baseSubject: 'b' })]);
  await store(workspaceId, [mail('em_1', 1, { inReplyTo: ['<a@x.test>'], subject: 'a', baseSubject: 'a' })]);
  await store(workspaceId, [mail('em_5', 5, { inReplyTo: ['<c@x.test>'], subject: 'c', baseSubject: 'c' })]);
  const [older, younger, third] = await listThreads(workspaceId);
  await store(workspaceId, [mail('em_3', 3, { messageId: '<a@x.test>', references: ['<b@x.test>'] })]);
  expect(await listThreads(workspaceId)).toMatchObject([{ id: older?.id, message_count: 3 }, { id: third?.id }]);
  expect(await listAliases(workspaceId)).toEqual([[younger?.id, older?.id]]);

  // An older thread still: the first survivor ends too, and the first alias leads to the last.
  await store(workspaceId, [mail('em_0', 0, { subject: 'd', baseSubject: 'd', messageId: '<d@x.test>' })]);
  await store(workspaceId, [mail('em_6', 6, { references: ['<d@x.test>', '<a@x.test>', '<c@x.test>'] })]);
  const [thread, ...others] = await listThreads(workspaceId);
  expect(others).toEqual([]);
  expect(thread).toMatchObject({ normalized_subject: 'd', root_message_id: '<d@x.test>', latest_email_id: 'em_6' });
  expect(await listAliases(workspaceId)).toEqual(
    [older?.id, younger?.id, third?.id].map((id) => [id, thread?.id]).toSorted(byFirst),
  );
  expect((await listEmails(workspaceId)).map((email) => [email.id, email.thread_position])).toEqual(
    ['em_0', 'em_1', 'em_2', 'em_3', 'em_5', 'em_6'].map((id, position) => [id, position]),
  );
  await expectConsistent(workspaceId);
});

test('a merge is in the event feed: the alias and the thread, before the message that caused it', async () => {
  const workspaceId = user();
  await store(workspaceId, [
    mail('em_1', 1, { inReplyTo: ['<a@x.test>'] }),
    mail('em_2', 2, { inReplyTo: ['<b@x.test>'] }),
  ]);
  const [stays, ends] = await listThreads(workspaceId);
  await store(workspaceId, [mail('em_3', 3, { references: ['<a@x.test>', '<b@x.test>'] })]);
  const { rows } = await database.pool.query<{
    kind: string;
    email_id: string | null;
    thread_id: string;
    data: unknown;
  }>(`select kind, email_id, thread_id, data from event where workspace_id = $1 order by seq offset 2`, [workspaceId]);
  expect(rows).toEqual([
    { kind: 'thread.merged', email_id: null, thread_id: stays?.id, data: { alias: ends?.id, thread: stays?.id } },
    { kind: 'thread.renumbered', email_id: null, thread_id: stays?.id, data: {} },
    {
      kind: 'email.threaded',
      email_id: 'em_3',
      thread_id: stays?.id,
      data: { position: 2, reason: 'references', type: 'received' },
    },
  ]);
});

test('20 replies to one thread handled by two actors at once take positions 0 to 19 without gap or repeat', async () => {
  const workspaceId = user();
  const replies = Array.from({ length: 20 }, (_, index) =>
    mail(`em_${index.toString().padStart(2, '0')}`, index, {
      messageId: `<${index}@x.test>`,
      inReplyTo: ['<root@x.test>'],
    }),
  );
  await insertEmails(database, workspaceId, replies);
  const other = testActorContext(testDatabase.open('postroom_actor'));
  const ids = shuffled(replies, seededRandom(20)).map((reply) => reply.emailId);
  const counts = await Promise.all(
    ids.map((id, index) =>
      assignThreads(index % 2 === 0 ? context : other, workspaceId, [id, ids[(index + 7) % 20] ?? id]),
    ),
  );
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
  const emails = await listEmails(workspaceId);
  expect(new Set(emails.map((email) => email.thread_id)).size).toBe(1);
  expect(emails.map((email) => email.thread_position)).toEqual(replies.map((_, index) => index));
  await expectConsistent(workspaceId);
});

test('the same Message-ID and references with two users make two threads', async () => {
  const [one, other] = [user(), user()];
  for (const workspaceId of [one, other]) await store(workspaceId, [mail('em_1', 0, { messageId: '<same@x.test>' })]);
  await store(other, [mail('em_2', 1, { inReplyTo: ['<same@x.test>'] })]);
  const [first] = await listThreads(one);
  const [second] = await listThreads(other);
  expect(first?.message_count).toBe(1);
  expect(second?.message_count).toBe(2);
  expect(first?.id).not.toBe(second?.id);
});

test('two messages with one Message-ID, and one mail to two own addresses, count as two of one thread', async () => {
  const workspaceId = user();
  await store(workspaceId, [
    mail('em_1', 0, { messageId: '<same@x.test>' }),
    mail('em_2', 0, { messageId: '<same@x.test>', ownAddress: 'us@home.test' }),
    mail('em_3', 1, { messageId: '<same@x.test>', subject: 'other body', baseSubject: 'other body' }),
  ]);
  const emails = await listEmails(workspaceId);
  expect(emails.map((email) => email.thread_position)).toEqual([0, 1, 2]);
  expect(await listThreads(workspaceId)).toMatchObject([{ message_count: 3 }]);
});

test('ids without @ and reference loops have the expected threads', async () => {
  const workspaceId = user();
  await store(workspaceId, [
    mail('em_1', 0, { messageId: '<1@x.test>', inReplyTo: ['<2@x.test>'], subject: 'p', baseSubject: 'p' }),
    mail('em_2', 1, {
      messageId: '<2@x.test>',
      inReplyTo: ['<1@x.test>', '<2@x.test>'],
      subject: 'q',
      baseSubject: 'q',
    }),
    mail('em_3', 2, { messageId: '<3@x.test>', inReplyTo: ['<yes>'], subject: 'r', baseSubject: 'r' }),
    mail('em_4', 3, { messageId: '<4@x.test>', inReplyTo: ['<yes>'], subject: 's', baseSubject: 's' }),
  ]);
  expect((await listThreads(workspaceId)).map((thread) => thread.message_count)).toEqual([2, 1, 1]);
});

test('a message received before threaded ones takes its position among them', async () => {
  const workspaceId = user();
  const reply = (id: string, days: number) =>
    mail(id, days, { inReplyTo: ['<root@x.test>'], subject: `Re: ${id}`, baseSubject: id });
  await store(workspaceId, [reply('em_1', 1), reply('em_3', 3), reply('em_4', 4)]);
  await store(workspaceId, [reply('em_2', 2), reply('em_5', 5)]);
  await store(workspaceId, [reply('em_0', 0)]);
  const emails = await listEmails(workspaceId);
  expect(emails.map((email) => [email.id, email.thread_position])).toEqual(
    [0, 1, 2, 3, 4, 5].map((position) => [`em_${position}`, position]),
  );
  expect(await listThreads(workspaceId)).toMatchObject([
    { normalized_subject: 'em_0', created_at: day(0), latest_email_id: 'em_5' },
  ]);
});

test('a thread counts messages, received, unread and archived ones, through appends and merges', async () => {
  const workspaceId = user();
  await store(workspaceId, [
    mail('em_1', 1, { inReplyTo: ['<a@x.test>'], isRead: true }),
    mail('em_2', 2, { inReplyTo: ['<a@x.test>'], type: 'sent', ownAddress: 'me@home.test' }),
    mail('em_3', 3, { inReplyTo: ['<b@x.test>'], isArchived: true }),
  ]);
  await store(workspaceId, [mail('em_4', 4, { inReplyTo: ['<a@x.test>'] })]);
  await store(workspaceId, [
    mail('em_5', 5, { references: ['<a@x.test>', '<b@x.test>'], isRead: true, isArchived: true }),
  ]);
  expect(await listThreads(workspaceId)).toMatchObject([
    { message_count: 5, received_count: 4, unread_count: 2, archived_count: 2 },
  ]);
});

test('mail marked as read while its thread ends keeps the counters exact', async () => {
  const workspaceId = user();
  await store(workspaceId, [
    mail('em_1', 1, { inReplyTo: ['<a@x.test>'] }),
    mail('em_2', 2, { inReplyTo: ['<b@x.test>'] }),
  ]);
  const [, ends] = await listThreads(workspaceId);
  await insertEmails(database, workspaceId, [mail('em_3', 3, { references: ['<a@x.test>', '<b@x.test>'] })]);
  const reader = await database.pool.connect();
  await reader.query('begin');
  await reader.query(`update email set is_read = true where workspace_id = $1 and id = 'em_2'`, [workspaceId]);
  const merging = assignThreads(context, workspaceId, ['em_3']);
  await untilWaiting();
  await reader.query(`update thread set unread_count = unread_count - 1 where workspace_id = $1 and id = $2`, [
    workspaceId,
    ends?.id,
  ]);
  await reader.query('commit');
  reader.release();
  await merging;
  expect(await listThreads(workspaceId)).toMatchObject([{ message_count: 3, unread_count: 2 }]);
});

test('threading an email again changes nothing, and scheduled mail waits', async () => {
  const workspaceId = user();
  await store(workspaceId, [mail('em_1', 0, {}), mail('em_2', 1, { type: 'scheduled' })]);
  expect(await assignThreads(context, workspaceId, ['em_1', 'em_2', 'em_unknown'])).toBe(0);
  expect((await listEmails(workspaceId)).map((email) => email.thread_position)).toEqual([0, null]);
  const { rows } = await database.pool.query(`select 1 from event where workspace_id = $1`, [workspaceId]);
  expect(rows).toHaveLength(1);
});

test('a bare reply joins thousands of notices with its subject, and later ones cost as little as any', async () => {
  const workspaceId = user();
  const notices = Array.from({ length: 2_000 }, (_, index) =>
    mail(`em_${index.toString().padStart(5, '0')}`, index / 100, { messageId: `<${index}@x.test>` }),
  );
  await insertEmails(database, workspaceId, notices);
  for (let at = 0; at < notices.length; at += 50) {
    if (at % 500 === 0) await analyzeTables(database);
    await assignThreads(
      context,
      workspaceId,
      notices.slice(at, at + 50).map((notice) => notice.emailId),
    );
  }
  expect(await listThreads(workspaceId)).toHaveLength(2_000);
  await store(workspaceId, [mail('em_x', 30, { subject: 'Re: rent', messageId: '<x@x.test>' })]);
  expect(await listThreads(workspaceId)).toMatchObject([{ message_count: 2_001 }]);
  await store(workspaceId, [mail('em_y', 31, { subject: 'Re: rent', messageId: '<y@x.test>' })]);
  await expectConsistent(workspaceId);
  const { rows } = await database.pool.query(`select 1 from thread_alias where workspace_id = $1`, [workspaceId]);
  expect(rows).toHaveLength(1_999);
});

/** Threads, emails and keys of a user say the same. */
async function expectConsistent(workspaceId: string): Promise<void> {
  const emails = await listEmails(workspaceId);
  const threads = await listThreads(workspaceId);
  const byThread = Map.groupBy(emails, (email) => email.thread_id);
  expect(new Set(threads.map((thread) => thread.id))).toEqual(new Set(byThread.keys()));
  for (const thread of threads) {
    const members = byThread.get(thread.id) ?? [];
    const received = members.filter((email) => email.type === 'received');
    expect(members.map((email) => email.thread_position)).toEqual(members.map((_, index) => index));
    expect(thread).toMatchObject({
      created_at: members[0]?.created_at,
      root_message_id: members[0]?.message_id,
      normalized_subject: members[0]?.base_subject,
      latest_email_id: members.at(-1)?.id,
      last_message_at: members.at(-1)?.created_at,
      message_count: members.length,
      received_count: received.length,
      unread_count: received.filter((email) => !email.is_read).length,
      archived_count: received.filter((email) => email.is_archived).length,
    });
    const addresses = members.flatMap((email) => [
      email.from_address.toLowerCase(),
      ...email.to_addresses.map((a) => a.toLowerCase()),
      email.own_address,
    ]);
    expect([...thread.participant_emails].toSorted()).toEqual([...new Set(addresses)].toSorted());
  }
  const { rows } = await database.pool.query(
    `select thread_id from thread_message_id where workspace_id = $1 union select thread_id from thread_subject where workspace_id = $1
     union select thread_id from thread_alias where workspace_id = $1 except select id from thread where workspace_id = $1`,
    [workspaceId],
  );
  expect(rows).toEqual([]);
}

async function store(workspaceId: string, mails: StoredMail[]): Promise<void> {
  await insertEmails(database, workspaceId, mails);
  await assignThreads(
    context,
    workspaceId,
    mails.map((stored) => stored.emailId),
  );
}

/** Until some connection waits for a row that another holds. */
async function untilWaiting(): Promise<void> {
  for (;;) {
    // Only the owner sees what other connections wait for.
    const { rows } = await owner.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
  }
}

async function listEmails(workspaceId: string): Promise<Row<'email'>[]> {
  const { rows } = await database.pool.query<Row<'email'>>(
    `select * from email where workspace_id = $1 order by created_at, id`,
    [workspaceId],
  );
  return rows;
}

async function listThreads(workspaceId: string): Promise<Row<'thread'>[]> {
  const { rows } = await database.pool.query<Row<'thread'>>(
    `select * from thread where workspace_id = $1 order by created_at, id`,
    [workspaceId],
  );
  return rows;
}

async function listAliases(workspaceId: string): Promise<(string | undefined)[][]> {
  const { rows } = await database.pool.query<{ alias_id: string; thread_id: string }>(
    `select alias_id, thread_id from thread_alias where workspace_id = $1 order by alias_id collate "C"`,
    [workspaceId],
  );
  return rows.map((row) => [row.alias_id, row.thread_id]);
}

function byFirst([a = '']: (string | undefined)[], [b = '']: (string | undefined)[]): number {
  return a < b ? -1 : 1;
}

function user(): string {
  return `usr_${randomBytes(8).toString('hex')}`;
}

function day(days: number): Date {
  return new Date(Date.UTC(2026, 5, 1) + days * 24 * 60 * 60 * 1000);
}

/** A received mail from Ann, so many days after the first of June. */
function mail(emailId: string, days: number, fields: Partial<StoredMail>): StoredMail {
  return {
    emailId,
    messageId: `<${emailId}@mail.test>`,
    inReplyTo: [],
    references: [],
    subject: 'rent',
    baseSubject: 'rent',
    ownAddress: 'me@home.test',
    addresses: ['ann@a.test', 'me@home.test'],
    createdAt: day(days),
    date: day(days),
    ...fields,
  };
}
