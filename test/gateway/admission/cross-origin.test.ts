import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 5 } });
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const origin = 'https://pages.test';
const preflight = (url: string) =>
  gateway.app.inject({
    url,
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  });

test('a preflight is served without a key, for any origin, with the requested method and fields', async () => {
  for (const url of ['/api/e2/emails', '/api/v2/emails', '/api/e2/emails/em_1/reply']) {
    const { statusCode, headers, body } = await preflight(url);
    expect([statusCode, body]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,content-type,idempotency-key',
      'access-control-max-age': '86400',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  }
});

test('responses and errors can be read by any page, limits included', async () => {
  const call = (url: string, key: string) =>
    gateway.app.inject({ url, headers: { origin, authorization: `Bearer ${key}` } });
  const responses = [
    await call('/api/e2/emails', box.apiKey),
    await call('/api/e2/emails', 'wrong'),
    await call('/api/e2/emails/em_unknown', box.apiKey),
    await call('/api/e2/nothing', box.apiKey),
    await call('/api/e2/openapi.json', ''),
  ];
  expect(
    responses.map((response) => response.statusCode),
    responses.at(-1)?.body.slice(0, 500),
  ).toEqual([200, 401, 404, 404, 200]);
  for (const { headers } of responses) {
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  }
  const exposed = String(responses[0]?.headers['access-control-expose-headers']).toLowerCase().split(', ');
  const sent = Object.keys(responses[0]?.headers ?? {}).filter((name) => name.includes('ratelimit'));
  expect(sent).toHaveLength(6);
  expect(exposed).toEqual(expect.arrayContaining([...sent, 'retry-after', 'x-request-id']));
});

test('paths outside of REST and GraphQL cannot be read by pages of other origins', async () => {
  for (const url of ['/health', '/ready', '/api/v1/emails', '/']) {
    const asked = await preflight(url);
    const got = await gateway.app.inject({ url, headers: { origin } });
    for (const { headers } of [asked, got]) expect(headers, url).not.toHaveProperty('access-control-allow-origin');
  }
});
