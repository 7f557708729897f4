import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { inOneWindow } from '../../support/one-window.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { countStatements } from '../../support/statements.ts';

const LIMIT = 100;
/** Requests may be made on a lease for so long. */
const LEASE_MS = 1_000;

let gateway: TestGateway;
let other: Awaited<ReturnType<TestGateway['beside']>>;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function openBoth(limit = LIMIT): Promise<void> {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: limit, requestLimitStore: 'shared' } });
  closers.push(() => gateway.close());
  other = await gateway.beside();
  closers.push(() => other.app.close());
}

const LIMIT_FIELDS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

test('a user with two keys who uses two gateways at once gets the limit in total, and 429 beyond it', async () => {
  const limit = 20;
  await openBoth(limit);
  const box = await gateway.mailbox();
  const second = await createMailbox(gateway.owner, {
    domain: 'again.test',
    address: 'a@again.test',
    workspaceId: box.workspaceId,
  });
  const calls = [gateway.call, other.call];
  const keys = [box.apiKey, second.apiKey];
  // Keys are looked up first, so that the burst is counted within one second.
  for (const call of calls) for (const key of keys) expect((await call(key, 'GET', '/domains/x')).statusCode).toBe(404);
  const startedAt = performance.now();
  const responses = await Promise.all(
    Array.from({ length: 10 * limit }, (_, n) =>
      (calls[n % 2] ?? gateway.call)(keys[(n >> 1) % 2] ?? '', 'GET', '/domains/x', undefined),
    ),
  );
  const windows = Math.ceil((performance.now() - startedAt) / 1_000);
  const refused = responses.filter((response) => response.statusCode === 429);
  expect(responses.length - refused.length).toBeLessThanOrEqual(windows * limit);
  expect(responses.length - refused.length).toBeGreaterThanOrEqual(limit - 4 - 4);
  expect(responses.every(({ statusCode }) => statusCode === 429 || statusCode === 404)).toBe(true);
  expect(refused[0]?.json()).toEqual({
    error: 'Too Many Requests',
    message: expect.stringMatching(
      /^Rate limit exceeded\. Maximum 20 requests per second\. Retry after [12] seconds\.$/,
    ),
    statusCode: 429,
    name: 'rate_limit_exceeded',
  });
  expect(refused[0]?.headers).toMatchObject({
    'retry-after': expect.stringMatching(/^[12]$/),
    'x-ratelimit-limit': '20',
    'x-ratelimit-remaining': '0',
    'ratelimit-remaining': '0',
  });
  const neighbour = await gateway.mailbox();
  expect((await other.call(neighbour.apiKey, 'GET', '/endpoints')).statusCode).toBe(200);
  await expect.poll(async () => (await other.call(box.apiKey, 'GET', '/endpoints')).statusCode).toBe(200);
});

test('every response to a known key has the rate limit headers, whatever its status', async () => {
  await openBoth();
  const { apiKey } = await gateway.mailbox();
  const responses = [
    [200, await gateway.call(apiKey, 'GET', '/endpoints')],
    [404, await gateway.call(apiKey, 'GET', '/domains/x')],
    [400, await gateway.call(apiKey, 'GET', '/domains?limit=0')],
    [
      415,
      await gateway.app.inject({
        method: 'POST',
        url: '/api/e2/domains',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'text/plain' },
        payload: 'x',
      }),
    ],
    [404, await gateway.call(apiKey, 'GET', '/attachments/x/y')],
    [200, await gateway.graphql(apiKey, '{ viewer { id } }')],
    [400, await gateway.graphql(apiKey, '{ nonsense }')],
  ] as const;
  for (const [statusCode, response] of responses) {
    expect(response.statusCode, response.body).toBe(statusCode);
    expect(Object.keys(response.headers), response.body).toEqual(expect.arrayContaining(LIMIT_FIELDS));
  }
  const unknown = await gateway.call('unknown', 'GET', '/endpoints');
  expect([unknown.statusCode, unknown.headers['x-ratelimit-limit']]).toEqual([401, undefined]);
});

test('a request is checked in order: its key, the limit, then its fields', async () => {
  await openBoth(1);
  const codes = await inOneWindow(async () => {
    const { apiKey } = await gateway.mailbox();
    return [
      await gateway.call(apiKey, 'GET', '/endpoints'),
      await gateway.call('unknown', 'POST', '/domains', { domain: 7 }),
      await gateway.call(apiKey, 'POST', '/domains', { domain: 7 }),
      await other.call(apiKey, 'POST', '/domains', { domain: 7 }),
    ].map(({ statusCode }) => statusCode);
  });
  expect(codes).toEqual([200, 401, 429, 429]);
});

test('the limit is not changed by a forged X-Forwarded-For', async () => {
  await openBoth(2);
  const codes = await inOneWindow(async () => {
    const { apiKey } = await gateway.mailbox();
    const responses = [];
    for (const [n, app] of [gateway.app, other.app, gateway.app].entries()) {
      const headers = { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': `10.0.0.${n}` };
      responses.push((await app.inject({ url: '/api/e2/endpoints', headers })).statusCode);
    }
    return responses;
  });
  expect(codes).toEqual([200, 200, 429]);
});

test('most requests take no statement more than without a limit', async () => {
  await openBoth();
  const { apiKey } = await gateway.mailbox();
  const ask = () => gateway.call(apiKey, 'GET', '/endpoints');
  const free = await openTestGateway();
  closers.push(() => free.close());
  const unlimited = await free.mailbox();
  const askFree = () => free.call(unlimited.apiKey, 'GET', '/endpoints');
  await ask();
  await askFree();
  const repeat = (work: () => Promise<{ statusCode: number }>) =>
    countStatements(async () => {
      for (let n = 0; n < 50; n++) expect((await work()).statusCode).toBe(200);
    });
  const { statements: without } = await repeat(askFree);
  const { statements } = await repeat(ask);
  expect(statements - without).toBeGreaterThan(0);
  expect(statements - without).toBeLessThan(25);
});

test('a gateway that starts again continues the count', async () => {
  await openBoth(20);
  const { apiKey } = await gateway.mailbox();
  const burst = (call: TestGateway['call']) =>
    Promise.all(Array.from({ length: 15 }, () => call(apiKey, 'GET', '/endpoints')));
  await gateway.call(apiKey, 'GET', '/endpoints');
  const passed = (responses: readonly { statusCode: number }[]) =>
    responses.filter(({ statusCode }) => statusCode === 200).length;
  const startedAt = performance.now();
  const before = passed(await burst(other.call));
  await other.app.close();
  other = await gateway.beside();
  const after = passed(await burst(other.call));
  const windows = Math.ceil((performance.now() - startedAt) / 1_000);
  expect(before).toBe(15);
  expect(after).toBeLessThanOrEqual(windows * 20 - 15 - 1);
});

test('requests that cannot be counted are 503 with Retry-After: 60, and all recovers by itself', async () => {
  const proxies: TcpProxy[] = [];
  gateway = await openTestGateway({
    config: { rateLimitPerSecond: LIMIT, requestLimitStore: 'shared' },
    databasePort: async (server) => {
      const proxy = await startTcpProxy(server);
      proxies.push(proxy);
      return proxy.port;
    },
  });
  closers.push(async () => {
    for (const proxy of proxies) proxy.setMode('pass');
    await gateway.close();
    for (const proxy of proxies) await proxy.close();
  });
  const { apiKey } = await gateway.mailbox();
  for (const mode of ['refuse', 'stall'] as const) {
    // The key stays known for five seconds, longer than any lease, so that the limit is what fails.
    await expect.poll(async () => (await gateway.call(apiKey, 'GET', '/endpoints')).statusCode).toBe(200);
    await pause(LEASE_MS);
    for (const proxy of proxies) proxy.setMode(mode);
    const responses = await Promise.all([
      gateway.call(apiKey, 'POST', '/domains', { domain: 'x.example' }),
      gateway.graphql(apiKey, '{ viewer { id } }'),
      ...Array.from({ length: 10 }, () => gateway.call(apiKey, 'GET', '/endpoints')),
    ]);
    const told = {
      message: 'Rate limiting service is temporarily unavailable. Please try again later.',
      statusCode: 503,
    };
    for (const [at, response] of responses.entries()) {
      const { message, statusCode } = told;
      const inGraph = { message, extensions: { code: 'application_error', statusCode, requestId: expect.any(String) } };
      expect([response.statusCode, response.json()], mode).toEqual([
        503,
        at === 1 ? { errors: [inGraph] } : { error: 'Service Unavailable', ...told, name: 'application_error' },
      ]);
      expect(response.headers['retry-after']).toBe('60');
    }
    for (const proxy of proxies) proxy.setMode('pass');
  }
  await expect.poll(async () => (await gateway.call(apiKey, 'GET', '/endpoints')).statusCode).toBe(200);
  expect((await gateway.call(apiKey, 'POST', '/domains', { domain: 'x.example' })).statusCode).toBe(201);
});
