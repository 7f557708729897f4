import { fork } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { insertThreadedMail } from '../../support/rows/threaded-mail.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let receiver: WebhookReceiver;
let actors: TestDelivery[] = [];
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
});
afterEach(async () => {
  // The receiver too: what it holds open would hold up the actors.
  await Promise.all([receiver.stop(), ...actors.map((actor) => actor.stop())]);
  actors = [];
});
afterAll(() => testDatabase.drop());

async function start(name?: string): Promise<TestDelivery> {
  const actor = await startDelivering(database, owner, name === undefined ? {} : { name });
  actors.push(actor);
  return actor;
}

async function mailboxFor(endpointConfig: Record<string, unknown> = {}, url = receiver.url) {
  const domain = `faults${count++}.test`;
  return createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: url, endpointConfig });
}

async function killedAt(point: string): Promise<number | null> {
  const child = fork(
    new URL('./delivering-process.ts', import.meta.url),
    [testDatabase.readUrl('postroom_actor'), `killed-${count}`, point],
    {
      execArgv: [],
    },
  );
  return new Promise((resolve) => child.once('exit', resolve));
}

async function readStat(endpointId: string | null) {
  const { rows } = await database.pool.query(
    'select total, successful, failed from endpoint_stat where endpoint_id = $1',
    [endpointId],
  );
  return rows[0];
}

test.each([
  ['delivery.claimed', 'nothing was sent: one request in all', 1],
  ['delivery.posted', 'it was sent and not recorded: it comes twice', 2],
  ['delivery.recorded', 'it was recorded: it is not sent again', 1],
])('a process is killed at %s: %s', async (point, _, requests) => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox);
  expect(await killedAt(point)).toBe(137);

  const actor = await start();
  // The lease of the dead runs out.
  await actor.moveClock(31);
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  await actor.moveClock(600);
  expect(receiver.requests).toHaveLength(requests);
  expect(new Set(receiver.requests.map((request) => request.webhookId))).toEqual(new Set([delivery?.id]));
  expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1);
  expect(delivery?.attempts).toBe(1);
  expect(await readStat(mailbox.endpointId)).toEqual({ total: 1, successful: 1, failed: 0 });
});

test.each([
  ['delivery.recorded', 'the first was recorded, and no other had its turn'],
  ['delivery.turned', 'the next had its turn'],
])('a process is killed at %s while deliveries wait for each other, %s: each comes once, in order', async (point) => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor();
  await database.pool.query(`update endpoint set ordering = 'thread' where id = $1`, [mailbox.endpointId]);
  const mails = await insertReceivedMail(database, mailbox, { count: 3 });
  expect(await killedAt(point)).toBe(137);

  const actor = await start();
  await actor.moveClock(31);
  await untilDeliveries(
    database,
    mailbox.endpointId,
    (all) => all.length === 3 && all.every(({ status }) => status === 'success'),
  );
  expect(receiver.requests.map(({ headers }) => headers['x-email-id'])).toEqual(mails.map(({ emailId }) => emailId));
  expect(await readStat(mailbox.endpointId)).toEqual({ total: 3, successful: 3, failed: 0 });
});

test.each([
  ['delivery.acted', 'the transaction is undone: the response to the second request acts', 2],
  ['delivery.recorded', 'the actions ran with the commit: they do not run again', 1],
])('a process is killed at %s with actions in the response: %s', async (point, _, requests) => {
  const actions = [
    { type: 'reply', text: 'Hello' },
    { type: 'forward', to: 'bob@elsewhere.test' },
    { type: 'label', name: 'acted' },
    { type: 'archive' },
  ];
  receiver = await startWebhookReceiver({
    script: [{ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ actions }) }],
  });
  const mailbox = await mailboxFor();
  await database.pool.query('update endpoint set allow_actions = true where id = $1', [mailbox.endpointId]);
  const { threadId } = await insertThreadedMail(database, mailbox);
  const acted = async () => {
    const { rows } = await database.pool.query<{ sent: number; labels: string[]; archived: number; events: number }>(
      `select labels, archived_count as archived,
         (select count(*)::integer from email e where e.workspace_id = t.workspace_id and e.type = 'sent') as sent,
         (select count(*)::integer from event v where v.workspace_id = t.workspace_id and v.kind in ('email.sent', 'email.archived',
            'thread.labelled', 'delivery.succeeded')) as events
       from thread t where workspace_id = $1 and id = $2`,
      [mailbox.workspaceId, threadId],
    );
    return rows[0];
  };
  const none = { sent: 0, labels: [], archived: 0, events: 0 };
  const all = { sent: 2, labels: ['acted'], archived: 1, events: 5 };
  expect(await killedAt(point)).toBe(137);
  expect(await acted()).toEqual(requests === 2 ? none : all);

  const actor = await start();
  await actor.moveClock(31);
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  await actor.moveClock(600);
  expect(await acted()).toEqual(all);
  expect(receiver.requests.map(({ webhookId }) => webhookId)).toEqual(Array(requests).fill(delivery?.id));
  expect(await readStat(mailbox.endpointId)).toEqual({ total: 1, successful: 1, failed: 0 });
});

test('actions of a response do not run after another process took over the delivery', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const acting = (name: string) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      actions: [
        { type: 'label', name },
        { type: 'reply', text: name },
      ],
    }),
  });
  receiver = await startWebhookReceiver({
    script: async (_, earlier) => {
      if (earlier === 0) await held;
      return acting(earlier === 0 ? 'late' : 'other');
    },
  });
  const mailbox = await mailboxFor();
  await database.pool.query('update endpoint set allow_actions = true where id = $1', [mailbox.endpointId]);
  const { threadId } = await insertThreadedMail(database, mailbox);
  await start('late');
  await receiver.received(1);
  const other = await start('other');
  await database.pool.query(`update delivery set claimed_until = now() - interval '1 hour' where claimed_by = 'late'`);
  await other.moveClock(0);
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  release();
  await actors[0]?.stop();
  const { rows } = await database.pool.query(
    `select labels, (select count(*)::integer from email e where e.workspace_id = t.workspace_id and e.type = 'sent') as sent
     from thread t where workspace_id = $1 and id = $2`,
    [mailbox.workspaceId, threadId],
  );
  expect(rows).toEqual([{ labels: ['other'], sent: 1 }]);
});

test('wakes that come ten times, out of order and for two actors post nothing twice', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor();
  const mails = await insertReceivedMail(database, mailbox, { count: 300 });
  const [first, second] = [await start(), await start()];
  for (let n = 0; n < 10; n++) {
    first.wakeRouter();
    second.wakeRouter();
    await first.moveClock(0);
    await second.moveClock(0);
  }
  await untilDeliveries(
    database,
    mailbox.endpointId,
    (all) => all.length === mails.length && all.every((one) => one.status === 'success'),
  );
  expect(receiver.requests).toHaveLength(mails.length);
  expect(new Set(receiver.requests.map((request) => request.webhookId)).size).toBe(mails.length);
  expect(new Set(receiver.requests.map((request) => request.headers['x-email-id'])).size).toBe(mails.length);
  expect(await readStat(mailbox.endpointId)).toEqual({ total: 300, successful: 300, failed: 0 });
});

test('an outcome that comes after another process took over changes nothing', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver = await startWebhookReceiver({
    script: async (_, earlier) => {
      if (earlier === 0) await held;
      return earlier === 0 ? 500 : 200;
    },
  });
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox);
  await start('late');
  await receiver.received(1);
  // As if its process had stood still for longer than its lease.
  const other = await start('other');
  await database.pool.query(`update delivery set claimed_until = now() - interval '1 hour' where claimed_by = 'late'`);
  await other.moveClock(0);
  await untilDeliveries(database, mailbox.endpointId, ([one]) => one?.status === 'success');
  release();
  await actors[0]?.stop();
  const [delivery] = await untilDeliveries(database, mailbox.endpointId, () => true);
  expect(delivery).toMatchObject({ status: 'success', attempts: 1, status_code: 200 });
  expect(await readStat(mailbox.endpointId)).toEqual({ total: 1, successful: 1, failed: 0 });
});

test('content that cannot be read, and then takes too long, posts nothing of its batch twice', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor();
  const [first, bad, last] = await insertReceivedMail(database, mailbox, { count: 3 });
  // Data that is broken at the first reading, and a statement that runs out of time at the second.
  await owner.pool.query(`
    create sequence readings;
    create function is_readable(p_email_id text) returns boolean language plpgsql as $$
    begin
      if p_email_id <> '${bad?.emailId}' then return true; end if;
      case nextval('readings')
        when 1 then raise exception 'broken' using errcode = 'XX001';
        when 2 then raise exception 'too long' using errcode = '57014';
        else return true;
      end case;
    end $$;
    grant usage on sequence readings to postroom_actor;
    alter policy email_content_of_actor on email_content using (is_readable(email_id))`);
  await start();
  await untilDeliveries(
    database,
    mailbox.endpointId,
    (all) => all.length === 3 && all.every((one) => one.status === 'success'),
  );
  const sent = receiver.requests.map((request) => String(request.headers['x-email-id']));
  expect(sent.toSorted()).toEqual([first, bad, last].map((mail) => mail?.emailId ?? '').toSorted());
  await owner.pool.query(`alter policy email_content_of_actor on email_content using (true)`);
});

test('on a stop, open attempts end after 8 s, are recorded as interrupted and do not count; waiting ones are released at once', async () => {
  receiver = await startWebhookReceiver({ script: ['hang'] });
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox, { count: 15 });
  const actor = await start();
  await receiver.received(10);
  await actor.stop();
  const deliveries = await untilDeliveries(database, mailbox.endpointId, (all) => all.length === 15);
  for (const delivery of deliveries)
    expect(delivery).toMatchObject({ status: 'pending', attempts: 0, claimed_by: null });
  const { rows } = await database.pool.query(
    `select outcome, count(*) from delivery_attempt a join delivery d on d.id = a.delivery_id where d.endpoint_id = $1 group by 1`,
    [mailbox.endpointId],
  );
  expect(rows).toEqual([{ outcome: 'interrupted', count: 10 }]);
  expect(await readStat(mailbox.endpointId)).toBeUndefined();

  receiver.respond([200]);
  await start();
  await untilDeliveries(database, mailbox.endpointId, (all) => all.every((one) => one.status === 'success'));
  const numbers = await database.pool.query(
    `select a.number, a.outcome, d.attempts from delivery_attempt a join delivery d on d.id = a.delivery_id
     where d.id = $1 order by a.number`,
    [receiver.requests[0]?.webhookId],
  );
  expect(numbers.rows).toEqual([
    { number: 1, outcome: 'interrupted', attempts: 1 },
    { number: 2, outcome: 'success', attempts: 1 },
  ]);
});

test('a long attempt renews its lease', async () => {
  receiver = await startWebhookReceiver({ script: ['hang'] });
  const mailbox = await mailboxFor();
  await insertReceivedMail(database, mailbox);
  await start('patient');
  await receiver.received(1);
  const lease = async () => {
    const { rows } = await database.pool.query<{ claimed_until: Date }>(
      `select claimed_until from delivery where endpoint_id = $1 and claimed_by = 'patient'`,
      [mailbox.endpointId],
    );
    return rows[0]?.claimed_until.getTime() ?? 0;
  };
  const first = await lease();
  while ((await lease()) === first) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await lease()).toBeGreaterThan(first + 5_000);
  receiver.requests.length = 0;
  await actors[0]?.moveClock(5);
  expect(receiver.requests).toHaveLength(0);
});
