import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { isFullLength, isQuick, noteFigure } from '../../support/chaos-figures.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { startDelivering, type TestDelivery } from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
/** of the test at hand */
const receivers: { stop(): Promise<void> }[] = [];
let actor: TestDelivery;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
});
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
  await actor.stop();
});
afterAll(() => testDatabase.drop());

async function mailboxTo(url: string) {
  const domain = `backlog${count++}.test`;
  return createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: url });
}

test('an endpoint that hangs has few open requests and delays no other, whose mail comes oldest first', async () => {
  const receiver = await startWebhookReceiver();
  const hanging = await startWebhookReceiver({ script: ['hang'] });
  receivers.push(receiver, hanging);
  const stuck = await mailboxTo(hanging.url);
  const others = await Promise.all(Array.from({ length: 20 }, () => mailboxTo(receiver.url)));
  // Older than all the rest, and more than is ever taken in hand at once.
  await insertReceivedMail(database, stuck, { count: 1_000 });
  for (const other of others) await insertReceivedMail(database, other, { count: 50 });
  actor = await startDelivering(database, testDatabase.open(null));
  await receiver.received(20 * 50, 110_000);
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
});

const BACKLOG = isFullLength ? 50_000 : isQuick ? 1_500 : 5_000;
/** What the second half of the webhooks may leave in memory. Bytes. */
const GROWTH_LIMIT = 50_000_000;

/** Memory in use after a garbage collection, buffers included. */
function retainedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test(
  `a backlog of ${BACKLOG} webhooks is delivered oldest first, each once, with flat memory`,
  async () => {
    const sink = await startCountingReceiver();
    receivers.push(sink);
    const mailbox = await mailboxTo(sink.url);
    await insertReceivedMail(database, mailbox, { count: BACKLOG });
    const half = sink.received(BACKLOG / 2).then(retainedBytes);
    const startedAt = performance.now();
    actor = await startDelivering(database, testDatabase.open(null));
    await sink.received(BACKLOG);
    const perSecond = (BACKLOG * 1_000) / (performance.now() - startedAt);
    expect(new Set(sink.webhookIds).size).toBe(BACKLOG);
    // Those in memory at once may pass each other, no more.
    expect(sink.numbers.filter((number, at) => at - number > 400)).toEqual([]);
    const growth = retainedBytes() - (await half);
    expect(growth).toBeLessThan(GROWTH_LIMIT);
    const [growthMiB, residentMiB] = [growth, process.memoryUsage().rss].map((bytes) => (bytes / 2 ** 20).toFixed(0));
    await noteFigure(
      'H5',
      `${BACKLOG} webhooks at ${perSecond.toFixed(0)} per second; the second half retained ${growthMiB} MiB; ${residentMiB} MiB resident with the rows and the receiver`,
    );
    if (isFullLength) expect(perSecond).toBeGreaterThan(100);
  },
  isFullLength ? 900_000 : 240_000,
);

/** An HTTP server that keeps no more of a webhook than its id and the number of its mail. */
async function startCountingReceiver() {
  const webhookIds: string[] = [];
  const numbers: number[] = [];
  const waiting = new Map<number, () => void>();
  let responded = 0;
  const server = createServer((request, response) => {
    webhookIds.push(String(request.headers['webhook-id']));
    numbers.push(Number(/<mail\.(\d+)\./.exec(String(request.headers['x-message-id']))?.[1]));
    request.resume();
    request.once('end', () => {
      response.end();
      waiting.get(++responded)?.();
    });
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', () => done()));
  const { port } = server.address() as AddressInfo;
  const received = (count: number) => new Promise<void>((done) => void waiting.set(count, done));
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, webhookIds, numbers, received, stop };
}
