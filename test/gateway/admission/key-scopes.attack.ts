import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../../core/accounts/key-rights.ts';
import { access, requireDeclaredAccess } from '../../../gateway/admission/access.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { withoutWait } from '../../support/stages/isolation-sweep.ts';
import { neededScopes } from '../../support/stages/needed-scopes.ts';
import { isServed } from '../../support/stages/swept-routes.ts';

/** Routes of the interface that take no key. */
/** What keys never do, whatever their scopes: see scim/scim-members.test.ts. */
const NEEDS_SESSION = /^\/api\/e2\/scim\//;
const OPEN = /^(?:OPTIONS \/api\/e2\*|POST \/api\/e2\/agent\/sign-up|GET \/api\/e2\/(?:openapi\.json|docs(?:\/.*)?))$/;

let gateway: TestGateway;
let routes: ServedRoute[];
let box: TestMailbox;
const keys = new Map<string, string>();
const nameScopes = (scopes: readonly Scope[]) => SCOPES.filter((scope) => scopes.includes(scope)).join(' ');
const readKey = (...scopes: Scope[]) => keys.get(nameScopes(scopes)) ?? '';

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway());
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes.filter(
    ({ method, url }) => /^\/(?:api\/e2|graphql$)/.test(url) && !OPEN.test(`${method} ${url}`),
  );
  box = await gateway.mailbox();
  for (const scopes of [
    ['read'],
    ['send'],
    ['manage'],
    ['approve'],
    ['workspaces'],
    ['read', 'send'],
    ['read', 'manage'],
    ['read', 'send', 'manage'],
  ] as Scope[][])
    keys.set(nameScopes(scopes), (await insertKey(gateway.owner, box, { scopes })).secret);
});
afterAll(() => gateway.close());

const ask = (key: string, { method, url }: Pick<ServedRoute, 'method' | 'url'>, body?: unknown) =>
  gateway.call(key, method, url.replace(/^\/api\/e2/, '').replaceAll(/:\w+/g, 'em_none'), withoutWait(url, body));
const isGraph = ({ url }: ServedRoute) => url === '/graphql';

test('every route that takes a key declares its access', () => {
  expect(routes.length).toBeGreaterThan(70);
  expect(routes.filter(({ access }) => access === null).map(({ method, url }) => `${method} ${url}`)).toEqual([]);
});

test('a gateway with a route that declares no access does not start', async () => {
  const app = Fastify();
  requireDeclaredAccess(app);
  app.get('/declared', { config: { access: access.read } }, async () => 'ok');
  expect(() => app.get('/forgotten', async () => 'ok')).toThrow('The route GET /forgotten declares no access');
  await app.close();
});

test('every route refuses a key without its scope, before it looks at the request, and lets one with it pass', async () => {
  for (const route of routes.filter((each) => !isGraph(each) && isServed(each))) {
    const name = `${route.method} ${route.url}`;
    const need = route.access?.rights ?? [];
    const needed = neededScopes(route.access);
    for (const scope of SCOPES) {
      const response = await ask(readKey(scope), route, route.method === 'GET' ? undefined : {});
      if (needed.includes(scope)) {
        const all =
          'oneOf' in need ? null : await ask(readKey(...needed), route, route.method === 'GET' ? undefined : {});
        if (all !== null && !NEEDS_SESSION.test(route.url))
          expect([401, 403], `${name} with ${needed.join(' ')}`).not.toContain(all.statusCode);
        const lacking = needed.find((each) => each !== scope);
        if (all !== null && lacking !== undefined)
          expect([response.statusCode, response.json().requiredScope], `${name} with ${scope}`).toEqual([403, lacking]);
        continue;
      }
      expect(response.statusCode, `${name} with ${scope}`).toBe(403);
      expect(response.json()).toEqual({
        error: 'Forbidden',
        message: `${name} needs the scope ${needed[0]}. This API key has ${scope} only.`,
        statusCode: 403,
        name: 'restricted_api_key',
        code: 'insufficient_scope',
        requiredScope: needed[0],
        scopes: [scope],
      });
    }
  }
});

describe('a route whose request decides', () => {
  const change = async (key: string, body: object, method = 'PATCH') => {
    const response = await gateway.call(key, method, '/emails/em_none', body);
    return response.statusCode === 403 ? response.json().requiredScope : response.statusCode;
  };

  test('needs send for another time, manage for a mark, and both for both', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    for (const method of ['PATCH', 'PUT']) {
      expect(await change(readKey('send'), { scheduled_at: later }, method)).toBe(404);
      expect(await change(readKey('send'), { scheduledAt: later, timezone: 'UTC' }, method)).toBe(404);
      expect(await change(readKey('send'), { is_read: true }, method)).toBe('manage');
      expect(await change(readKey('send'), {}, method)).toBe('manage');
      expect(await change(readKey('send'), { scheduled_at: later, is_archived: false }, method)).toBe('manage');
      expect(await change(readKey('manage'), { is_read: true }, method)).toBe(404);
      expect(await change(readKey('manage'), { scheduled_at: later }, method)).toBe('send');
      expect(await change(readKey('read'), { is_read: true }, method)).toBe('send');
    }
  });

  test('needs manage for a DNS check', async () => {
    for (const path of ['/domains', `/domains/${box.domainId}`]) {
      expect((await gateway.call(readKey('read'), 'GET', path)).statusCode).toBe(200);
      expect((await gateway.call(readKey('read'), 'GET', `${path}?check=false`)).statusCode).toBe(200);
      const refused = await gateway.call(readKey('read'), 'GET', `${path}?check=true`);
      expect([refused.statusCode, refused.json().requiredScope]).toEqual([403, 'manage']);
    }
  });
});

test('HEAD needs the scope of GET', async () => {
  expect((await gateway.call(readKey('read'), 'HEAD', '/emails')).statusCode).toBe(200);
  expect((await gateway.call(readKey('send'), 'HEAD', '/emails')).statusCode).toBe(403);
});

test('a key with full rights, and one with every scope, passes every check', async () => {
  for (const key of [box.apiKey, readKey('read', 'send', 'manage')])
    for (const [method, path] of [
      ['GET', '/emails'],
      ['GET', '/events'],
      ['GET', '/endpoints'],
    ] as const)
      expect((await gateway.call(key, method, path)).statusCode).toBe(200);
});

test('a refusal names the scope as in RFC 6750', async () => {
  const response = await gateway.call(readKey('read'), 'POST', '/emails', {});
  expect(response.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="send"');
});
