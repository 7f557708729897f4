import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type EventClient, followEvents } from '../../support/stages/event-feed.ts';

const LIMIT = 3;
let gateway: TestGateway;
let url: string;
const ends: (() => void)[] = [];
beforeAll(async () => {
  gateway = await openTestGateway({ config: { streamLimitPerUser: LIMIT } });
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await opened(0);
});
afterAll(() => gateway.close());

/** Resolves when exactly so many streams and waits are open. */
const opened = (count: number) => expect.poll(() => gateway.app.events.size()).toBe(count);

async function follow(key: string, of: string = url): Promise<EventClient> {
  const client = await followEvents(of, key);
  ends.push(() => client.close());
  return client;
}

interface Request {
  response: Promise<Response>;
  abort(): void;
}

function post(key: string, path: string, body: unknown, accept = 'application/json'): Request {
  const controller = new AbortController();
  const abort = () => controller.abort();
  ends.push(abort);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal: controller.signal };
  const response = fetch(`${url}${path}`, init);
  // Aborted at the end of the test.
  response.catch(() => undefined);
  return { response, abort };
}

const wait = ({ apiKey }: TestMailbox) => post(apiKey, '/api/e2/emails/wait', { timeout: 60 });
const graphWait = ({ apiKey }: TestMailbox) =>
  post(apiKey, '/graphql', { query: '{ waitForEmail(timeout: 60) { id } }' });
const subscribe = ({ apiKey }: TestMailbox) =>
  post(apiKey, '/graphql', { query: 'subscription { events { kind } }' }, 'text/event-stream');

const MESSAGE =
  'Too many open streams and waiting requests: a user may have at most 3 per gateway. Close one, then try again.';

test('one stream above the limit of a user gets 429, and the slot of one that is closed is free again', async () => {
  const box = await gateway.mailbox();
  const streams = await Promise.all(Array.from({ length: LIMIT }, () => follow(box.apiKey)));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const refused = await follow(box.apiKey);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
  await refused.ended;
  const body = { error: 'Too Many Requests', message: MESSAGE, name: 'rate_limit_exceeded', statusCode: 429 };
  expect(JSON.parse(refused.text())).toEqual(body);
  // A page that is waited for is a wait, too.
  const page = await gateway.call(box.apiKey, 'GET', '/events?after=latest&wait=1');
  expect([page.statusCode, page.json()]).toEqual([429, body]);
  // The limit is that of one user.
  expect((await follow((await gateway.mailbox()).apiKey)).status).toBe(200);
  streams[0]?.close();
  await opened(LIMIT);
  expect((await follow(box.apiKey)).status).toBe(200);
});

test('streams, subscriptions and waits of a user count together, in REST and GraphQL', async () => {
  const box = await gateway.mailbox();
  const subscription = subscribe(box);
  expect((await subscription.response).status).toBe(200);
  const waits = [wait(box), graphWait(box)];
  await opened(LIMIT);

  expect((await follow(box.apiKey)).status).toBe(429);
  const refusedWait = await wait(box).response;
  expect([refusedWait.status, refusedWait.headers.get('retry-after')]).toEqual([429, '5']);
  for (const request of [subscribe(box), graphWait(box)]) {
    const refused = await request.response;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    const text = await refused.text();
    expect(text).toContain('"code":"rate_limit_exceeded"');
    expect(text).toContain(MESSAGE);
  }

  // A request that is aborted gives its slot back, of whatever kind it is.
  for (const request of [...waits, subscription]) {
    request.abort();
    await opened(LIMIT - 1);
    const next = wait(box);
    ends.push(() => next.abort());
    await opened(LIMIT);
  }
});

test('a wait that has ended releases its slot', async () => {
  const box = await gateway.mailbox();
  await Promise.all([follow(box.apiKey), follow(box.apiKey)]);
  for (let n = 0; n <= LIMIT; n++)
    expect((await gateway.call(box.apiKey, 'POST', '/emails/wait', { timeout: 0 })).statusCode).toBe(200);
});

test('a revoked key releases the slots of its streams', async () => {
  const box = await gateway.mailbox();
  const created = await gateway.graphql(
    box.apiKey,
    'mutation { createApiKey(input: { name: "stream" }) { ... on CreateApiKeyPayload { secret apiKey { id } } } }',
  );
  const { secret, apiKey } = created.json().data.createApiKey;
  const streams = await Promise.all(Array.from({ length: LIMIT }, () => follow(secret)));
  expect((await follow(box.apiKey)).status).toBe(429);
  await gateway.graphql(box.apiKey, `mutation { revokeApiKey(input: { id: "${apiKey.id}" }) { __typename } }`);
  await Promise.all(streams.map(({ ended }) => ended));
  await opened(0);
  expect((await follow(box.apiKey)).status).toBe(200);
});

test('a gateway that drains gives all slots back', async () => {
  const box = await gateway.mailbox();
  const { app } = await gateway.beside();
  const besideUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const streams = await Promise.all(Array.from({ length: LIMIT }, () => follow(box.apiKey, besideUrl)));
  expect(app.events.size()).toBe(LIMIT);
  // Slots are those of one gateway.
  expect((await follow(box.apiKey)).status).toBe(200);
  await app.close();
  await Promise.all(streams.map(({ ended }) => ended));
  expect(app.events.size()).toBe(0);
});
