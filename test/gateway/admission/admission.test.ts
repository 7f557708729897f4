import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
const open = async (options?: TestGatewayOptions) => {
  gateway = await openTestGateway(options);
  return gateway;
};
afterEach(() => gateway.close());

const UNAUTHORIZED = {
  error: 'Unauthorized',
  message: 'Authentication required. Provide a valid session cookie or Bearer token.',
  statusCode: 401,
  name: 'missing_api_key',
};

describe('keys', () => {
  test('without a valid key a request is 401: missing_api_key without a key, invalid_api_key with a wrong one', async () => {
    const { app, mailbox, actor } = await open();
    const box = await mailbox();
    const revoked = await mailbox();
    const expired = await mailbox();
    const digest = (key: string) => createHash('sha256').update(key).digest();
    const owner = actor.pool;
    await owner.query('update api_key set revoked_at = now() where secret_sha256 = $1', [digest(revoked.apiKey)]);
    await owner.query(`update api_key set expires_at = now() - interval '1 s' where secret_sha256 = $1`, [
      digest(expired.apiKey),
    ]);
    const missing: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer ' },
      { authorization: `Basic ${box.apiKey}` },
      { authorization: box.apiKey },
      { 'x-api-key': box.apiKey },
      { cookie: `key=${box.apiKey}` },
    ];
    const wrong: Record<string, string>[] = [
      { authorization: 'Bearer wrong' },
      { authorization: `Bearer ${box.apiKey} x` },
      { authorization: `Bearer ${box.apiKey.slice(0, -1)}` },
      { authorization: `Bearer ${'x'.repeat(5_000)}` },
      { authorization: `Bearer ${revoked.apiKey}` },
      { authorization: `Bearer ${expired.apiKey}` },
    ];
    const attempts = [
      ...missing.map((headers) => ({ headers, name: 'missing_api_key' })),
      ...wrong.map((headers) => ({ headers, name: 'invalid_api_key' })),
    ];
    for (const url of ['/api/e2/emails', '/graphql?query={viewer{id}}'])
      for (const { headers, name } of attempts) {
        const response = await app.inject({ url, headers });
        const { message, statusCode } = UNAUTHORIZED;
        const extensions = { code: name, statusCode, requestId: expect.any(String) };
        const inGraph = { errors: [{ message, extensions }] };
        expect([response.statusCode, response.json()], JSON.stringify(headers)).toEqual([
          401,
          url.startsWith('/graphql') ? inGraph : { ...UNAUTHORIZED, name },
        ]);
        expect(response.headers).toMatchObject({
          'www-authenticate': 'Bearer realm="API", charset="UTF-8"',
          'content-type': 'application/json; charset=utf-8',
        });
      }
  });

  test('the scheme is accepted in any letter case', async () => {
    const { app, mailbox } = await open();
    const { apiKey } = await mailbox();
    const response = await app.inject({ url: '/api/e2/emails', headers: { authorization: `bearer  ${apiKey}` } });
    expect(response.statusCode).toBe(200);
  });

  test('a key in the query string is not accepted', async () => {
    const { app, mailbox } = await open();
    const { apiKey } = await mailbox();
    for (const name of ['api_key', 'apiKey', 'key', 'token', 'access_token', 'authorization'])
      expect((await app.inject({ url: `/api/e2/emails?${name}=${apiKey}` })).statusCode).toBe(401);
  });

  test('a revoked key is rejected after the broadcast', async () => {
    const { call, mailbox, actor, bus } = await open();
    const { apiKey, workspaceId } = await mailbox();
    expect((await call(apiKey, 'GET', '/emails')).statusCode).toBe(200);
    await actor.pool.query('update api_key set revoked_at = now() where workspace_id = $1', [workspaceId]);
    bus.publish('credential.changed', { ownerId: workspaceId });
    await expect.poll(async () => (await call(apiKey, 'GET', '/emails')).statusCode).toBe(401);
  });

  test('a revoked key is rejected within 5 seconds even if the broadcast is lost', async () => {
    const { call, graphql, mailbox, actor } = await open();
    const { apiKey, workspaceId } = await mailbox();
    expect((await call(apiKey, 'GET', '/emails')).statusCode).toBe(200);
    await actor.pool.query('update api_key set revoked_at = now() where workspace_id = $1', [workspaceId]);
    const poll = { interval: 250 };
    await expect.poll(async () => (await call(apiKey, 'GET', '/emails')).statusCode, poll).toBe(401);
    expect((await graphql(apiKey, '{ viewer { id } }')).statusCode).toBe(401);
  });

  test('the time and address of the last use of a key are stored, from a trusted proxy by its header', async () => {
    const { app, call, mailbox, actor } = await open({ config: { trustedProxies: ['127.0.0.1'] } });
    const { apiKey, workspaceId } = await mailbox();
    await call(apiKey, 'GET', '/emails', undefined, { 'x-forwarded-for': '203.0.113.9' });
    await app.close();
    const { rows } = await actor.pool.query(
      'select last_used_at, last_used_from from api_key where workspace_id = $1',
      [workspaceId],
    );
    expect(Date.now() - rows[0].last_used_at.getTime()).toBeLessThan(60_000);
    expect(rows[0].last_used_from).toBe('203.0.113.9');
  });

  test('the log contains no key and no path of a user', async () => {
    const { call, mailbox, logged } = await open();
    const { apiKey } = await mailbox();
    await call(apiKey, 'GET', '/emails?search=canary-text');
    await call(apiKey, 'GET', '/emails/canary-id');
    const text = JSON.stringify(logged);
    expect(text).toContain('/api/e2/emails/:id');
    for (const secret of [apiKey, 'canary']) expect(text).not.toContain(secret);
  });
});

describe('the request limit', () => {
  test('responds 429 with both dialects of header fields, per user and not per key', async () => {
    const { call, graphql, mailbox, actor } = await open({ config: { rateLimitPerSecond: 5 } });
    const box = await mailbox();
    const other = await mailbox();
    const second = await createMailbox(actor, {
      domain: 'again.test',
      address: 'a@again.test',
      workspaceId: box.workspaceId,
    }).catch(() => null);
    const keys = [box.apiKey, second?.apiKey ?? box.apiKey];
    const responses = [];
    for (let n = 0; n < 6; n++) responses.push(await call(keys[n % 2] ?? '', 'GET', '/endpoints'));
    expect(responses.map((response) => response.statusCode)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(responses.map((response) => response.headers['x-ratelimit-remaining'])).toEqual([
      '4',
      '3',
      '2',
      '1',
      '0',
      '0',
    ]);
    expect(responses[0]?.headers).toMatchObject({
      'x-ratelimit-limit': '5',
      'x-ratelimit-reset': expect.stringMatching(/^\d{13}$/),
      'ratelimit-limit': '5',
      'ratelimit-remaining': '4',
      'ratelimit-reset': '1',
    });
    expect(responses[0]?.headers['retry-after']).toBeUndefined();
    const refused = responses[5];
    expect(refused?.json()).toEqual({
      error: 'Too Many Requests',
      message: 'Rate limit exceeded. Maximum 5 requests per second. Retry after 1 seconds.',
      statusCode: 429,
      name: 'rate_limit_exceeded',
    });
    expect(refused?.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit': '5',
      'ratelimit-limit': '5',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '1',
      'content-type': 'application/json; charset=utf-8',
    });
    const reset = Number(refused?.headers['x-ratelimit-reset']);
    expect(reset - Date.now()).toBeLessThanOrEqual(1_000);
    expect((await graphql(box.apiKey, '{ viewer { id } }')).statusCode).toBe(429);
    expect((await call(other.apiKey, 'GET', '/endpoints')).statusCode).toBe(200);
    await expect.poll(async () => (await call(box.apiKey, 'GET', '/endpoints')).statusCode).toBe(200);
  });

  test('is not changed by a forged X-Forwarded-For', async () => {
    const { app, mailbox } = await open({ config: { rateLimitPerSecond: 2 } });
    const { apiKey } = await mailbox();
    const codes = [];
    for (let n = 0; n < 3; n++)
      codes.push(
        (
          await app.inject({
            url: '/api/e2/endpoints',
            headers: { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': `10.0.0.${n}` },
          })
        ).statusCode,
      );
    expect(codes).toEqual([200, 200, 429]);
  });

  test('of 0 means no limit', async () => {
    const { call, mailbox } = await open({ config: { rateLimitPerSecond: 0 } });
    const { apiKey } = await mailbox();
    for (let round = 0; round < 15; round++) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => call(apiKey, 'GET', '/domains/x')));
      expect(responses.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(404));
      expect(responses[0]?.headers['x-ratelimit-limit']).toBeUndefined();
    }
  });
});
