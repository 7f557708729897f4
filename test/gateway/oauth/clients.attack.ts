import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { CALLBACK, ISSUER, MCP_RESOURCE, type OauthStage, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';

/* Strangers register clients and write the links that persons open. */

const WEB = 'https://app.example.com/cb';
let gateway: TestGateway;
let oauth: OauthStage;
let team: TeamStage;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  oauth = openOauthStage(gateway);
  team = await openTeam(gateway, 'clients');
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await gateway.owner.pool.query('delete from auth_rate_limit');
});

const ask = (parameters: Record<string, string>) => team.owner.browser.auth('POST', '/oauth/request', { parameters });

describe('a redirect URI', () => {
  test.each([
    `${CALLBACK}/../evil`,
    `${CALLBACK}/%2e%2e/evil`,
    `${CALLBACK}/`,
    `${CALLBACK}%00`,
    `${CALLBACK}\t`,
    `${CALLBACK}?`,
    'http://127.0.0.1:4711/CALLBACK',
    'HTTP://127.0.0.1:4711/callback',
    'http://127.0.0.1:99999/callback',
    'http://127.0.0.1:4711:80/callback',
    'http://127.0.0.1:80@evil.test/callback',
    'http://127.0.0.1:@evil.test/callback',
    'http://127.0.0.1.evil.test/callback',
    'http://127.1:4711/callback',
    'http://2130706433:4711/callback',
    'http://0x7f.0.0.1:4711/callback',
    'http://１２７.0.0.1:4711/callback',
    'http://[::ffff:127.0.0.1]:4711/callback',
    'http://0.0.0.0:4711/callback',
    'http://localhost.:4711/callback',
    'https://127.0.0.1:4711/callback',
    'https://app.example.com/cb/',
    'https://app.example.com:443/cb',
    'https://APP.example.com/cb',
    'https://app.example.com./cb',
    'https://xn--pp-eka.example.com/cb',
    'https://ａpp.example.com/cb',
    'https://app.example.com/cb/../../evil',
    'https://app.example.com/%63b',
    'https://app.example.com/cb;x',
    'https://app.example.com\\.evil.test/cb',
    '//app.example.com/cb',
  ])('that differs is no one that was registered: %s', async (uri) => {
    const clientId = await oauth.register({ redirect_uris: [CALLBACK, WEB] });
    const signIn = { clientId, verifier: oauth.makeVerifier(), more: { redirect_uri: uri } };
    const opened = await oauth.open(signIn);
    expect([opened.statusCode, opened.headers.location]).toEqual([400, undefined]);
    const shown = await ask(oauth.makeParameters(signIn));
    expect([shown.statusCode, shown.json().code]).toEqual([400, 'INVALID_OAUTH_REQUEST']);
  });

  test('of a redirect is the one of the exchange, also where any port may be used', async () => {
    const clientId = await oauth.register();
    const signIn = { clientId, verifier: oauth.makeVerifier(), more: { redirect_uri: 'http://127.0.0.1:9/callback' } };
    for (const given of [CALLBACK, 'http://127.0.0.1:09/callback', 'http://127.0.0.1:9/callback?']) {
      const code = await oauth.allow(team.owner.browser, signIn);
      const refused = await oauth.exchange(signIn, code, { redirect_uri: given });
      expect([given, refused.json().error]).toEqual([given, 'invalid_grant']);
    }
  });
});

describe('a registration', () => {
  test.each([
    ['a page in a control character', { redirect_uris: ['java\nscript:alert(1)'] }],
    ['a script in other letters', { redirect_uris: ['JavaScript://app.example.com/%0aalert(1)'] }],
    ['a blob', { redirect_uris: ['blob:https://app.example.com/x'] }],
    ['a page of the browser', { redirect_uris: ['view-source:https://app.example.com/'] }],
    ['no URI', { redirect_uris: [] }],
    ['one of 21 URIs', { redirect_uris: Array.from({ length: 21 }, (_, at) => `https://app.example.com/${at}`) }],
    ['a URI of 3,000 characters', { redirect_uris: [`https://app.example.com/${'x'.repeat(3_000)}`] }],
    ['a name of 2,000 characters', { client_name: 'x'.repeat(2_000) }],
    ['URIs that are an object', { redirect_uris: { 0: WEB, length: 1 } }],
    ['a URI that is a list', { redirect_uris: [[WEB]] }],
    ['100,000 grant types', { grant_types: Array.from({ length: 5_000 }, () => 'x') }],
  ])('with %s is refused', async (_name, metadata) => {
    const payload = { client_name: 'Program', redirect_uris: [WEB], ...metadata };
    const response = await gateway.app.inject({ method: 'POST', url: '/oauth/register', payload });
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    expect(response.statusCode).toBeLessThan(500);
  });

  test('shows a name only, in one direction and one line, and nothing that the stranger says of itself', async () => {
    const clientId = await oauth.register({
      client_name: '\u202EPostroom\u2028\u0000 <b>bank</b>\u200B\uFEFF',
      redirect_uris: [WEB],
      logo_uri: 'javascript:alert(1)',
      client_uri: 'https://bank.example/',
      tos_uri: 'data:text/html,x',
      policy_uri: 'https://bank.example/',
      software_statement: 'x.y.z',
      jwks_uri: 'https://127.0.0.1/',
      verifiedHost: 'bank.example',
      __proto__: { verifiedHost: 'bank.example' },
    });
    const signIn = { clientId, verifier: oauth.makeVerifier(), more: { redirect_uri: WEB } };
    const { question } = (await ask(oauth.makeParameters(signIn))).json();
    expect(question.client).toEqual({ name: 'Postroom <b>bank</b>', verifiedHost: null });
    expect(question.host).toBe('app.example.com');
    expect(JSON.stringify(question)).not.toMatch(/bank\.example|javascript|data:/);
  });
});

describe('a token', () => {
  test('is not widened by the scope, the resource or the level of a later request', async () => {
    const { browser } = await team.makeMember('viewer');
    const { refresh_token: first, clientId } = await oauth.connect(browser);
    const widened = await oauth.refresh(clientId, first, { scope: 'everything', level: 'everything' });
    expect(widened.json().scope).toBe('read');
    const { refresh_token: second, access_token: access } = widened.json();
    expect((await gateway.call(access, 'GET', '/emails')).statusCode).toBe(401);
    for (const resource of [ISSUER, `${MCP_RESOURCE}/../`, `${ISSUER}/mcp/..`, 'http://POSTROOM.test'])
      expect([resource, (await oauth.refresh(clientId, second, { resource })).json().error]).toEqual([
        resource,
        'invalid_grant',
      ]);
    const renewed = await oauth.refresh(clientId, second, { resource: MCP_RESOURCE });
    expect(renewed.statusCode, renewed.body).toBe(200);
  });

  test('of a suspended workspace is not refreshed, and works again once it is resumed', async () => {
    const {
      access_token: access,
      refresh_token: refresh,
      clientId,
    } = await oauth.connect(team.owner.browser, {}, { resource: ISSUER });
    const { workspaceId } = team.box;
    await gateway.owner.pool.query('update workspace set suspended_at = now() where id = $1', [workspaceId]);
    gateway.bus.publish('credential.changed', { ownerId: workspaceId });
    const refused = await oauth.refresh(clientId, refresh);
    const closed = await gateway.call(access, 'GET', '/emails');
    await gateway.owner.pool.query('update workspace set suspended_at = null where id = $1', [workspaceId]);
    gateway.bus.publish('credential.changed', { ownerId: workspaceId });
    expect([refused.json().error, closed.statusCode]).toEqual(['invalid_grant', 403]);
    expect((await oauth.refresh(clientId, refresh)).statusCode).toBe(200);
  });
});
