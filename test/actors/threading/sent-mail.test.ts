import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ActorContext } from '../../../actors/actor.ts';
import { RELEASE_BATCH, releaseDue } from '../../../actors/scheduling/release-due.ts';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import type { Database } from '../../../db/connection/database.ts';
import { takeUnroutedSql } from '../../../db/queries/routing/delivery-route.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertEmails, type StoredMail } from '../../support/rows/email-rows.ts';
import { insertScheduled } from '../../support/rows/outgoing-rows.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const OWN = 'me@own.test';
const WEEK_MS = 7 * 86_400_000;

let testDatabase: TestDatabase;
let database: Database;
let context: ActorContext;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  context = testActorContext(database);
});
afterAll(() => testDatabase.drop());

test('mail released a week after its creation is last in its thread, and has no thread until then', async () => {
  const workspaceId = user();
  const weekAgo = Date.now() - WEEK_MS;
  const [later] = await insertScheduled(database, [
    { workspaceId, createdAt: new Date(weekAgo), inSeconds: -1, from: OWN, inReplyTo: ['<root@x.test>'] },
  ]);
  const id = later ?? '';
  await store(workspaceId, [
    received('em_1', weekAgo - 60_000, { messageId: '<root@x.test>' }),
    received('em_2', weekAgo + 60_000, { messageId: '<second@x.test>', inReplyTo: ['<root@x.test>'] }),
  ]);
  expect(await assignThreads(context, workspaceId, [id])).toBe(0);
  expect(await readPlace(workspaceId, id)).toEqual({ thread_id: null, thread_position: null });

  expect(await releaseDue(context, {})).toBe(1);
  expect(await assignThreads(context, workspaceId, [id])).toBe(0);
  expect(await listPositions(workspaceId)).toEqual(['em_1', 'em_2', id]);
  const { rows } = await database.pool.query(
    `select t.message_count, t.received_count, t.unread_count, t.latest_email_id, t.last_message_at = e.released_at as is_last,
       t.created_at = (select created_at from email where workspace_id = $1 and id = 'em_1') as begins_with_root
     from thread t join email e on (e.workspace_id, e.id) = (t.workspace_id, t.latest_email_id) where t.workspace_id = $1`,
    [workspaceId],
  );
  expect(rows).toEqual([
    {
      message_count: 3,
      received_count: 2,
      unread_count: 2,
      latest_email_id: id,
      is_last: true,
      begins_with_root: true,
    },
  ]);

  // What is older than it and comes late, and what comes after it.
  await store(workspaceId, [received('em_0', weekAgo + 120_000, { inReplyTo: ['<root@x.test>'] })]);
  expect(await readLatest(workspaceId)).toEqual([{ latest_email_id: id }]);
  await store(workspaceId, [received('em_4', Date.now() + 60_000, { inReplyTo: ['<second@x.test>'] })]);
  expect(await listPositions(workspaceId)).toEqual(['em_1', 'em_2', 'em_0', id, 'em_4']);
  expect(await readLatest(workspaceId)).toEqual([{ latest_email_id: 'em_4' }]);
});

test('mail that begins a thread when it is released counts from its release', async () => {
  const workspaceId = user();
  await insertScheduled(database, [
    { workspaceId, createdAt: new Date(Date.now() - WEEK_MS), inSeconds: -1, from: OWN },
  ]);
  await releaseDue(context, {});
  const { rows: emails } = await database.pool.query<{ id: string }>('select id from email where workspace_id = $1', [
    workspaceId,
  ]);
  await assignThreads(
    context,
    workspaceId,
    emails.map((email) => email.id),
  );
  const { rows } = await database.pool.query(
    `select t.created_at = e.released_at and t.last_message_at = e.released_at as is_of_release
     from thread t join email e on e.workspace_id = t.workspace_id where t.workspace_id = $1`,
    [workspaceId],
  );
  expect(rows).toEqual([{ is_of_release: true }]);
});

test('a reply to mail that we sent joins its thread, in either order of arrival', async () => {
  for (const isReplyFirst of [false, true]) {
    const workspaceId = user();
    const at = Date.now();
    const ours = sent('em_sent', at, { messageId: '<ours@own.test>' });
    const reply = received('em_answer', at + 1_000, { inReplyTo: ['<ours@own.test>'] });
    await store(workspaceId, isReplyFirst ? [reply] : [ours]);
    await store(workspaceId, isReplyFirst ? [ours] : [reply]);
    expect(await listPositions(workspaceId)).toEqual(['em_sent', 'em_answer']);
    expect(await listCounters(workspaceId)).toEqual([{ message_count: 2, received_count: 1, unread_count: 1 }]);
  }
});

test('a reply that we sent to received mail joins its thread, and counts neither as received nor as unread', async () => {
  const workspaceId = user();
  const at = Date.now();
  await store(workspaceId, [received('em_1', at, { messageId: '<theirs@x.test>', isRead: true })]);
  await store(workspaceId, [
    sent('em_2', at + 1_000, { inReplyTo: ['<theirs@x.test>'], references: ['<theirs@x.test>'] }),
  ]);
  expect(await listPositions(workspaceId)).toEqual(['em_1', 'em_2']);
  expect(await listCounters(workspaceId)).toEqual([{ message_count: 2, received_count: 1, unread_count: 0 }]);
});

test('mail to an own address, sent and received, is one thread of two messages', async () => {
  const workspaceId = user();
  const at = Date.now();
  await store(workspaceId, [sent('em_sent', at, { messageId: '<self@own.test>' })]);
  await store(workspaceId, [received('em_received', at + 1_000, { messageId: '<self@own.test>' })]);
  expect(await listPositions(workspaceId)).toEqual(['em_sent', 'em_received']);
  expect(await listCounters(workspaceId)).toEqual([{ message_count: 2, received_count: 1, unread_count: 1 }]);
});

test('sent mail is never routed', async () => {
  const workspaceId = user();
  await store(workspaceId, [sent('em_sent', Date.now(), {}), received('em_received', Date.now(), {})]);
  const { rows } = await database.pool.query<{ workspace_id: string; id: string }>(
    takeUnroutedSql({ ofOthers: false, locked: false }),
    [RELEASE_BATCH],
  );
  expect(rows.filter((row) => row.workspace_id === workspaceId).map((row) => row.id)).toEqual(['em_received']);
});

function user(): string {
  return `usr_${randomBytes(6).toString('hex')}`;
}

function received(emailId: string, at: number, given: Partial<StoredMail>): StoredMail {
  return {
    emailId,
    messageId: `<${emailId}@x.test>`,
    inReplyTo: [],
    references: [],
    subject: emailId,
    baseSubject: emailId,
    ownAddress: OWN,
    addresses: ['ada@x.test', OWN],
    createdAt: new Date(at),
    date: new Date(at),
    ...given,
  };
}

function sent(emailId: string, at: number, given: Partial<StoredMail>): StoredMail {
  return received(emailId, at, { type: 'sent', addresses: [OWN, 'ada@x.test'], ...given });
}

async function store(workspaceId: string, mails: readonly StoredMail[]): Promise<void> {
  await insertEmails(database, workspaceId, mails);
  await assignThreads(
    context,
    workspaceId,
    mails.map((mail) => mail.emailId),
  );
}

async function readPlace(workspaceId: string, emailId: string): Promise<unknown> {
  const { rows } = await database.pool.query(
    'select thread_id, thread_position from email where workspace_id = $1 and id = $2',
    [workspaceId, emailId],
  );
  return rows[0];
}

/** The messages of the user's one thread by position. */
async function listPositions(workspaceId: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string; thread_position: number; threads: number }>(
    `select id, thread_position, (select count(*) from thread where workspace_id = $1) as threads
     from email where workspace_id = $1 order by thread_position`,
    [workspaceId],
  );
  expect(rows.map((row) => row.thread_position)).toEqual(rows.map((_, position) => position));
  expect(rows[0]?.threads).toBe(1);
  return rows.map((row) => row.id);
}

async function readLatest(workspaceId: string): Promise<unknown[]> {
  const { rows } = await database.pool.query('select latest_email_id from thread where workspace_id = $1', [
    workspaceId,
  ]);
  return rows;
}

async function listCounters(workspaceId: string): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    'select message_count, received_count, unread_count from thread where workspace_id = $1',
    [workspaceId],
  );
  return rows;
}
