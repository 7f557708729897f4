import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settleKeys } from '../../../actors/scheduling/settle-expired-keys.ts';
import { openBrowserTokens } from '../../../core/accounts/browser-token.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const TRUSTED = 'pages.test';
const ORIGIN = 'https://app.example.com';
let gateway: TestGateway;
let product: TestMailbox;
let parentKey: { id: string; secret: string };
/** the workspace of a customer with two addresses */
let customer: { id: string; key: string; inbox: string; other: string };
let names = 0;
let shiftMs = 0;

beforeAll(async () => {
  gateway = await openTestGateway({
    config: { trustedDomains: [`*.${TRUSTED}`] },
    now: () => new Date(Date.now() + shiftMs),
  });
  product = await gateway.mailbox();
  parentKey = await insertKey(gateway.owner, product, { scopes: null });
  customer = await makeCustomer();
});
afterAll(() => gateway.close());

const call = (as: string, method: string, path: string, body?: unknown) => gateway.call(as, method, path, body);

async function makeCustomer() {
  const { id } = (await call(parentKey.secret, 'POST', '/workspaces', { client_id: `c${names++}` })).json();
  const scopes = ['read', 'send', 'manage'];
  const made = await call(parentKey.secret, 'POST', `/workspaces/${id}/api-keys`, { name: 'k', scopes });
  const key: string = made.json().token;
  const domain = `d${names++}.${TRUSTED}`;
  const domainId = (await call(key, 'POST', '/domains', { domain })).json().id;
  const [inbox, other] = [`inbox@${domain}`, `other@${domain}`];
  for (const address of [inbox, other]) {
    const added = await call(key, 'POST', '/email-addresses', { address, domain_id: domainId });
    expect(added.statusCode, added.body).toBe(201);
    await insertMail(gateway.actor, [
      { workspaceId: id, ownAddress: address, threadId: `th_${address}`, threadPosition: 1 },
    ]);
  }
  return { id, key, inbox, other };
}

const request = (body: object, id = customer.id, as = parentKey.secret) =>
  call(as, 'POST', `/workspaces/${id}/tokens`, { rights: ['read'], origins: [ORIGIN], ...body });
async function create(body: object = {}): Promise<string> {
  const made = await request(body);
  expect(made.statusCode, made.body).toBeLessThan(300);
  return made.json().token;
}
const from = (token: string, url: string, origin: string | null = ORIGIN, body?: object) =>
  gateway.app.inject({
    method: body === undefined ? 'GET' : 'POST',
    url,
    headers: { authorization: `Bearer ${token}`, ...(origin === null ? {} : { origin }) },
    ...(body === undefined ? {} : { payload: body }),
  });
const readStatus = async (id: string) =>
  (await gateway.owner.pool.query<{ status: string }>('select status from email where id = $1', [id])).rows[0]?.status;
const total = async (token: string) =>
  (await from(token, '/api/e2/emails?time_range=all')).json().pagination?.total as number | undefined;

describe('a browser token', () => {
  test('reads the mail of its addresses over REST and GraphQL, from pages of its origins', async () => {
    const token = await create({ addresses: [customer.inbox.toUpperCase()] });
    expect(await total(token)).toBe(1);
    expect(await total(await create())).toBe(2);
    const query = '{ emails(first: 10) { edges { node { id } } } }';
    const graph = await from(token, '/graphql', ORIGIN, { query });
    expect(graph.json().data.emails.edges).toHaveLength(1);
    expect(graph.headers['access-control-allow-origin']).toBe('*');
    const preflight = await gateway.app.inject({
      method: 'OPTIONS',
      url: '/graphql',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
    for (const origin of ['https://evil.example.com', 'https://app.example.com.evil.example', 'null', null]) {
      const refused = await from(token, '/api/e2/emails', origin);
      expect([refused.statusCode, refused.json().code], String(origin)).toEqual([403, 'origin_not_allowed']);
    }
  });

  test('sends only with the right to, and only from its addresses', async () => {
    const mail = (sender: string) => ({ from: sender, to: ['bob@elsewhere.test'], subject: 'x', text: 'x' });
    const reader = await create({ addresses: [customer.inbox] });
    expect((await from(reader, '/api/e2/emails', ORIGIN, mail(customer.inbox))).statusCode).toBe(403);
    const sender = await create({ rights: ['read', 'send'], addresses: [customer.inbox] });
    expect((await from(sender, '/api/e2/emails', ORIGIN, mail(customer.inbox))).statusCode).toBe(200);
    const refused = await from(sender, '/api/e2/emails', ORIGIN, mail(customer.other));
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'limited_to_address']);
    for (const [url, body] of [
      ['/api/e2/api-keys', { name: 'x' }],
      ['/api/e2/workspaces', { client_id: 'x' }],
      [`/api/e2/workspaces/${customer.id}/tokens`, { rights: ['read'], origins: [ORIGIN] }],
    ] as const)
      expect((await from(sender, url, ORIGIN, body)).statusCode, url).toBe(403);
  });

  test('does not read what programs requested, over REST and GraphQL', async () => {
    const token = await create();
    for (const path of ['/requests', '/requests/req_1']) {
      const { statusCode, body } = await from(token, `/api/e2${path}`);
      expect(statusCode, body).toBe(403);
      expect(body).toContain('API_KEY_REQUIRED');
    }
    const { body } = await from(token, '/graphql', ORIGIN, { query: '{ apiRequests { nodes { path } } }' });
    expect(body).toContain('API_KEY_REQUIRED');
    expect((await call(customer.key, 'GET', '/requests')).statusCode).toBe(200);
  });

  test('ends with its time', async () => {
    const token = await create({ ttl: 60 });
    expect(await total(token)).toBeDefined();
    shiftMs = 61_000;
    const late = await from(token, '/api/e2/emails');
    shiftMs = 0;
    expect(late.statusCode).toBe(401);
  });

  test.for<[string, object, string, number]>([
    ['no rights', { rights: [] }, 'rights', 400],
    ['another right', { rights: ['manage'] }, 'rights.0', 400],
    ['no origins', { origins: [] }, 'origins', 400],
    ['an origin with a path', { origins: ['https://app.example.com/inbox'] }, 'origins', 400],
    ['any origin', { origins: ['*'] }, 'origins', 400],
    ['another scheme', { origins: ['file:///x'] }, 'origins', 400],
    ['a long time', { ttl: 86_401 }, 'ttl', 400],
    ['no time', { ttl: 0 }, 'ttl', 400],
    ['half a second', { ttl: 60.5 }, 'ttl', 400],
    ['no addresses', { addresses: [] }, 'addresses', 400],
    ['an address of another workspace', { addresses: ['hello@elsewhere.test'] }, 'addresses', 400],
  ])('with %s is refused', async ([, body, field, status]) => {
    const refused = await request(body);
    expect([refused.statusCode, refused.json().details?.[0]?.field], refused.body).toEqual([status, field]);
  });

  test('has no right that its key lacks', async () => {
    const product = await gateway.mailbox();
    const key = await insertKey(gateway.owner, product, { scopes: ['read', 'workspaces'] });
    const { id } = (await call(key.secret, 'POST', '/workspaces', { client_id: 'c' })).json();
    const refused = await request({ rights: ['read', 'send'] }, id, key.secret);
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'insufficient_scope']);
    // The workspace of another product.
    expect((await request({}, customer.id, key.secret)).statusCode).toBe(404);
  });

  test('has its scheduled mail in the workspace of a customer paused when its key loses the right', async () => {
    const schedule = async (given: { address: string; as?: string }) => {
      const made = await request({ rights: ['send'] }, customer.id, given.as);
      expect(made.statusCode, made.body).toBeLessThan(300);
      const mail = {
        from: given.address,
        to: ['bob@elsewhere.test'],
        subject: 'x',
        text: 'x',
        scheduled_at: 'in 2 days',
      };
      const sent = await from(made.json().token, '/api/e2/emails', ORIGIN, mail);
      expect(sent.statusCode, sent.body).toBeLessThan(300);
      return sent.json().id as string;
    };
    const ends: ((id: string) => Promise<unknown>)[] = [
      (id) => call(parentKey.secret, 'DELETE', `/api-keys/${id}`),
      (id) => call(parentKey.secret, 'DELETE', `/api-keys/${id}?keep_configuration=true`),
      (id) => call(parentKey.secret, 'PATCH', `/api-keys/${id}`, { scopes: ['read', 'workspaces'] }),
      (id) =>
        gateway.owner.pool.query(`update api_key set expires_at = now() - interval '1 second' where id = $1`, [id]),
    ];
    const kept = await schedule({ address: customer.inbox });
    for (const end of ends) {
      const key = await insertKey(gateway.owner, product, { scopes: null });
      const id = await schedule({ address: customer.inbox, as: key.secret });
      expect(await readStatus(id)).toBe('scheduled');
      await end(key.id);
      await settleKeys({ ...testActorContext(gateway.actor), bus: gateway.bus });
      expect([await readStatus(id), await readStatus(kept)]).toEqual(['paused', 'scheduled']);
    }
  });

  test('ends at once when its key is revoked, and its address when that is deleted', async () => {
    const own = await gateway.mailbox();
    const key = await insertKey(gateway.owner, own, { scopes: null });
    const made = await request({ addresses: [own.address] }, own.workspaceId, key.secret);
    const token: string = made.json().token;
    expect((await from(token, '/api/e2/emails')).statusCode).toBe(200);
    expect((await call(own.apiKey, 'DELETE', `/api-keys/${key.id}`)).statusCode).toBe(200);
    expect((await from(token, '/api/e2/emails')).statusCode).toBe(401);
  });
});

describe('a forged browser token', () => {
  const forge = (change: (header: object, claims: Record<string, unknown>) => [object, object]) => async () => {
    const [header = '', payload = '', signature] = (await create()).split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const write = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const [forgedHeader, forgedClaims] = change(read(header), read(payload));
    return `${write(forgedHeader)}.${write(forgedClaims)}.${signature}`;
  };
  test.for<[string, () => Promise<string>]>([
    ['other claims', forge((header, claims) => [header, { ...claims, rights: ['read', 'send'] }])],
    ['another workspace', forge((header, claims) => [header, { ...claims, sub: 'usr_other' }])],
    ['the algorithm none', forge((_header, claims) => [{ alg: 'none', typ: 'JWT' }, claims])],
    ['a symmetric algorithm', forge((header, claims) => [{ ...header, alg: 'HS256' }, claims])],
    ['a header of its own', forge((header, claims) => [{ ...header, jku: 'https://evil.example.com' }, claims])],
    ['no signature', async () => (await create()).replace(/\.[^.]+$/, '.')],
    ['a longer signature', async () => `${await create()}AA`],
    ['a fourth part', async () => `${await create()}.AA`],
    [
      'another key',
      async () => {
        const claims = openBrowserTokens(Buffer.alloc(32, 7), 'http://postroom.test');
        const iat = Math.floor(Date.now() / 1_000);
        return claims.sign({
          sub: customer.id,
          iat,
          exp: iat + 900,
          key: parentKey.id,
          parent: customer.id,
          rights: ['read'],
          addresses: null,
          origins: [ORIGIN],
        });
      },
    ],
  ])('with %s is refused', async ([, make]) => {
    expect((await from(await make(), '/api/e2/emails')).statusCode).toBe(401);
  });
});
