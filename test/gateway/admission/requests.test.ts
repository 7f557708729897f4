import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../../db/connection/database.ts';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { removeLeftovers } from '../../../db/queries/upkeep/remove-leftovers.ts';
import { logRequests } from '../../../gateway/admission/request-log.ts';
import { gatewayMetrics } from '../../../schema/metrics.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { requestLog: 'on' } });
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const send = (method: 'POST' | 'PATCH' | 'GET', url: string, payload?: string | Buffer, headers = {}) =>
  gateway.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${box.apiKey}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const JSON_TYPE = { 'content-type': 'application/json' };

describe('paths', () => {
  test('that no route serves are 404', async () => {
    for (const url of ['/api/e2', '/api/e2/nothing', '/api/e3/emails', '/emails', '/api/e2/emails/x/y/z']) {
      const response = await send('GET', url);
      expect([response.statusCode, response.json()]).toEqual([
        404,
        {
          error: 'Not Found',
          message: 'The requested resource does not exist.',
          statusCode: 404,
          name: 'not_found',
          deprecation_notice: expect.stringContaining('/api/v1 was removed'),
        },
      ]);
    }
  });

  test('of /api/v2 are those of /api/e2', async () => {
    const one = await send('GET', '/api/v2/domains?limit=3');
    const other = await send('GET', '/api/e2/domains?limit=3');
    expect([one.statusCode, one.body]).toEqual([200, other.body]);
  });

  test('of /api/v1 are 410', async () => {
    for (const url of ['/api/v1', '/api/v1/', '/api/v1/emails/x']) {
      const response = await gateway.app.inject({ url, method: 'POST' });
      expect([response.statusCode, response.json().error]).toEqual([410, 'Gone']);
    }
  });

  test('with a bad percent escape get the response to an unknown id', async () => {
    const unknown = await send('GET', '/api/e2/emails/em_00000000000000000000000000000000');
    for (const id of ['%', '%zz', '%ff', '%c3%28', '%E0%A4%A', 'a%2fb', '%00', "'", '..%2f', '%25'])
      expect((await send('GET', `/api/e2/emails/${id}`)).body, id).toBe(unknown.body);
  });

  test('are named in every log line of a request', async () => {
    const one = await send('GET', '/api/e2/domains');
    const other = await send('GET', '/health');
    expect(one.headers['x-request-id']).toMatch(/^[0-9a-f]{24}$/);
    expect(other.headers['x-request-id']).not.toBe(one.headers['x-request-id']);
  });
});

describe('bodies', () => {
  const valid = JSON.stringify({ name: 'x', type: 'email', config: { forwardTo: 'a@x.test' } });

  test('of another content type or without one are 415', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      {},
    ]) {
      const response = await send('POST', '/api/e2/endpoints', valid, headers);
      expect([response.statusCode, response.json().error]).toEqual([415, 'Unsupported Media Type']);
    }
  });

  test('that are compressed are 415', async () => {
    const response = await send('POST', '/api/e2/endpoints', gzipSync(valid), {
      ...JSON_TYPE,
      'content-encoding': 'gzip',
    });
    expect(response.statusCode).toBe(415);
  });

  test('that are not JSON are 400', async () => {
    for (const body of ['{', 'nonsense', '{"a":}', '\u0000', '{"a":1}x']) {
      const response = await send('POST', '/api/e2/endpoints', body, JSON_TYPE);
      expect([response.statusCode, response.json()]).toEqual([
        400,
        {
          error: 'Bad Request',
          message: 'The request body is not valid JSON.',
          statusCode: 400,
          name: 'validation_error',
        },
      ]);
    }
  });

  test('of a JSON content type that are empty count as missing', async () => {
    const none = await send('PATCH', '/api/e2/emails/x', '', JSON_TYPE);
    expect([none.statusCode, none.json().error]).toEqual([400, 'Bad Request']);
    expect((await send('GET', '/api/e2/domains', undefined, JSON_TYPE)).statusCode).toBe(200);
  });

  test('that are not objects are 400', async () => {
    for (const body of ['null', '[]', '7', '"x"', 'true'])
      expect((await send('POST', '/api/e2/endpoints', body, JSON_TYPE)).statusCode).toBe(400);
  });

  test('above 256 KB are 413', async () => {
    const response = await send('POST', '/api/e2/endpoints', JSON.stringify({ name: 'x'.repeat(262_144) }), JSON_TYPE);
    expect([response.statusCode, response.json().error]).toEqual([413, 'Payload Too Large']);
    const variables = { x: 'x'.repeat(262_144) };
    const graphql = await send(
      'POST',
      '/graphql',
      JSON.stringify({ query: '{ viewer { id } }', variables }),
      JSON_TYPE,
    );
    expect([graphql.statusCode, graphql.json().errors.length]).toEqual([413, 1]);
  });

  test('of deep arrays, many keys and huge numbers are 400', async () => {
    const deep = 100_000;
    const bodies = [
      `${'['.repeat(deep)}${']'.repeat(deep)}`,
      `{"name":${'['.repeat(deep)}${']'.repeat(deep)}}`,
      `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
      '{"name":1e400,"type":"email","config":{}}',
    ];
    for (const body of bodies) expect((await send('POST', '/api/e2/endpoints', body, JSON_TYPE)).statusCode).toBe(400);
  });

  test('that try to pollute prototypes change nothing', async () => {
    const body = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},${valid.slice(1)}`;
    const response = await send('POST', '/api/e2/endpoints', body, JSON_TYPE);
    expect(response.statusCode).toBe(201);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((await send('GET', '/api/e2/emails?__proto__=x&constructor=y')).statusCode).toBe(200);
  });

  test('with halves of surrogate pairs in a config are accepted with U+FFFD; whole pairs and escaped backslashes stay', async () => {
    const config = String.raw`{"forwardTo":"a@x.test","subjectPrefix":"\ud800 \ud83d\ude00 \\\ud800 \\ud800 \udc00\ud83d"}`;
    const made = await send(
      'POST',
      '/api/e2/endpoints',
      String.raw`{"name":"\uD8ff","type":"email","config":${config}}`,
      JSON_TYPE,
    );
    expect(made.statusCode, made.body).toBe(201);
    const { name, config: kept } = made.json();
    expect([name, kept.subjectPrefix]).toEqual(['\ufffd', '\ufffd \u{1f600} \\\ufffd \\ud800 \ufffd\ufffd']);
    const headers = await send(
      'POST',
      '/api/e2/endpoints',
      String.raw`{"name":"x","type":"webhook","config":{"url":"https://x.test/","headers":{"\ud800":"x"}}}`,
      JSON_TYPE,
    );
    expect(headers.statusCode, headers.body).toBe(400);
    for (const rule of [String.raw`{"subject":["a\ud800"]}`, JSON.stringify(String.raw`{"subject":["a\ud800"]}`)]) {
      const body = `{"name":"x","type":"explicit","config":${rule},"action":{"action":"block"}}`;
      const response = await send('POST', '/api/e2/guard', body, JSON_TYPE);
      expect(response.statusCode, response.body).toBe(201);
      expect(response.json().data.configObject.subject.values).toEqual(['a\ufffd']);
    }
  });

  test('with U+0000 in stored texts are 400', async () => {
    for (const [path, body] of [
      ['endpoints', { ...JSON.parse(valid), name: 'a\0' }],
      ['endpoints', { name: 'x', type: 'email', config: { forwardTo: 'a@x.test', subjectPrefix: '\0' } }],
      ['endpoints', { name: 'x', type: 'webhook', config: { url: 'https://x.test/', headers: { 'x-a': '\0' } } }],
      ['guard', { name: 'x', type: 'explicit', config: { subject: ['\0'] }, action: { action: 'block' } }],
      ['guard', { name: 'x', type: 'explicit', config: { subject: ['a'], mode: '\0' }, action: { action: 'block' } }],
      ['guard', { name: 'x', type: 'ai_prompt', config: { prompt: '\0' }, action: { action: 'block' } }],
    ] as const) {
      const response = await send('POST', `/api/e2/${path}`, JSON.stringify(body), JSON_TYPE);
      expect(response.statusCode, JSON.stringify(body) + response.body).toBe(400);
    }
  });

  test('may contain unknown fields', async () => {
    const body = JSON.stringify({ ...JSON.parse(valid), surprise: true });
    expect((await send('POST', '/api/e2/endpoints', body, JSON_TYPE)).statusCode).toBe(201);
  });
});

describe('over a socket', () => {
  let port: number;
  beforeAll(async () => {
    await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    port = (gateway.app.server.address() as { port: number }).port;
  });

  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let response = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (bytes) => {
        response += bytes.toString();
      });
      socket.on('close', () => resolve(response));
      socket.on('error', reject);
    });

  test('a header section of 20 KB is 431', async () => {
    expect(await raw(`GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431/,
    );
  });

  test('bytes that are not HTTP are 400 and closed', async () => {
    expect(await raw('EHLO there\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/);
  });

  test('a chunked body above the limit is 413', async () => {
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const head = `POST /api/e2/endpoints HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${box.apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await raw(head + chunk.repeat(10))).toMatch(/^HTTP\/1\.1 413/);
  });

  test('a download of 8 MB is whole', async () => {
    const raw = Buffer.alloc(8_000_000, 'abcdefg');
    const attachment = {
      filename: 'a',
      contentType: 'application/zip',
      contentId: null,
      contentDisposition: null,
    } as const;
    const [id] = await insertMail(gateway.actor, [
      {
        workspaceId: box.workspaceId,
        raw,
        attachments: [
          { ...attachment, index: 0, size: raw.length, start: 0, length: raw.length, transferEncoding: 'binary' },
        ],
      },
    ]);
    const response = await fetch(`http://127.0.0.1:${port}/api/e2/attachments/${id}/a`, {
      headers: { authorization: `Bearer ${box.apiKey}` },
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(raw)).toBe(true);
  });
});

describe('the request log', () => {
  const readLog = async (query = '', key = box.apiKey) => (await gateway.call(key, 'GET', `/requests?${query}`)).json();
  const newest = async (query = '') => (await readLog(`limit=1&${query}`)).data[0];

  test('shows the request and response of a key, without secrets and files, and a command that repeats it', async () => {
    const own = await gateway.mailbox();
    const email = {
      from: own.address,
      to: 'ada@elsewhere.test',
      subject: "It's here",
      text: `Bearer ${'s'.repeat(30)}`,
      attachments: [{ filename: 'a.txt', content: 'VHdvIHBlYXJz' }],
    };
    const sent = await gateway.call(own.apiKey, 'POST', '/emails', email, { 'user-agent': 'test/1', cookie: 'a=b' });
    const [entry] = (await readLog('', own.apiKey)).data;
    const keys = (await gateway.call(own.apiKey, 'GET', '/api-keys')).json().data;
    expect(entry).toMatchObject({
      id: `req_${String(sent.headers['x-request-id'])}`,
      request_id: sent.headers['x-request-id'],
      interface: 'rest',
      method: 'POST',
      path: '/api/e2/emails',
      operation: null,
      status: 200,
      api_key_id: keys[0].id,
      client_address: '127.0.0.1',
      request_headers: { 'content-type': 'application/json', 'user-agent': 'test/1' },
      request_bytes: JSON.stringify(email).length,
      response_bytes: sent.body.length,
      response_body: sent.body,
      omits_bodies: false,
    });
    expect(JSON.parse(entry.request_body)).toEqual({
      ...email,
      text: 'Bearer [redacted]',
      attachments: [{ filename: 'a.txt', content: '[9 bytes]' }],
    });
    expect(JSON.stringify(entry)).not.toContain(own.apiKey);
    expect(entry.curl).toBe(
      [
        "curl -X POST 'http://postroom.test/api/e2/emails'",
        '-H "Authorization: Bearer $POSTROOM_KEY"',
        "-H 'Content-Type: application/json'",
        `--data-raw '${entry.request_body.replaceAll("'", "'\\''")}'`,
      ].join(' \\\n  '),
    );
    expect((await gateway.call(own.apiKey, 'GET', `/requests/${entry.request_id}`)).json()).toEqual(entry);
    expect((await gateway.call(box.apiKey, 'GET', `/requests/${entry.id}`)).statusCode).toBe(404);
  });

  test('has neither created keys nor signing secrets under any name', async () => {
    const made = (await gateway.call(box.apiKey, 'POST', '/api-keys', { name: 'agent' })).json();
    expect(JSON.parse((await newest('method=POST')).response_body)).toMatchObject({ id: made.id, token: '[redacted]' });
    const create = (field: string) =>
      `mutation Make { createApiKey(input: { name: "b" }) { ... on CreateApiKeyPayload { ${field} } } }`;
    const { secret } = (await gateway.graphql(box.apiKey, create('secret'))).json().data.createApiKey;
    const named = await newest('interface=graphql');
    expect([named.operation, named.response_body.includes('[redacted]')]).toEqual(['Make', true]);
    const other = (await gateway.graphql(box.apiKey, create('s: secret'))).json().data.createApiKey.s;
    const renamed = await newest('interface=graphql');
    expect(JSON.parse(renamed.response_body)).toMatchObject({ data: { createApiKey: { s: '[redacted]' } } });
    const stored = await gateway.owner.pool.query('select to_jsonb(r)::text as row from api_request r');
    const all = stored.rows.map(({ row }) => row).join();
    for (const each of [made.token, secret, other, box.apiKey]) expect(all).not.toContain(each);
  });

  test('is filtered by status, method, interface, key and text, and paged', async () => {
    const own = await gateway.mailbox();
    const { token, id: keyId } = (await gateway.call(own.apiKey, 'POST', '/api-keys', { name: 'b' })).json();
    await gateway.call(token, 'GET', '/emails?search=Needle&type=nothing&signature=s3cret');
    await gateway.call(token, 'POST', '/emails', {});
    await gateway.graphql(token, '{ viewer { id } }');
    const readPaths = async (query: string) =>
      (await readLog(query, own.apiKey)).data.map(
        (each: { method: string; path: string }) => `${each.method} ${each.path}`,
      );
    const unknown = 'GET /api/e2/emails?search=Needle&type=nothing&signature=[redacted]';
    expect(await readPaths('status=client_error')).toEqual(['POST /api/e2/emails', unknown]);
    expect(await readPaths('search=nEEdle')).toEqual([unknown]);
    expect(await readPaths('search=MISSING_required&method=post')).toEqual(['POST /api/e2/emails']);
    expect(await readPaths(`interface=graphql&api_key_id=${keyId}`)).toEqual(['POST /graphql']);
    expect(await readPaths('search=%25')).toEqual([]);
    expect(await readPaths('status=server_error')).toEqual([]);
    expect(await readPaths('since=2100-01-01T00:00:00Z')).toEqual([]);
    const query = `query ($after: String) { apiRequests(first: 2, after: $after, filter: { apiKeyId: "${keyId}" }) {
      totalCount edges { node { method status apiKey { name hint } requestHeaders { name value } } } pageInfo { hasNextPage endCursor } } }`;
    const first = (await gateway.graphql(own.apiKey, query)).json().data.apiRequests;
    const rest = (await gateway.graphql(own.apiKey, query, { after: first.pageInfo.endCursor })).json().data
      .apiRequests;
    expect([first.totalCount, first.edges.length, rest.edges.length, rest.pageInfo.hasNextPage]).toEqual([
      3,
      2,
      1,
      false,
    ]);
    expect(rest.edges[0].node).toMatchObject({
      method: 'GET',
      status: 400,
      apiKey: { name: 'b', hint: `${token.slice(0, 4)}…${token.slice(-4)}` },
    });
  });

  test('has refused requests of a key, and none without a key', async () => {
    const own = await gateway.mailbox();
    const { token } = (await gateway.call(own.apiKey, 'POST', '/api-keys', { name: 'b', scopes: ['send'] })).json();
    expect((await gateway.call(token, 'GET', '/requests')).statusCode).toBe(403);
    await gateway.call('wrong'.repeat(10), 'GET', '/requests');
    const { data } = await readLog('', own.apiKey);
    expect(data.map(({ status }: { status: number }) => status)).toEqual([403, 201]);
    // What shows the log is not logged in turn.
    expect((await readLog('status=success&method=GET', own.apiKey)).data[0].response_body).toMatch(/^\[not logged/);
  });

  test('keeps requests for 7 days, and for as long as bodies of mail at most', async () => {
    const own = await gateway.mailbox();
    await gateway.call(own.apiKey, 'GET', '/domains');
    const { data } = await readLog('', own.apiKey);
    expect(data.length).toBe(1);
    await gateway.owner.pool.query(
      `update api_request set created_at = created_at - interval '169 hours' where workspace_id = $1 and id = $2`,
      [own.workspaceId, data[0].id],
    );
    await removeLeftovers(gateway.actor);
    expect((await gateway.call(own.apiKey, 'GET', `/requests/${data[0].id}`)).statusCode).toBe(404);
  });
});

describe('the request log under load', () => {
  const url = 'postgresql://nobody@127.0.0.1:1/nothing';
  const nowhere = openDatabase({ url, role: null, poolSize: 1, applicationName: 'test', onError: () => undefined });
  const dropped = async (reason: string) =>
    (await gatewayMetrics.requestLogDropped.get()).values.find(({ labels }) => labels.reason === reason)?.value ?? 0;

  /** A server that admits each request by the key of an account. */
  async function serve(database: Database, workspaceId: string) {
    const app = Fastify();
    app.decorateRequest('workspaceId', workspaceId);
    app.decorateRequest('caller', null);
    app.decorateRequest('rights', null);
    app.addHook('onRequest', async (request) => {
      Object.assign(request, { caller: { via: 'key' }, rights: { keyId: 'key_1', scopes: null, domain: null } });
    });
    const log = logRequests(app, {
      database,
      log: pino({ level: 'silent' }),
      now: () => new Date(),
      level: 'on',
      heldBodies: 10,
    });
    app.get('/', { schema: { response: { 200: z.object({ text: z.string() }) } } }, () => ({ text: 'a body' }));
    app.setSerializerCompiler(() => JSON.stringify);
    await app.ready();
    return { app, log };
  }

  test('leaves out bodies, and says so', async () => {
    const { workspaceId } = await gateway.mailbox();
    const { app, log } = await serve(gateway.database, workspaceId);
    await app.inject('/');
    await app.inject('/');
    await log.close();
    const { rows } = await gateway.owner.pool.query(
      'select response_body, response_bytes, omits_bodies from api_request where workspace_id = $1 order by omits_bodies',
      [workspaceId],
    );
    expect(rows).toEqual([
      { response_body: '{"text":"a body"}', response_bytes: 17, omits_bodies: false },
      { response_body: null, response_bytes: 17, omits_bodies: true },
    ]);
    await app.close();
  });

  test('drops and counts requests when the buffer is full, and when PostgreSQL is unreachable', async () => {
    const { app, log } = await serve(nowhere, 'usr_x');
    const before = [await dropped('full'), await dropped('database')];
    for (let count = 0; count < 2_003; count++) await app.inject('/');
    await log.close();
    const [full = 0, database = 0] = before;
    // A write by the clock meanwhile makes room for others.
    expect([
      (await dropped('full')) - full + (await dropped('database')) - database,
      (await dropped('database')) > database,
    ]).toEqual([2_003, true]);
    await app.close();
  });
});

test('the OpenAPI document is served without a key and names every operation', async () => {
  const response = await gateway.app.inject('/api/e2/openapi.json');
  expect(response.statusCode).toBe(200);
  const document = response.json();
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toContain('/api/e2/emails/{id}');
  // Whatever is referred to is there.
  for (const [, name] of response.body.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    expect(document.components.schemas).toHaveProperty(name ?? '');
});

describe('health', () => {
  test('needs no key', async () => {
    const health = await gateway.app.inject('/health');
    expect([health.statusCode, health.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await gateway.app.inject('/ready');
    expect([ready.statusCode, ready.json()]).toEqual([200, { status: 'ok' }]);
  });

  test('is degraded without the bus, still 200', async () => {
    const other = await openTestGateway();
    await other.bus.close();
    const ready = await other.app.inject('/ready');
    expect([ready.statusCode, ready.json()]).toEqual([200, { status: 'degraded', missing: ['bus'] }]);
    await other.close();
  });
});

describe('without PostgreSQL', () => {
  let away: TestGateway;
  let proxy: TcpProxy;
  let key: string;

  beforeAll(async () => {
    away = await openTestGateway({
      databasePort: async (server) => {
        proxy = await startTcpProxy(server);
        return proxy.port;
      },
    });
    key = (await away.mailbox()).apiKey;
  });
  afterAll(async () => {
    proxy.setMode('pass');
    await away.close();
    await proxy.close();
  });

  test('is reported as 503 with Retry-After, /ready names the missing part, and all recovers by itself', async () => {
    expect((await away.call(key, 'GET', '/emails')).statusCode).toBe(200);
    proxy.setMode('refuse');
    for (const path of ['/emails', '/mail/threads/x', '/attachments/x/y']) {
      const response = await away.call(key, 'GET', path);
      expect([response.statusCode, response.json()]).toEqual([
        503,
        {
          error: 'Service Unavailable',
          message: 'The service is temporarily unavailable. Please try again later.',
          statusCode: 503,
          name: 'application_error',
        },
      ]);
      expect(response.headers['retry-after']).toBe('5');
    }
    const posted = await away.call(key, 'POST', '/domains', { domain: 'x.example' });
    expect([posted.statusCode, posted.headers['retry-after']]).toEqual([503, '5']);
    const graph = await away.graphql(key, '{ viewer { id } }');
    expect(
      [graph.statusCode, graph.headers['retry-after']],
      graph.body + JSON.stringify(away.logged.slice(-3)),
    ).toEqual([503, '5']);
    const ready = await away.app.inject('/ready');
    expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'unavailable', missing: ['postgresql'] }]);
    expect((await away.app.inject('/health')).statusCode).toBe(200);
    proxy.setMode('pass');
    expect((await away.call(key, 'GET', '/emails')).statusCode).toBe(200);
    expect((await away.call(key, 'POST', '/domains', { domain: 'x.example' })).statusCode).toBe(201);
  });

  test('that is paused is reported as 503, and no connection is lost by it', async () => {
    const six = () => Promise.all(Array.from({ length: 6 }, () => away.call(key, 'GET', '/emails')));
    await six();
    expect(away.database.pool.idleCount).toBe(6);
    proxy.setMode('stall');
    const responses = await Promise.all([
      away.call(key, 'GET', '/emails'),
      away.call(key, 'GET', '/emails/x_y'),
      away.call(key, 'POST', '/domains', { domain: 'y.example' }),
      away.call(key, 'POST', '/domains', { domain: 'z.example' }),
      away.graphql(key, '{ emails { totalCount } }'),
      away.app.inject('/ready'),
    ]);
    const last = asWorkspace(away.database, 'usr_x', (transaction) => sql`select 1`.execute(transaction));
    expect(responses.map((response) => response.statusCode)).toEqual([503, 503, 503, 503, 503, 503]);
    expect(responses.slice(0, 5).map((response) => response.headers['retry-after'])).toEqual(['5', '5', '5', '5', '5']);
    // Abandoned statements end by their own time limit, this one last.
    await expect(last).rejects.toThrow();
    proxy.setMode('pass');
    await expect.poll(async () => (await six()).map((response) => response.statusCode)).toEqual(Array(6).fill(200));
    await expect.poll(() => away.database.pool.idleCount).toBe(away.database.pool.totalCount);
  });

  test('that has no connection left is reported as 503', async () => {
    const held = await Promise.all(Array.from({ length: 6 }, () => away.database.pool.connect()));
    try {
      const response = await away.call(key, 'GET', '/emails');
      expect(response.statusCode).toBe(503);
    } finally {
      for (const client of held) client.release();
    }
    expect((await away.call(key, 'GET', '/emails')).statusCode).toBe(200);
  });
});
