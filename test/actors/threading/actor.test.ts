import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startThreadingActor } from '../../../actors/threading/actor.ts';
import { assignThreads, type ThreadingContext } from '../../../actors/threading/assign-thread.ts';
import { createWorkspaceQueues } from '../../../actors/threading/workspace-queues.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Wake } from '../../../schema/messages.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertEmails, type StoredMail } from '../../support/rows/email-rows.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

test('a wake threads mail, wakes the router and informs the live feed', async () => {
  const context = testActorContext(database);
  const workspaceId = user();
  const routed = nextRouting(context, 2);
  const appended = new Promise((resolve) => {
    context.bus.subscribe('event.appended', resolve);
  });
  const actor = await startThreadingActor(context);
  await insertEmails(database, workspaceId, [mail('em_1', {}), mail('em_2', { inReplyTo: ['<em_1@mail.test>'] })]);
  context.bus.wake('threading.assign.wake', { workspaceId, emailIds: ['em_1', 'em_2'] });
  expect(await routed).toEqual([
    { workspaceId, emailId: 'em_1' },
    { workspaceId, emailId: 'em_2' },
  ]);
  expect(await appended).toEqual({ workspaceId, lastSeq: 2 });
  await actor.stop();
  expect(await listPositions(workspaceId)).toEqual([
    ['em_1', 0],
    ['em_2', 1],
  ]);
});

test('mail whose wake was lost is threaded by the sweep', async () => {
  const context = testActorContext(database);
  const workspaceId = user();
  await insertEmails(database, workspaceId, [mail('em_1', {})]);
  const routed = nextRouting(context, 1);
  const actor = await startThreadingActor(context);
  expect(await routed).toEqual([{ workspaceId, emailId: 'em_1' }]);

  const late = nextRouting(context, 1);
  await insertEmails(database, workspaceId, [mail('em_2', {})]);
  expect(await late).toEqual([{ workspaceId, emailId: 'em_2' }]);
  await actor.stop();
});

test('two actors thread 300 mails of three users, woken one by one and twice, without gap or repeat', async () => {
  const context = testActorContext(database);
  const other: ThreadingContext = { ...testActorContext(testDatabase.open('postroom_actor')), bus: context.bus };
  const users = [user(), user(), user()];
  const mails = Array.from({ length: 100 }, (_, index) =>
    mail(`em_${index.toString().padStart(3, '0')}`, {
      references: ['<root@x.test>'],
      createdAt: new Date(Date.UTC(2026, 5, 1) + index),
    }),
  );
  const routed = nextRouting(context, 300);
  const actors = [await startThreadingActor(context), await startThreadingActor(other)];
  for (const workspaceId of users) await insertEmails(database, workspaceId, mails);
  for (const { emailId } of [...mails, ...mails]) {
    for (const workspaceId of users) context.bus.wake('threading.assign.wake', { workspaceId, emailIds: [emailId] });
  }
  await routed;
  await Promise.all(actors.map((actor) => actor.stop()));
  for (const workspaceId of users) {
    expect(await listPositions(workspaceId)).toEqual(mails.map(({ emailId }, index) => [emailId, index]));
  }
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*) from event where workspace_id = any ($1) and kind = 'email.threaded'`,
    [users],
  );
  expect(rows[0]?.count).toBe(300);
});

test('an email that cannot be threaded does not delay those beside it, and is not tried at every sweep', async () => {
  const context = testActorContext(database);
  const workspaceId = user();
  const failures: unknown[] = [];
  context.log.error = (entry: unknown) => void failures.push(entry);
  const mails = [mail('em_1', {}), mail('em_bad', {}), mail('em_3', {})];
  await insertEmails(database, workspaceId, mails);
  await database.pool.query(
    `update email_content set addresses = '{"from": 5}' where workspace_id = $1 and email_id = 'em_bad'`,
    [workspaceId],
  );
  const routed = nextRouting(context, 2);
  const actor = await startThreadingActor(context);
  expect((await routed).map(({ emailId }) => emailId)).toEqual(['em_1', 'em_3']);
  // The next sweep, seen by the mail that it takes.
  const swept = nextRouting(context, 1);
  await insertEmails(database, workspaceId, [mail('em_4', {})]);
  await swept;
  await actor.stop();
  expect(failures).toMatchObject([{ workspaceId, step: 'assign', subjectId: 'em_bad', tries: 1 }]);
});

test.each([
  ['57014', 'takes too long', ['em_1', 'em_3']],
  ['55P03', 'waits too long for a lock', []],
])('a user whose mail fails with %s because it %s delays no other', async (code, _, ofTheSameUser) => {
  const context = testActorContext(database);
  const [slow, other] = [user(), user()];
  const owner = testDatabase.open(null);
  await owner.pool.query(
    `create or replace function fail_over_one() returns trigger language plpgsql as
       $$ begin raise exception 'too long' using errcode = '${code}'; end $$;
     create or replace trigger fail_over_one before update on email for each row
       when (old.workspace_id = '${slow}' and old.id = 'em_2') execute function fail_over_one()`,
  );
  await insertEmails(
    database,
    slow,
    ['em_1', 'em_2', 'em_3'].map((emailId) => mail(emailId, { subject: emailId, baseSubject: emailId })),
  );
  await insertEmails(database, other, [mail('em_4', { createdAt: new Date(Date.UTC(2026, 5, 2)) })]);
  const routed = nextRouting(context, ofTheSameUser.length + 1);
  const actor = await startThreadingActor(context);
  const ids = await Promise.race([routed.then((mails) => mails.map(({ emailId }) => emailId)), pause(8_000, 'none')]);
  await actor.stop();
  await owner.pool.query('drop trigger fail_over_one on email');
  await owner.pool.query('delete from email where workspace_id = $1 and thread_id is null', [slow]);
  expect(ids).toEqual([...ofTheSameUser, 'em_4']);
});

test('the mail of a user does not wait for all earlier mail of another user', async () => {
  const context = testActorContext(database);
  const [busy, other] = [user(), user()];
  const mails = Array.from({ length: 450 }, (_, index) => mail(`em_${index.toString().padStart(3, '0')}`, {}));
  await insertEmails(database, busy, mails);
  await insertEmails(database, other, [mail('em_1', {})]);
  const order: string[] = [];
  const appended = new Promise<void>((resolve) => {
    context.bus.subscribe('event.appended', ({ workspaceId, lastSeq }) => {
      order.push(workspaceId);
      if (lastSeq === 450) resolve();
    });
  });
  const queues = createWorkspaceQueues(context);
  queues.add(
    busy,
    mails.map(({ emailId }) => emailId),
  );
  queues.add(other, ['em_1']);
  await Promise.all([queues.drain(() => false), appended]);
  expect(order).toEqual([busy, other, busy, busy]);
});

test('mail that waits when PostgreSQL becomes unreachable is left to the sweep', async () => {
  const context = testActorContext(database);
  const users = [user(), user()];
  for (const workspaceId of users) await insertEmails(database, workspaceId, [mail('em_1', {})]);
  const queues = createWorkspaceQueues({
    ...context,
    fault() {
      throw Object.assign(new Error('the server went away'), { code: '08006' });
    },
  });
  for (const workspaceId of users) queues.add(workspaceId, ['em_1']);
  expect(users.map((workspaceId) => queues.has(workspaceId, 'em_1'))).toEqual([true, true]);
  await expect(queues.drain(() => false)).rejects.toThrow('went away');
  expect(users.map((workspaceId) => queues.has(workspaceId, 'em_1'))).toEqual([false, false]);
});

test('a batch that loses a deadlock is repeated', async () => {
  const context = testActorContext(database);
  const workspaceId = user();
  await insertEmails(database, workspaceId, [mail('em_1', {})]);
  let tries = 0;
  const done = await assignThreads(
    {
      ...context,
      fault(point) {
        if (point !== 'threading.before-commit' || ++tries > 2) return;
        throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      },
    },
    workspaceId,
    ['em_1'],
  );
  expect([done, tries]).toEqual([1, 3]);
  expect(await listPositions(workspaceId)).toEqual([['em_1', 0]]);
});

test('a process that ends before its commit leaves the mail to the next; one that ends after it leaves nothing', async () => {
  const context = testActorContext(database);
  const workspaceId = user();
  await insertEmails(database, workspaceId, [mail('em_1', {})]);
  const endAt = (at: string): ThreadingContext => ({
    ...context,
    fault(point) {
      if (point === at) throw new Error('ended');
    },
  });
  for (const point of ['threading.claimed', 'threading.before-commit']) {
    await expect(assignThreads(endAt(point), workspaceId, ['em_1'])).rejects.toThrow('ended');
    expect(await listPositions(workspaceId)).toEqual([['em_1', null]]);
  }
  await expect(assignThreads(endAt('threading.after-commit'), workspaceId, ['em_1'])).rejects.toThrow('ended');
  expect(await listPositions(workspaceId)).toEqual([['em_1', 0]]);
  expect(await assignThreads(context, workspaceId, ['em_1'])).toBe(0);
});

/** The emails that the router is woken for, as soon as there are so many, in the order of their ids. */
function nextRouting(context: ThreadingContext, count: number): Promise<{ workspaceId: string; emailId: string }[]> {
  return new Promise((resolve) => {
    const routed: { workspaceId: string; emailId: string }[] = [];
    const subscription = context.bus.onWake('delivery.route.wake', (wake: Wake<'delivery.route.wake'>) => {
      routed.push(...wake.emailIds.map((emailId) => ({ workspaceId: wake.workspaceId, emailId })));
      if (routed.length < count) return;
      void subscription.stop();
      resolve(routed.toSorted((a, b) => (a.emailId < b.emailId ? -1 : 1)));
    });
  });
}

async function listPositions(workspaceId: string): Promise<[string, number | null][]> {
  const { rows } = await database.pool.query<{ id: string; thread_position: number | null }>(
    `select id, thread_position from email where workspace_id = $1 order by id`,
    [workspaceId],
  );
  return rows.map((row) => [row.id, row.thread_position]);
}

function user(): string {
  return `usr_${randomBytes(8).toString('hex')}`;
}

function mail(emailId: string, fields: Partial<StoredMail>): StoredMail {
  return {
    emailId,
    messageId: `<${emailId}@mail.test>`,
    inReplyTo: [],
    references: [],
    subject: 'rent',
    baseSubject: 'rent',
    ownAddress: 'me@home.test',
    addresses: ['ann@a.test', 'me@home.test'],
    createdAt: new Date(Date.UTC(2026, 5, 1)),
    date: new Date(Date.UTC(2026, 5, 1)),
    ...fields,
  };
}
