import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Actor, ActorContext } from '../../../actors/actor.ts';
import { startSchedulingActor } from '../../../actors/scheduling/actor.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Wake } from '../../../schema/messages.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertScheduled, moveClock, wrongTotals } from '../../support/rows/outgoing-rows.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { countStatements } from '../../support/statements.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let running: Actor[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
});
afterEach(async () => {
  await Promise.all(running.map((actor) => actor.stop()));
  running = [];
});
afterAll(() => testDatabase.drop());

async function start(context: ActorContext = testActorContext(database)): Promise<ActorContext> {
  running.push(await startSchedulingActor(context, { dnsServers: [], mailHostname: 'mx.postroom.test' }));
  return context;
}

function user(): string {
  return `usr_${randomBytes(6).toString('hex')}`;
}

/** Resolves with the wakes of the sending actor once they name that many emails. */
function released(context: ActorContext, count: number): Promise<Wake<'sending.send.wake'>[]> {
  const wakes: Wake<'sending.send.wake'>[] = [];
  return new Promise((resolve) => {
    context.bus.onWake('sending.send.wake', (wake) => {
      wakes.push(wake);
      if (wakes.flatMap(({ emailIds }) => emailIds).length >= count) resolve(wakes);
    });
  });
}

async function sights(workspaceId: string) {
  const { rows } = await database.pool.query(
    `select e.type, e.status, e.released_at is not null as is_released,
       (select count(*) from recipient r where r.workspace_id = $1 and r.email_id = e.id and r.queued_at = e.released_at
          and r.next_attempt_at = e.released_at and r.next_attempt_at <= postroom_now()) as queued,
       (select count(*) from event v where v.workspace_id = $1 and v.email_id = e.id and v.kind = 'email.sent') as events
     from email e where e.workspace_id = $1 order by e.scheduled_at`,
    [workspaceId],
  );
  return rows;
}

const WAITING = { type: 'scheduled', status: 'scheduled', is_released: false, queued: 0, events: 0 };
const RELEASED = { type: 'sent', status: 'pending', is_released: true, events: 1 };

test('mail that is due is queued with all its recipients, and wakes sending and the live feed', async () => {
  const workspaceId = user();
  const to = ['a@x.test', 'b@x.test', 'c@y.test'];
  const [id] = await insertScheduled(database, [{ workspaceId, inSeconds: -1, to }]);
  const context = testActorContext(database);
  const sending = released(context, 1);
  const appended = new Promise((resolve) => void context.bus.subscribe('event.appended', resolve));
  await start(context);
  expect(await sending).toEqual([{ workspaceId, emailIds: [id] }]);
  expect(await appended).toEqual({ workspaceId, lastSeq: 2 });
  expect(await sights(workspaceId)).toEqual([{ ...RELEASED, queued: 3 }]);
  expect(await wrongTotals(database, workspaceId)).toEqual([]);
});

test('mail that is not due, paused or cancelled is not queued', async () => {
  const workspaceId = user();
  await insertScheduled(database, [
    { workspaceId, inSeconds: 3_600 },
    { workspaceId, inSeconds: -80, status: 'paused' },
    { workspaceId, inSeconds: -70, status: 'cancelled' },
    { workspaceId, inSeconds: -60 },
  ]);
  const context = testActorContext(database);
  const sending = released(context, 1);
  await start(context);
  await sending;
  expect(await sights(workspaceId)).toEqual([
    { ...WAITING, status: 'paused' },
    { ...WAITING, status: 'cancelled' },
    { ...RELEASED, queued: 1 },
    WAITING,
  ]);
  expect(await wrongTotals(database, workspaceId)).toEqual([]);
});

test('mail is queued at its due time, not at the next sweep', async () => {
  const workspaceId = user();
  const context = testActorContext(database);
  const sending = released(context, 4);
  await start(context);
  await insertScheduled(
    database,
    [0.3, 0.5, 0.7, 0.9].map((inSeconds) => ({ workspaceId, inSeconds })),
  );
  context.bus.wake('scheduling.release.wake', { workspaceId, at: new Date().toISOString() });
  await sending;
  const { rows } = await database.pool.query<{ instants: number; early: number }>(
    `select count(distinct released_at) as instants, count(*) filter (where released_at < scheduled_at) as early
     from email where workspace_id = $1`,
    [workspaceId],
  );
  // The sweeps stand a second apart: they alone would have taken the four at two instants.
  expect(rows[0]?.instants).toBeGreaterThan(2);
  expect(rows[0]?.early).toBe(0);
});

test('mail that fell due while the scheduler was down is queued once when two schedulers are back', async () => {
  const workspaceId = user();
  const first = testActorContext(database);
  running.push(await startSchedulingActor(first, { dnsServers: [], mailHostname: 'mx.postroom.test' }));
  await insertScheduled(
    database,
    Array.from({ length: 300 }, () => ({ workspaceId, inSeconds: 60 })),
  );
  await running.pop()?.stop();
  await moveClock(owner, 120);
  expect(await sights(workspaceId)).toEqual(Array.from({ length: 300 }, () => WAITING));

  const contexts = [testActorContext(database), testActorContext(testDatabase.open('postroom_actor'))];
  const wakes: string[] = [];
  const all = new Promise<void>((resolve) => {
    for (const context of contexts)
      context.bus.onWake('sending.send.wake', (wake) => {
        wakes.push(...wake.emailIds);
        if (wakes.length >= 300) resolve();
      });
  });
  await Promise.all(contexts.map((context) => start(context)));
  for (const context of contexts)
    for (let n = 0; n < 10; n++)
      context.bus.wake('scheduling.release.wake', { workspaceId, at: new Date().toISOString() });
  await all;
  await Promise.all(running.map((actor) => actor.stop()));
  expect(new Set(wakes).size).toBe(300);
  expect(wakes).toHaveLength(300);
  expect(await sights(workspaceId)).toEqual(Array.from({ length: 300 }, () => ({ ...RELEASED, queued: 1 })));
  expect(await wrongTotals(database, workspaceId)).toEqual([]);
});

test.each([
  ['scheduling.claimed', 0],
  ['scheduling.before-commit', 0],
  ['scheduling.after-commit', 1],
])('mail is queued once when a scheduler is killed at %s', async (point, releasedBefore) => {
  const workspaceId = user();
  await insertScheduled(database, [{ workspaceId, inSeconds: -1 }]);
  const child = fork(
    new URL('./scheduling-process.ts', import.meta.url),
    [testDatabase.readUrl('postroom_actor'), point],
    { execArgv: [] },
  );
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(137);
  expect((await sights(workspaceId)).filter((email) => email.is_released)).toHaveLength(releasedBefore);
  await start();
  await until(async () => (await sights(workspaceId))[0].is_released === true);
  expect(await sights(workspaceId)).toEqual([{ ...RELEASED, queued: 1 }]);
  expect(await wrongTotals(database, workspaceId)).toEqual([]);
});

test.each([
  ['claims.removed', 0],
  ['claims.before-commit', 0],
  ['claims.after-commit', 1],
])('an expired claim ends once, with one event, when a scheduler is killed at %s', async (point, endedBefore) => {
  const workspaceId = user();
  await database.pool.query(
    `insert into thread_claim (workspace_id, thread_id, token_sha256, holder, claimed_at, expires_at)
     select $1, 'th_' || n, sha256(n::text::bytea), 'agent-7', now(), now() - interval '1 second' from generate_series(1, 3) n`,
    [workspaceId],
  );
  const ledger = async () => {
    const { rows } = await database.pool.query(
      `select (select count(*) from thread_claim where workspace_id = $1) as claims,
         array(select thread_id from event where workspace_id = $1 and kind = 'thread.released' order by thread_id) as ended`,
      [workspaceId],
    );
    return rows[0];
  };
  const child = fork(
    new URL('./scheduling-process.ts', import.meta.url),
    [testDatabase.readUrl('postroom_actor'), point],
    { execArgv: [] },
  );
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(137);
  const ended = ['th_1', 'th_2', 'th_3'];
  expect(await ledger()).toEqual(endedBefore === 1 ? { claims: 0, ended } : { claims: 3, ended: [] });
  await start();
  await until(async () => (await ledger()).claims === 0);
  expect(await ledger()).toEqual({ claims: 0, ended });
});

test.each([
  ['approvals.expired', 0],
  ['approvals.expired-before-commit', 0],
  ['approvals.expired-after-commit', 2],
])(
  'an expired approval is rejected once, with one event, when a scheduler is killed at %s',
  async (point, endedBefore) => {
    const workspaceId = user();
    const ids = await insertScheduled(database, [
      { workspaceId, inSeconds: 3_600, status: 'awaiting_approval' },
      { workspaceId, inSeconds: 3_600, status: 'awaiting_approval' },
    ]);
    await database.pool.query(
      `insert into approval (workspace_id, email_id, rule, policy_of, requested_at, expires_at)
     select $1, id, 'always', 'key', now(), now() - interval '1 second' from unnest($2::text[]) id`,
      [workspaceId, ids],
    );
    const ledger = async () => {
      const { rows } = await database.pool.query(
        `select (select count(*)::integer from email where workspace_id = $1 and status = 'rejected') as rejected,
         (select count(*)::integer from approval where workspace_id = $1 and decision = 'expired') as expired,
         (select count(*)::integer from event where workspace_id = $1 and kind = 'email.rejected') as events`,
        [workspaceId],
      );
      return rows[0];
    };
    const child = fork(
      new URL('./scheduling-process.ts', import.meta.url),
      [testDatabase.readUrl('postroom_actor'), point],
      { execArgv: [] },
    );
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(137);
    expect(await ledger()).toEqual({ rejected: endedBefore, expired: endedBefore, events: endedBefore });
    await start();
    await until(async () => (await ledger()).rejected === 2);
    expect(await ledger()).toEqual({ rejected: 2, expired: 2, events: 2 });
    expect(await wrongTotals(database, workspaceId)).toEqual([]);
  },
);

test.each(['erasure.rows-removed', 'erasure.before-end', 'erasure.after-end'])(
  'a closed account is erased completely, and no other, when a scheduler is killed at %s',
  async (point) => {
    const [closed, open] = [user(), user()];
    for (const workspaceId of [closed, open]) {
      await owner.pool.query(
        `insert into person (id, email, erase_at) values ($1, $1 || '@erased.test', case when $2 then now() end)`,
        [workspaceId, workspaceId === closed],
      );
      await insertScheduled(database, [{ workspaceId, inSeconds: 3_600 }]);
    }
    const left = async (workspaceId: string) => {
      const { rows } = await database.pool.query(
        `select (select count(*)::integer from person where id = $1) as accounts,
           (select count(*)::integer from email where workspace_id = $1) as emails,
           (select count(*)::integer from recipient where workspace_id = $1) as recipients,
           (select count(*)::integer from erased_account where id = $1) as erased`,
        [workspaceId],
      );
      return rows[0];
    };
    const child = fork(
      new URL('./scheduling-process.ts', import.meta.url),
      [testDatabase.readUrl('postroom_actor'), point],
      { execArgv: [] },
    );
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(137);
    const isEnded = point === 'erasure.after-end';
    expect(await left(closed)).toEqual({
      accounts: isEnded ? 0 : 1,
      emails: 0,
      recipients: 0,
      erased: isEnded ? 1 : 0,
    });
    await start();
    await until(async () => (await left(closed)).accounts === 0);
    expect(await left(closed)).toEqual({ accounts: 0, emails: 0, recipients: 0, erased: 1 });
    expect(await left(open)).toEqual({ accounts: 1, emails: 1, recipients: 1, erased: 0 });
    // Retention would look at both during the tests below.
    await owner.pool.query('delete from person where id = $1', [open]);
    await owner.pool.query('delete from erased_account where id = $1', [closed]);
  },
);

test('an account that cannot be erased does not delay those closed after it, and is erased when it can be', async () => {
  const [stuck, next] = [user(), user()];
  await owner.pool.query(`
    create function refuse_erasure() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
    create trigger refuse_erasure before delete on email for each row when (old.workspace_id = '${stuck}') execute function refuse_erasure()`);
  for (const [n, workspaceId] of [stuck, next].entries()) {
    await owner.pool.query(
      `insert into person (id, email, erase_at)
       values ($1, $1 || '@erased.test', postroom_now() - interval '1 second' * (2 - $2::integer))`,
      [workspaceId, n],
    );
    await insertScheduled(database, [{ workspaceId, inSeconds: 3_600 }]);
  }
  const dueIn = async (workspaceId: string) => {
    const { rows } = await owner.pool.query<{ seconds: number }>(
      'select extract(epoch from erase_at - postroom_now())::float as seconds from person where id = $1',
      [workspaceId],
    );
    return rows[0]?.seconds;
  };
  await start();
  await until(async () => (await dueIn(next)) === undefined);
  expect(await dueIn(stuck)).toBeGreaterThan(0);
  await owner.pool.query('drop trigger refuse_erasure on email; drop function refuse_erasure()');
  await owner.pool.query('update workspace set erase_at = postroom_now() where id = $1', [stuck]);
  await until(async () => (await dueIn(stuck)) === undefined);
  await owner.pool.query('delete from erased_account where id = any ($1)', [[stuck, next]]);
});

test("the application's clock decides nothing: an hour ahead queues nothing early, an hour behind delays nothing", async () => {
  const workspaceId = user();
  for (const hours of [1, -1]) {
    const context = { ...testActorContext(database), now: () => new Date(Date.now() + hours * 3_600_000) };
    const sending = released(context, 1);
    const [due] = await insertScheduled(database, [
      { workspaceId, inSeconds: -1 },
      { workspaceId, inSeconds: 1_800 },
    ]);
    await start(context);
    expect((await sending).flatMap(({ emailIds }) => emailIds)).toEqual([due]);
    await running.pop()?.stop();
  }
  expect(await sights(workspaceId)).toEqual([{ ...RELEASED, queued: 1 }, { ...RELEASED, queued: 1 }, WAITING, WAITING]);
});

test('10,000 mails that fall due in one second are all queued, each once, in batches', async () => {
  const [crowd, one] = [user(), user()];
  for (let n = 0; n < 10; n++)
    await insertScheduled(
      database,
      Array.from({ length: 1_000 }, (_, at) => ({ workspaceId: crowd, inSeconds: -((at * 7) % 1_000) / 1_000 })),
    );
  await insertScheduled(database, [{ workspaceId: one, inSeconds: -60 }]);
  const context = testActorContext(database);
  const sending = released(context, 10_001);
  const { response: wakes, statements } = await countStatements(async () => {
    await start(context);
    return sending;
  });
  expect(wakes.slice(0, 2).map(({ workspaceId }) => workspaceId)).toContain(one);
  expect(Math.max(...wakes.map(({ emailIds }) => emailIds.length))).toBeLessThanOrEqual(200);
  // begin, take, queue, commit and four for the threads; the rest are looks for what is due next
  expect(statements).toBeLessThan((10_000 / 200) * 8 + 40);
  const { rows } = await database.pool.query(
    `select count(*) as all, count(*) filter (where status = 'pending' and type = 'sent') as sent,
       (select count(*) from recipient where workspace_id = $1 and next_attempt_at is not null) as queued,
       (select count(*) from event where workspace_id = $1 and kind = 'email.sent') as events from email where workspace_id = $1`,
    [crowd],
  );
  expect(rows).toEqual([{ all: 10_000, sent: 10_000, queued: 10_000, events: 10_000 }]);
  expect(await wrongTotals(database, crowd)).toEqual([]);
});

test('idempotency keys are removed after 24 hours', async () => {
  const workspaceId = user();
  await database.pool.query(
    `insert into idempotency_key (workspace_id, key, operation, request_sha256, response, created_at)
     select $1, k || '-' || n, 'send', '', '{}', postroom_now() - age
     from (values ('old', interval '24 hours 1 second'), ('young', interval '23 hours 59 minutes')) v(k, age), generate_series(1, 2500) n`,
    [workspaceId],
  );
  await start();
  const count = async (like: string) => {
    const { rows } = await database.pool.query<{ count: number }>(
      'select count(*) from idempotency_key where workspace_id = $1 and key like $2',
      [workspaceId, like],
    );
    return rows[0]?.count;
  };
  await until(async () => (await count('old%')) === 0);
  expect(await count('young%')).toBe(2_500);
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(20);
}
