import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connectNatsBus } from '../../actors/bus/nats.ts';
import type { Database } from '../../db/connection/database.ts';
import type { Bus } from '../../schema/messages.ts';
import { isQuick } from '../support/chaos-figures.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../support/rows/routing-rows.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/servers/gateway-process.ts';
import { type NatsServer, startNatsServer } from '../support/servers/nats.ts';
import { until } from '../support/servers/service.ts';
import {
  appendEvents,
  type EventClient,
  followEvents,
  listLabels,
  type Message,
} from '../support/stages/event-feed.ts';

/** Subscribers of one gateway. */
const SUBSCRIBERS = isQuick ? 100 : 1_000;

let test_: TestDatabase;
let owner: Database;
let nats: NatsServer;
let bus: Bus;
let environment: Record<string, string>;
const gateways: GatewayProcess[] = [];
/** In the order of the tests: both serve, the first is killed, the second ends. */
let first: GatewayProcess;
let second: GatewayProcess;
const sockets: Socket[] = [];
const clients = new Set<EventClient>();
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

beforeAll(async () => {
  test_ = await createTestDatabase();
  owner = test_.open(null);
  nats = await startNatsServer();
  bus = connectNatsBus({ url: nats.url, name: 'test', log: silent });
  environment = {
    ...test_.environment,
    NATS_URL: nats.url,
    RATE_LIMIT_PER_SECOND: '0',
    STREAM_LIMIT_PER_USER: '1000',
    ALLOW_UNSAFE_WRITES: 'true',
    LOG_LEVEL: 'info',
  };
  first = await startGateway();
  second = await startGateway();
});
afterEach(() => {
  for (const client of clients) client.close();
  clients.clear();
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  for (const gateway of gateways.splice(0)) await gateway.end('SIGKILL');
  await bus.close();
  await nats.close();
  await test_.drop();
});

async function startGateway(): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(environment);
  gateways.push(gateway);
  return gateway;
}

let users = 0;
function newWorkspace(): Promise<TestMailbox> {
  const domain = `feed${users++}.test`;
  return createMailbox(owner, { domain, address: `hello@${domain}` });
}

async function follow(gateway: GatewayProcess, box: TestMailbox, query = ''): Promise<EventClient> {
  const client = await followEvents(gateway.url, box.apiKey, { query });
  clients.add(client);
  return client;
}

const labels = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `e${from + n}`);

test('readers of two gateways miss nothing and see nothing twice while NATS is killed and returns', async () => {
  const box = await newWorkspace();
  const readers = await Promise.all([first, second, first, second].map((gateway) => follow(gateway, box)));
  const appended: string[] = [];
  const append = async (times: number) => {
    for (let n = 0; n < times; n++) {
      const names = labels(1 + (n % 3), appended.length);
      await appendEvents(owner, box.workspaceId, { labels: names, bus });
      appended.push(...names);
    }
  };
  const all = () =>
    Promise.all(readers.map((reader) => reader.until((messages) => messages.length >= appended.length)));
  await append(50);
  await all();
  await nats.stop();
  await append(50);
  // Within seconds, although nobody tells them.
  await all();
  await nats.start();
  await append(50);
  await all();
  for (const reader of readers) expect(listLabels(reader.messages)).toEqual(appended);
});

test(`${SUBSCRIBERS} subscribers whose gateway is killed resume at another, each with every event once and in order`, async () => {
  const boxes = await Promise.all(Array.from({ length: 4 }, newWorkspace));
  const subscribers = boxes.flatMap((box) =>
    Array.from({ length: SUBSCRIBERS / 4 }, () => ({ box, seen: [] as string[], lastId: '', resumed: 0 })),
  );
  let expected = Number.POSITIVE_INFINITY;
  let done = 0;
  const subscribe = async (subscriber: (typeof subscribers)[number], gateway: GatewayProcess): Promise<void> => {
    const { box, lastId } = subscriber;
    const onMessage = (message: Message) => {
      expect(message.event, JSON.stringify(message.data)).toBe('message');
      subscriber.lastId = message.id;
      subscriber.seen.push(message.data.data.label);
      if (subscriber.seen.length === expected) done++;
    };
    const options = lastId === '' ? { onMessage } : { onMessage, lastEventId: lastId };
    const client = await followEvents(gateway.url, box.apiKey, options);
    clients.add(client);
    expect(client.status).toBe(200);
    void client.ended.then(() => {
      clients.delete(client);
      if (gateway !== first) return;
      subscriber.resumed++;
      return subscribe(subscriber, second);
    });
  };
  for (let n = 0; n < subscribers.length; n += 100)
    await Promise.all(subscribers.slice(n, n + 100).map((subscriber) => subscribe(subscriber, first)));
  let count = 0;
  const append = async (times: number) => {
    for (let n = 0; n < times; n++, count += 2)
      await Promise.all(boxes.map((box) => appendEvents(owner, box.workspaceId, { labels: labels(2, count), bus })));
  };
  await append(20);
  const killed = append(40);
  await until(
    'some have seen what came lately',
    () => '',
    async () => subscribers.some(({ seen }) => seen.length > 45),
  );
  await first.end('SIGKILL');
  await killed;
  expected = count + 40;
  await append(20);
  await until(
    'all have seen all',
    () => `${done} of ${subscribers.length}`,
    async () => done === subscribers.length,
  );
  const wanted = labels(count);
  for (const { seen, resumed } of subscribers) {
    expect(resumed).toBe(1);
    expect(seen).toEqual(wanted);
  }
});

/** A client that asks and then takes nothing of the response. */
function followWithoutReading(gateway: GatewayProcess, box: TestMailbox): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1' }, () => {
      socket.write(
        `GET /api/e2/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${box.apiKey}\r\nAccept: text/event-stream\r\n\r\n`,
      );
      resolve(socket);
    });
    socket.once('error', reject);
    sockets.push(socket);
    socket.pause();
  });
}

/** How many streams the gateway told to have found so. */
const found = (gateway: GatewayProcess, what: 'too slow' | 'abandoned') =>
  gateway.output().split(`"found":"${what}"`).length - 1;

const testAtLength = isQuick ? null : test;
testAtLength?.(
  'readers that take nothing are found too slow and given up, and cost the gateway no memory',
  async () => {
    const gateway = await startGateway();
    const [box, neighbour] = [await newWorkspace(), await newWorkspace()];
    const reader = await follow(gateway, neighbour);
    const good = await follow(gateway, box);
    const stalled = await Promise.all(Array.from({ length: 200 }, () => followWithoutReading(gateway, box)));
    await appendEvents(owner, box.workspaceId, { labels: ['first'], bus });
    await good.until((messages) => messages.length === 1);
    const before = await gateway.memory();
    let most = before;
    // The connections hold some of the events, so that the last ones come when all of them are full.
    for (const [from, to] of [
      [0, 18_000],
      [18_000, 20_000],
    ] as const) {
      for (let n = from; n < to; n += 500) {
        await appendEvents(owner, box.workspaceId, { labels: labels(500, n), bus, padding: 200 });
        most = Math.max(most, await gateway.memory());
      }
      await good.until((messages) => messages.length === to + 1, 100_000);
    }
    await until(
      'all are found slow',
      () => `${found(gateway, 'too slow')}`,
      async () => found(gateway, 'too slow') === stalled.length,
    );
    most = Math.max(most, await gateway.memory());
    // Queues for them would hold 2 GB.
    expect((most - before) / 2 ** 20).toBeLessThan(250);
    // One of them reads again in time, and is told.
    const [late] = stalled;
    let text = '';
    late?.on('data', (chunk) => {
      text += chunk.toString();
    });
    late?.resume();
    await until(
      'it is told',
      () => text.slice(-300),
      async () => text.includes('TOO_FAR_BEHIND'),
    );
    const { cursor } = JSON.parse(/data: (\{"code":"TOO_FAR_BEHIND".*\})/.exec(text)?.[1] ?? '{}');
    const taken = [...text.matchAll(/"label":"(e\d+|first)"/g)].map(([, label]) => label);
    const resumed = await follow(gateway, box, `?after=${cursor}`);
    await resumed.until((messages) => messages.length === 20_001 - taken.length);
    expect([...taken, ...listLabels(resumed.messages)]).toEqual(['first', ...labels(20_000)]);
    await until(
      'the others are given up',
      () => `${found(gateway, 'abandoned')}`,
      async () => found(gateway, 'abandoned') === stalled.length - 1,
      60_000,
    );
    const [, other] = stalled;
    let end = '';
    other?.on('data', (chunk) => {
      end = chunk.toString().slice(-200);
    });
    const closed = new Promise((resolve) => other?.once('close', resolve));
    other?.on('error', () => undefined).resume();
    await closed;
    expect(end).not.toContain('TOO_FAR_BEHIND');
    await appendEvents(owner, neighbour.workspaceId, { labels: ['still'], bus });
    await reader.until((messages) => messages.length === 1);
  },
);

test(`at SIGTERM ${SUBSCRIBERS} streams get the events up to then and their cursors, and the gateway ends by itself`, async () => {
  const gateway = second;
  const box = await newWorkspace();
  const readers: EventClient[] = [];
  for (let n = 0; n < SUBSCRIBERS; n += 100)
    readers.push(...(await Promise.all(Array.from({ length: 100 }, () => follow(gateway, box)))));
  await appendEvents(owner, box.workspaceId, { labels: labels(30), bus });
  const status = gateway.end('SIGTERM');
  await until('it drains', gateway.output, async () => gateway.output().includes('"draining"'));
  await appendEvents(owner, box.workspaceId, { labels: labels(30, 30), bus });
  await Promise.all(readers.map(({ ended }) => ended));
  expect(await status).toBe(0);
  expect(gateway.output()).not.toContain('took too long');
  for (const { messages } of readers) {
    const last = messages.at(-1);
    expect(last).toMatchObject({ event: 'error', data: { code: 'GOING_AWAY', cursor: last?.id } });
    expect(listLabels(messages)).toEqual(labels(60));
    expect(messages.at(-2)?.id).toBe(last?.id);
  }
});
