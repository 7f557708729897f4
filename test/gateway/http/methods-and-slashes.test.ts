import { METHODS, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let base: URL;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  base = new URL(await gateway.app.listen({ host: '127.0.0.1', port: 0 }));
});
afterAll(() => gateway.close());

interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

function call(method: string, path: string, body?: string): Promise<RawResponse> {
  const headers = { authorization: `Bearer ${box.apiKey}`, ...(body && { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, base), { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, headers: responded } = response;
        resolve({ status, headers: responded, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('a method that a path does not declare', () => {
  const cases: [path: string, allow: string, methods: string[]][] = [
    ['/api/e2/emails', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND', 'TRACE']],
    ['/api/v2/emails/', 'GET, HEAD, POST', ['PUT']],
    ['/api/e2/emails/em_1', 'DELETE, GET, HEAD, PATCH, PUT', ['POST', 'QUERY']],
    ['/api/e2/emails/em_1/reply', 'POST', ['GET', 'PUT', 'QUERY']],
    ['/api/e2/mail/threads/th_1', 'DELETE, GET, HEAD, PATCH', ['PUT', 'POST']],
    ['/api/e2/attachments/em_1/a%20file.txt', 'GET, HEAD', ['PUT']],
    ['/api/e2/openapi.json', 'GET, HEAD', ['POST']],
    // Not the email whose id is "batch".
    ['/api/e2/emails/batch', 'POST', ['GET', 'PUT', 'PATCH', 'DELETE']],
    ['/api/e2/emails/receiving/', 'GET, HEAD', ['PUT', 'PATCH', 'DELETE']],
    ['/api/e2/guard/backtest', 'POST', ['GET', 'PUT', 'DELETE']],
  ];
  test.each(cases)('%s is 405 with Allow: %s', async (path, allow, methods) => {
    for (const method of methods) {
      const { status, headers, body } = await call(method, path);
      expect([method, status, headers['allow']]).toEqual([method, 405, allow]);
      expect(JSON.parse(body)).toEqual({
        error: 'Method Not Allowed',
        message: `${method} is not allowed here. Use one of: ${allow}.${path.endsWith('/') ? ' The path ends with a slash: an ID may be missing.' : ''}`,
        statusCode: 405,
        name: 'method_not_allowed',
      });
    }
  });

  test('is 405 with a body of any type, too', async () => {
    for (const body of ['{}', 'no JSON']) expect((await call('QUERY', '/api/e2/emails', body)).status).toBe(405);
  });

  test('an unknown path stays 404 by any method', async () => {
    const others = METHODS.filter((method) => method !== 'CONNECT' && method !== 'OPTIONS' && method !== 'HEAD');
    for (const method of others) {
      const { status, headers, body } = await call(method, '/api/e2/nothing');
      expect([method, status, headers['allow'], JSON.parse(body).name]).toEqual([method, 404, undefined, 'not_found']);
    }
  });
});

describe('a slash at the end of a path', () => {
  test('returns the same response to GET', async () => {
    const paths = ['/emails', '/mail/threads', '/domains', '/email-addresses', '/endpoints', '/guard', '/suppressions'];
    for (const path of [...paths, `/domains/${box.domainId}`, '/events', '/openapi.json', '/emails/em_none']) {
      const [plain, slashed] = [await call('GET', `/api/e2${path}`), await call('GET', `/api/e2${path}/`)];
      expect([path, slashed.status, slashed.body]).toEqual([path, plain.status, plain.body]);
      const withQuery = await call('GET', `/api/v2${path}/?limit=1`);
      expect([path, withQuery.status]).toEqual([path, plain.status]);
    }
  });

  test('returns the same response to POST', async () => {
    const email = { from: box.address, to: 'ada@elsewhere.test', subject: 'Slash', text: 'x' };
    const sent = await call('POST', '/api/e2/emails/', JSON.stringify(email));
    expect([sent.status, JSON.parse(sent.body)]).toEqual([200, expect.objectContaining({ status: 'sent' })]);
  });

  test('is optional for the page of the reference', async () => {
    for (const path of ['/api/e2/docs', '/api/e2/docs/']) expect((await call('GET', path)).status).toBe(200);
  });
});
