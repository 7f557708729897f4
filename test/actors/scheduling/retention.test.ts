import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { removeOldMail } from '../../../actors/scheduling/retention.ts';
import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import { DAY_MS } from '../../../core/shared/durations.ts';
import { KEEP_FOREVER, type Retention } from '../../../core/upkeep/retention.ts';
import type { Database } from '../../../db/connection/database.ts';
import { giveRaw, listTraces } from '../../support/rows/retained-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { buildAllWords } from '../../support/stages/build-all-words.ts';
import {
  makeMail,
  makeReply,
  newWorkspace,
  openThreadStage,
  type ThreadStage,
} from '../../support/stages/thread-stage.ts';

let stage: ThreadStage;
let owner: Database;

beforeAll(async () => {
  stage = await openThreadStage();
  owner = stage.owner;
});
beforeEach(() => owner.pool.query('delete from retention; delete from retention_sweep'));
afterAll(() => stage.close());

/** Mail of the tests is so many days old, by what makeMail calls day 0. */
const ageOfDay = (day: number) => (Date.now() - Date.UTC(2026, 5, 1)) / DAY_MS - day;
/** Removes what came before that day of the tests. */
const beforeDay = (day: number) => Math.ceil(ageOfDay(day));

async function choose(workspaceId: string, retention: Partial<Retention>): Promise<void> {
  const { rawDays, bodyDays, metadataDays } = { ...KEEP_FOREVER, ...retention };
  await owner.pool.query(
    `insert into retention (workspace_id, raw_days, body_days, metadata_days) values ($1, $2, $3, $4)
     on conflict (workspace_id) do update set raw_days = $2, body_days = $3, metadata_days = $4`,
    [workspaceId, rawDays, bodyDays, metadataDays],
  );
}

/** As the step of an actor; `isStopping` tells it to end. */
async function sweep(retention = KEEP_FOREVER, isStopping = () => false, fault?: (point: string) => void) {
  await owner.pool.query('update retention_sweep set due_at = now()');
  const context = testActorContext(stage.actor);
  return removeOldMail(context, { retention, ...(fault === undefined ? {} : { fault }) }, { isStopping });
}

async function mailbox(count: number): Promise<{ workspaceId: string; ids: string[] }> {
  const workspaceId = newWorkspace();
  const tag = randomBytes(3).toString('hex');
  const ids = Array.from({ length: count }, (_, n) => `em_${tag}${String(n).padStart(5, '0')}`);
  // Three conversations that go on all the time, and mail that stands alone.
  const mails = ids.map((id, n) =>
    n % 4 === 3 || n < 4 ? makeMail(id, n / 10) : makeReply([ids[n % 4] ?? ''], id, n / 10),
  );
  await stage.arrive(workspaceId, mails);
  await owner.pool.query(`update route set outcome = 'stored', decided_at = now() where workspace_id = $1`, [
    workspaceId,
  ]);
  return { workspaceId, ids };
}

const emailCount = async (workspaceId: string) =>
  (await owner.pool.query<{ count: number }>('select count(*) from email where workspace_id = $1', [workspaceId]))
    .rows[0]?.count;

test('mail older than its metadata days is removed with all its rows; threads and totals agree afterwards', async () => {
  const { workspaceId, ids } = await mailbox(400);
  const other = await mailbox(20);
  const rawId = await giveRaw(owner, [{ workspaceId, emailId: ids[0] ?? '' }]);
  await choose(workspaceId, { metadataDays: beforeDay(30) });
  await sweep();
  const gone = ids.slice(0, 300);
  const left = (await stage.listEmails(workspaceId)).map(({ id }) => id).toSorted();
  expect(left.length).toBeGreaterThan(80);
  expect(left.length).toBeLessThan(120);
  expect(left).toEqual(ids.slice(-left.length));
  expect(await stage.findFaults(workspaceId)).toEqual([]);
  await buildAllWords(stage.actor);
  expect(await listTraces(owner, workspaceId, gone.slice(0, ids.length - left.length))).toEqual([]);
  expect((await owner.pool.query('select 1 from raw_message where id = $1', [rawId])).rows).toEqual([]);
  // Another user's mail of the same age stays.
  expect(await emailCount(other.workspaceId)).toBe(20);
});

test('threads without mail are removed, and a reply to one of them starts a new one', async () => {
  const { workspaceId, ids } = await mailbox(40);
  await choose(workspaceId, { metadataDays: 1 });
  await sweep();
  expect(await emailCount(workspaceId)).toBe(0);
  for (const table of ['thread', 'thread_alias', 'thread_apart', 'thread_message_id', 'thread_subject', 'route'])
    expect(
      (await owner.pool.query(`select 1 from ${table} where workspace_id = $1`, [workspaceId])).rows,
      table,
    ).toEqual([]);
  await choose(workspaceId, {});
  await stage.arrive(workspaceId, [makeReply([ids[0] ?? ''], `em_${randomBytes(6).toString('hex')}`, 100)]);
  expect(await stage.listThreads(workspaceId)).toHaveLength(1);
  expect(await stage.findFaults(workspaceId)).toEqual([]);
});

test('raw bytes are removed before bodies and bodies before the rest; search words are removed with the bodies', async () => {
  const { workspaceId, ids } = await mailbox(8);
  const [emailId = ''] = ids;
  const rawId = await giveRaw(owner, [{ workspaceId, emailId }], 'rhinoceros');
  await owner.pool.query(
    `update email_content set attachments = '[{"index":0},{"index":1,"event":{"summary":"x"}},{"index":2}]' where workspace_id = $1 and email_id = $2`,
    [workspaceId, emailId],
  );
  const state = async () => {
    const { rows } = await owner.pool.query(
      `select e.raw_id is not null as has_raw, c.text_body is not null and c.html_body is not null as has_bodies, e.preview <> '' as has_preview,
         (select u.state from unindexed_email u where u.workspace_id = $1 and u.email_id = $2) as indexed,
         c.attachments, exists (select from raw_message where id = $3) as has_bytes
       from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id where e.workspace_id = $1 and e.id = $2`,
      [workspaceId, emailId, rawId],
    );
    return rows[0];
  };
  const all = { has_raw: true, has_bodies: true, has_preview: true, has_bytes: true };
  await choose(workspaceId, { rawDays: 36_500 });
  await sweep();
  expect(await state()).toMatchObject(all);
  await choose(workspaceId, { rawDays: 1 });
  await sweep();
  expect(await state()).toMatchObject({ ...all, has_raw: false, has_bytes: false });
  await choose(workspaceId, { rawDays: 1, bodyDays: 2 });
  await sweep();
  expect(await state()).toEqual({
    has_raw: false,
    has_bodies: false,
    has_preview: false,
    indexed: 'changed',
    has_bytes: false,
    attachments: [{ index: 0 }, { index: 1 }, { index: 2 }],
  });
  expect(await emailCount(workspaceId)).toBe(8);
  expect(await stage.findFaults(workspaceId)).toEqual([]);
});

test('bytes that two users share are removed when the last of them has no mail with them', async () => {
  const one = await mailbox(1);
  const two = await mailbox(1);
  const mails = [one, two].map(({ workspaceId, ids }) => ({ workspaceId, emailId: ids[0] ?? '' }));
  const rawId = await giveRaw(owner, mails);
  const isThere = async () =>
    (await owner.pool.query('select 1 from raw_message where id = $1', [rawId])).rows.length === 1;
  await choose(one.workspaceId, { rawDays: 1 });
  await sweep();
  expect(await isThere()).toBe(true);
  await choose(two.workspaceId, { metadataDays: 1 });
  await sweep();
  expect(await isThere()).toBe(false);
});

test('shared bytes are removed when two schedulers remove the last references at the same time', async () => {
  const boxes = await Promise.all(Array.from({ length: 6 }, () => mailbox(1)));
  const pairs = [0, 2, 4].map((n) => [boxes[n], boxes[n + 1]] as const);
  for (const pair of pairs)
    await giveRaw(owner, pair.map((box) => ({ workspaceId: box?.workspaceId ?? '', emailId: box?.ids[0] ?? '' }))); // biome-ignore format: one line
  const before = (await owner.pool.query('select count(*) from raw_message')).rows[0].count;
  for (const { workspaceId } of boxes) await choose(workspaceId, { rawDays: 1 });
  await Promise.all([sweep(), sweep(), sweep()]);
  await sweep();
  expect((await owner.pool.query('select count(*) from raw_message')).rows[0].count).toBe(before - 3);
});

test('two schedulers remove nothing twice, and totals are exact', async () => {
  const boxes = await Promise.all([mailbox(150), mailbox(150), mailbox(150)]);
  for (const { workspaceId } of boxes) await choose(workspaceId, { metadataDays: beforeDay(10) });
  await Promise.all([sweep(), sweep()]);
  for (const { workspaceId } of boxes) {
    expect(await emailCount(workspaceId)).toBeLessThan(70);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  }
});

test('unfinished mail of any age is kept: pending, scheduled, unrouted, to be forwarded, and held until its metadata days', async () => {
  const { workspaceId, ids } = await mailbox(8);
  const [
    pending = '',
    scheduled = '',
    unrouted = '',
    delivering = '',
    held = '',
    unthreaded = '',
    cancelled = '',
    done = '',
  ] = ids;
  for (const emailId of ids) await giveRaw(owner, [{ workspaceId, emailId }]);
  const set = (table: string, change: string, emailId: string) =>
    owner.pool.query(
      `update ${table} set ${change} where workspace_id = $1 and ${table === 'email' ? 'id' : 'email_id'} = $2`,
      [workspaceId, emailId],
    );
  // Their threads and totals are no matter here.
  await set('email', `type = 'sent', status = 'pending'`, pending);
  await set('email', `type = 'scheduled', status = 'scheduled', thread_id = null`, scheduled);
  await set('email', `type = 'scheduled', status = 'cancelled', thread_id = null`, cancelled);
  await set('email', 'thread_id = null', unthreaded);
  await set('route', 'outcome = null', unrouted);
  await set('route', `outcome = 'blocked'`, held);
  await owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, created_at) values ($1, $2, $3, 'ep', 'webhook', 1, now())`,
    [workspaceId, `dlv_${randomBytes(6).toString('hex')}`, delivering],
  );
  const left = async (column: string) => {
    const { rows } = await owner.pool.query<{ id: string }>(
      `select id from email where workspace_id = $1 and ${column} order by id`,
      [workspaceId],
    );
    return rows.map(({ id }) => id);
  };
  await choose(workspaceId, { rawDays: 1 });
  await sweep();
  expect(await left('raw_id is not null')).toEqual([pending, scheduled, unrouted, delivering, held, unthreaded]);
  await choose(workspaceId, { metadataDays: 1 });
  await sweep();
  expect(await left('true')).toEqual([pending, scheduled, unrouted, delivering, unthreaded]);
  expect(done).not.toBe('');
});

test('mail that was unfinished at the last pass is removed at the next full pass', async () => {
  const { workspaceId, ids } = await mailbox(3);
  for (const emailId of ids) await giveRaw(owner, [{ workspaceId, emailId }]);
  await owner.pool.query('update route set outcome = null where workspace_id = $1 and email_id = $2', [
    workspaceId,
    ids[0],
  ]);
  await choose(workspaceId, { rawDays: 1 });
  const kept = async () =>
    (await owner.pool.query('select id from email where workspace_id = $1 and raw_id is not null', [workspaceId])).rows
      .length;
  await sweep();
  expect(await kept()).toBe(1);
  await owner.pool.query(`update route set outcome = 'stored' where workspace_id = $1`, [workspaceId]);
  await owner.pool.query(`update retention_sweep set begins_anew_at = now() - interval '1 s'`);
  await sweep();
  await sweep();
  expect(await kept()).toBe(0);
});

test('the defaults of the service apply to users who chose no days, and a choice overrides them', async () => {
  const { workspaceId } = await mailbox(2);
  const chooser = await mailbox(2);
  for (const id of [workspaceId, chooser.workspaceId])
    await owner.pool.query('insert into person (id, email) values ($1, $2)', [id, `${id}@box.test`]);
  await choose(chooser.workspaceId, KEEP_FOREVER);
  await sweep();
  expect(await emailCount(workspaceId)).toBe(2);
  await sweep({ ...KEEP_FOREVER, metadataDays: 3 });
  expect(await emailCount(workspaceId)).toBe(0);
  expect(await emailCount(chooser.workspaceId)).toBe(2);
  await owner.pool.query('delete from person');
});

test('receptions of reports, which created no email, are removed with their bytes; those that wait for the parser stay', async () => {
  const { workspaceId, ids } = await mailbox(2);
  const [report = '', waiting = ''] = ids;
  const rawIds = [
    await giveRaw(owner, [{ workspaceId, emailId: report }]),
    await giveRaw(owner, [{ workspaceId, emailId: waiting }]),
  ];
  await owner.pool.query('delete from email where workspace_id = $1', [workspaceId]);
  const aged = (n: number) => `em_0000000000${String(n).padStart(22, '0')}`;
  await owner.pool.query('update reception set email_id = $3 where workspace_id = $1 and email_id = $2', [
    workspaceId,
    report,
    aged(1),
  ]);
  await owner.pool.query(
    'update reception set email_id = $3, parsed_at = null where workspace_id = $1 and email_id = $2',
    [workspaceId, waiting, aged(2)],
  );
  await choose(workspaceId, { rawDays: 1 });
  await sweep();
  const { rows } = await owner.pool.query('select raw_id from reception where workspace_id = $1', [workspaceId]);
  expect(rows).toEqual([{ raw_id: rawIds[1] }]);
  expect((await owner.pool.query('select id from raw_message where id = any ($1)', [rawIds])).rows).toEqual([
    { id: rawIds[1] },
  ]);
});

test('logged requests are removed with the bodies of mail of their age, which they may contain', async () => {
  const [workspaceId, other] = [newWorkspace(), newWorkspace()];
  await owner.pool.query(
    `insert into api_request (workspace_id, id, created_at, key_id, interface, method, path, status, duration_ms, client_address,
       request_headers, response_headers)
     select u, 'req_' || d, now() - d * interval '1 day', 'key_1', 'rest', 'GET', '/', 200, 1, '127.0.0.1', '{}', '{}'
     from unnest($1::text[]) u cross join generate_series(1, 5, 2) d`,
    [[workspaceId, other]],
  );
  await choose(workspaceId, { bodyDays: 2 });
  await sweep();
  const { rows } = await owner.pool.query(
    'select count(*) filter (where workspace_id = $1) as own, count(*) filter (where workspace_id = $2) as other from api_request',
    [workspaceId, other],
  );
  expect(rows).toEqual([{ own: 1, other: 3 }]);
});

test('old events are removed from the beginning of the feed, which then says where it begins', async () => {
  const { workspaceId } = await mailbox(30);
  await owner.pool.query(`update event set at = now() - interval '9 days' where workspace_id = $1 and seq <= 12`, [
    workspaceId,
  ]);
  await choose(workspaceId, { metadataDays: 8 });
  await owner.pool.query(`update email set created_at = now() where workspace_id = $1`, [workspaceId]);
  await sweep();
  const { rows } = await owner.pool.query(
    `select min(e.seq)::integer as first, c.first_seq::integer as told from event e join event_counter c using (workspace_id)
     where workspace_id = $1 group by c.first_seq`,
    [workspaceId],
  );
  expect(rows).toEqual([{ first: 13, told: 13 }]);
});

test('retention ends at once when it is stopped, and continues where it was', async () => {
  const { workspaceId } = await mailbox(350);
  await choose(workspaceId, { metadataDays: 1 });
  let batches = 0;
  await sweep(KEEP_FOREVER, () => batches >= 1, (point) => void (point === 'retention.before-commit' && batches++)); // biome-ignore format: one line
  expect(await emailCount(workspaceId)).toBe(250);
  expect((await owner.pool.query('select claimed_by from retention_sweep')).rows).toEqual([{ claimed_by: null }]);
  await sweep();
  expect(await emailCount(workspaceId)).toBe(0);
});

test('a batch that fails for one user delays neither its other work nor other users, and is retried after a pause', async () => {
  const bad = await mailbox(5);
  const good = await mailbox(5);
  await giveRaw(owner, [{ workspaceId: bad.workspaceId, emailId: bad.ids[0] ?? '' }]);
  for (const { workspaceId } of [bad, good]) await choose(workspaceId, { rawDays: 1, bodyDays: 1, metadataDays: 1 });
  await owner.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'a fault of ours, planted'; end $$;
    create trigger refuse before delete on email for each row when (old.workspace_id = '${bad.workspaceId}') execute function refuse()`);
  const context = testActorContext(stage.actor);
  const logged: unknown[] = [];
  context.log.error = (about: unknown) => void logged.push(about);
  const run = () => removeOldMail(context, { retention: KEEP_FOREVER }, { isStopping: () => false });
  await run();
  expect([await emailCount(bad.workspaceId), await emailCount(good.workspaceId)]).toEqual([5, 0]);
  const { rows } = await owner.pool.query(
    `select (select count(*) from email where workspace_id = $1 and raw_id is not null) as raws,
       (select count(*) from email_content where workspace_id = $1 and (text_body is not null or html_body is not null)) as bodies,
       s.claimed_by, extract(epoch from s.due_at - postroom_now())::float8 between 60 and 120 as is_later
     from retention_sweep s where s.workspace_id = $1`,
    [bad.workspaceId],
  );
  expect(rows).toEqual([{ raws: 0, bodies: 0, claimed_by: null, is_later: true }]);
  expect(logged).toEqual([
    expect.objectContaining({ workspaceId: bad.workspaceId, work: 'emails', step: 'retention' }),
  ]);
  // Nobody is due.
  expect(await run()).toBe(0);
  await owner.pool.query('drop function refuse cascade');
  await sweep();
  expect(await emailCount(bad.workspaceId)).toBe(0);
  expect(await stage.findFaults(bad.workspaceId)).toEqual([]);
});

test('the progress of a failed batch is taken back: bodies that were not removed are not skipped', async () => {
  const { workspaceId, ids } = await mailbox(3);
  for (const emailId of ids) await giveRaw(owner, [{ workspaceId, emailId }]);
  await choose(workspaceId, { rawDays: 1, bodyDays: 1 });
  await owner.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'a fault of ours, planted'; end $$;
    create trigger refuse before update on email_content for each row when (new.workspace_id = '${workspaceId}') execute function refuse()`);
  await sweep();
  const { rows } = await owner.pool.query('select bodies_at, raw_at is not null as has_raw_at from retention_sweep');
  expect(rows).toEqual([{ bodies_at: null, has_raw_at: true }]);
  await owner.pool.query('drop function refuse cascade');
});

test('a lost connection ends the whole run with an error', async () => {
  const { workspaceId } = await mailbox(1);
  await choose(workspaceId, { metadataDays: 1 });
  await owner.pool.query(`
    create function vanish() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return old; end $$;
    create trigger vanish before delete on email for each row when (old.workspace_id = '${workspaceId}') execute function vanish();
    alter function vanish security definer`);
  await expect(sweep()).rejects.toThrow();
  await owner.pool.query('drop function vanish cascade');
  expect(await emailCount(workspaceId)).toBe(1);
});

test("the service's own mail is removed after the service's days", async () => {
  const id = `em_${randomBytes(6).toString('hex')}`;
  await stage.arrive(SYSTEM_WORKSPACE_ID, [makeMail(id, 1)]);
  await owner.pool.query(`update route set outcome = 'stored', decided_at = now() where workspace_id = $1`, [
    SYSTEM_WORKSPACE_ID,
  ]);
  await sweep();
  expect(await emailCount(SYSTEM_WORKSPACE_ID)).toBe(1);
  await sweep({ ...KEEP_FOREVER, metadataDays: 3 });
  expect(await emailCount(SYSTEM_WORKSPACE_ID)).toBe(0);
});

test('a batch whose claim went to another scheduler is rolled back', async () => {
  const { workspaceId } = await mailbox(5);
  await choose(workspaceId, { metadataDays: 1 });
  await sweep();
  expect(await emailCount(workspaceId)).toBe(0);
  const again = await mailbox(5);
  await choose(again.workspaceId, { metadataDays: 1 });
  await owner.pool.query(`
    create function steal() returns trigger language plpgsql as $$ begin new.claimed_by := 'another'; return new; end $$;
    create trigger steal before update on retention_sweep for each row when (new.claimed_by is not null) execute function steal()`);
  await sweep();
  await owner.pool.query('drop function steal cascade');
  expect(await emailCount(again.workspaceId)).toBe(5);
});
