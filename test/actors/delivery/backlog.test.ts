import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertReceivedMail } from '../../support/received-mail.ts';
import { createMailbox } from '../../support/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { startDelivering, type TestDelivery } from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let receiver: WebhookReceiver;
let hanging: WebhookReceiver;
let actor: TestDelivery;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  hanging = await startWebhookReceiver({ script: ['hang'] });
});
afterEach(async () => {
  await receiver.stop();
  await hanging.stop();
  await actor.stop();
});
afterAll(() => testDatabase.drop());

async function mailboxTo(url: string) {
  const domain = `backlog${count++}.test`;
  return await createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: url });
}

test('an endpoint that hangs has few requests open and delays no other, whose mail comes oldest first', async () => {
  receiver = await startWebhookReceiver();
  const stuck = await mailboxTo(hanging.url);
  const others = await Promise.all(Array.from({ length: 20 }, () => mailboxTo(receiver.url)));
  // Older than all the rest, and more than is ever taken in hand at once.
  await insertReceivedMail(database, stuck, { count: 1_000 });
  for (const other of others) await insertReceivedMail(database, other, { count: 50 });
  actor = await startDelivering(database, testDatabase.open(null));
  await receiver.received(20 * 50, 30_000);
  expect(hanging.connectionCount()).toBe(10);
  for (const other of others) {
    const mine = receiver.requests.filter((request) => request.headers['x-endpoint-id'] === other.endpointId);
    // The order in which they came: those in memory at once may pass each other, no more.
    const numbers = mine.map((request) => Number(/<mail\.(\d+)\./.exec(String(request.headers['x-message-id']))?.[1]));
    for (const [at, number] of numbers.entries()) expect(Math.abs(number - at)).toBeLessThan(60);
  }
  const { rows } = await database.pool.query(
    `select count(*) filter (where claimed_by is not null)::integer as in_hand from delivery where endpoint_id = $1`,
    [stuck.endpointId],
  );
  expect(rows[0].in_hand).toBeLessThanOrEqual(200);
}, 60_000);

test('a backlog of thousands drains at hundreds a second, oldest first, with little in memory', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxTo(receiver.url);
  const total = 5_000;
  await insertReceivedMail(database, mailbox, { count: total });
  const before = process.memoryUsage().rss;
  const startedAt = performance.now();
  actor = await startDelivering(database, testDatabase.open(null));
  await receiver.received(total, 50_000);
  const perSecond = (total * 1_000) / (performance.now() - startedAt);
  expect(perSecond).toBeGreaterThan(100);
  expect(new Set(receiver.requests.map((request) => request.webhookId)).size).toBe(total);
  const numbers = receiver.requests.map((request) =>
    Number(/<mail\.(\d+)\./.exec(String(request.headers['x-message-id']))?.[1]),
  );
  const late = numbers.filter((number, at) => at - number > 400);
  expect(late).toEqual([]);
  expect(process.memoryUsage().rss - before).toBeLessThan(250_000_000);
}, 90_000);
