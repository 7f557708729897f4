import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { deliverNow } from '../../../db/queries/endpoints/delivery-retry.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
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
  await Promise.all([receiver.stop(), ...actors.map((actor) => actor.stop())]);
  actors = [];
});
afterAll(() => testDatabase.drop());

async function start(): Promise<TestDelivery> {
  const actor = await startDelivering(database, owner);
  actors.push(actor);
  return actor;
}

/** A mailbox with mail of several conversations in turns, which is not routed yet, to an endpoint with that ordering. */
async function insertMail(ordering: 'thread' | 'sender', { threads = 1, each = 1, retryAttempts = 3 } = {}) {
  const domain = `order${count++}.test`;
  const mailbox = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: receiver.url,
    endpointConfig: { retryAttempts },
  });
  await database.pool.query('update endpoint set ordering = $2 where id = $1', [mailbox.endpointId, ordering]);
  const mails = await insertReceivedMail(database, mailbox, { count: threads * each });
  const emailIds = mails.map(({ emailId }) => emailId);
  const keys = emailIds.map((_, n) => n % threads);
  // With the same sender in other letters, now and then.
  await database.pool.query(
    `update email e set thread_id = 'th_' || k.key, from_address = case when n % 2 = 0 then 'Ann' else 'ann' end || k.key || '@sender.test'
     from unnest($1::text[], $2::integer[]) with ordinality as k(id, key, n) where e.workspace_id = $3 and e.id = k.id`,
    [emailIds, keys, mailbox.workspaceId],
  );
  return { ...mailbox, emailIds, ofKey: (key: number) => emailIds.filter((_, n) => keys[n] === key) };
}

const requested = (emailIds: readonly string[]) =>
  receiver.requests.map(({ headers }) => String(headers['x-email-id'])).filter((id) => emailIds.includes(id));

test.each(['thread', 'sender'] as const)(
  'two processes with ordering by %s post each conversation in order, also when attempts fail, while others continue',
  async (ordering) => {
    // The first conversation fails until it is told; of the others, every third email fails once.
    let isFixed = false;
    let first: string[] = [];
    receiver = await startWebhookReceiver({
      script: ({ headers }, earlier) => {
        const id = String(headers['x-email-id']);
        if (first.includes(id)) return isFixed ? 200 : 503;
        return earlier === 0 && Number.parseInt(id.slice(-2), 16) % 3 === 0 ? 500 : 200;
      },
    });
    const mailbox = await insertMail(ordering, { threads: 20, each: 6 });
    first = mailbox.ofKey(0);
    const [one, other] = [await start(), await start()];
    const isDone = (successes: number) => async () => {
      await one.moveClock(7);
      await other.moveClock(0);
      const { rows } = await database.pool.query<{ successes: number }>(
        `select count(*)::integer as successes from delivery where endpoint_id = $1 and status = 'success'`,
        [mailbox.endpointId],
      );
      return rows[0]?.successes === successes;
    };
    await expect.poll(isDone(19 * 6), { timeout: 100_000, interval: 100 }).toBe(true);
    // Its first email holds back the others.
    expect(new Set(requested(first))).toEqual(new Set([first[0]]));
    const { rows } = await database.pool.query(
      `select count(*)::integer as waiting, count(next_attempt_at)::integer as due from delivery where endpoint_id = $1 and status = 'pending'`,
      [mailbox.endpointId],
    );
    expect(rows).toEqual([{ waiting: 6, due: 1 }]);
    isFixed = true;
    await one.moveClock(600);
    await expect.poll(isDone(20 * 6), { timeout: 100_000, interval: 100 }).toBe(true);
    for (let key = 0; key < 20; key++) {
      // Repeated requests follow each other: none comes between them.
      const ids = requested(mailbox.ofKey(key));
      expect(ids.filter((id, at) => id !== ids[at - 1])).toEqual(mailbox.ofKey(key));
    }
  },
);

test('a delivery that fails for good lets the next one begin', async () => {
  receiver = await startWebhookReceiver({ script: [500, 200] });
  const mailbox = await insertMail('thread', { each: 3, retryAttempts: 0 });
  await start();
  await untilDeliveries(
    database,
    mailbox.endpointId,
    (all) => all.length === 3 && all.every(({ status }) => status !== 'pending'),
  );
  expect(requested(mailbox.emailIds)).toEqual(mailbox.emailIds);
});

test('mail does not overtake earlier mail that another process is routing', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await insertMail('thread', { each: 2 });
  const client = await owner.pool.connect();
  await client.query('begin');
  await client.query('select from route where email_id = $1 for update', [mailbox.emailIds[0]]);
  const actor = await start();
  const [waiting] = await untilDeliveries(database, mailbox.endpointId, (all) => all.length === 1);
  expect(waiting).toMatchObject({ status: 'pending', wait_seconds: null });
  await client.query('commit');
  client.release();
  actor.wakeRouter();
  await untilDeliveries(
    database,
    mailbox.endpointId,
    (all) => all.length === 2 && all.every(({ status }) => status === 'success'),
  );
  expect(requested(mailbox.emailIds)).toEqual(mailbox.emailIds);
});

test('a retry of a delivery that waits for its turn keeps its position', async () => {
  receiver = await startWebhookReceiver({ script: [500, 200] });
  const mailbox = await insertMail('thread', { each: 2 });
  const actor = await start();
  const [, second = ''] = mailbox.emailIds;
  await untilDeliveries(database, mailbox.endpointId, (all) => all.some(({ attempts }) => attempts === 1));
  const { rows } = await database.pool.query<{ id: string }>('select id from delivery where email_id = $1', [second]);
  const deliveryId = await asWorkspace(database, mailbox.workspaceId, (transaction) =>
    deliverNow(transaction, mailbox.workspaceId, {
      id: 'dlv_retried',
      emailId: second,
      endpointId: mailbox.endpointId ?? '',
      type: 'webhook',
      threadId: 'th_0',
      threadPosition: 1,
      attemptsAllowed: 1,
      cause: 'retry',
    }),
  );
  expect(deliveryId).toBe(rows[0]?.id);
  await actor.moveClock(7);
  await untilDeliveries(database, mailbox.endpointId, (all) => all.every(({ status }) => status === 'success'));
  expect(requested(mailbox.emailIds)).toEqual([mailbox.emailIds[0], ...mailbox.emailIds]);
});
