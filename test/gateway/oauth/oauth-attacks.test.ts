import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
import { CALLBACK, ISSUER, MCP_RESOURCE, type OauthStage, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openTeam, type Staff, staffTeam, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let staff: Staff;
let oauth: OauthStage;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { oauthClients: 40 } });
  team = await openTeam(gateway, 'oauth-attacks');
  staff = await staffTeam(team);
  oauth = openOauthStage(gateway);
});
afterAll(() => gateway.close());

const forgetTries = () => gateway.owner.pool.query('delete from auth_rate_limit');
const readError = (response: { statusCode: number; json: () => { error?: string } }) => [
  response.statusCode,
  response.json().error,
];
const readsMcp = async (token: string) => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const response = await gateway.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    payload: body,
  });
  return response.statusCode;
};
const readsRest = async (token: string) => (await gateway.call(token, 'GET', '/emails')).statusCode;
const forWholeService = { resource: ISSUER };

describe('a link to sign in', () => {
  test.each([
    ['another path', { redirect_uri: `${CALLBACK}/more` }],
    ['another host', { redirect_uri: 'https://evil.test/callback' }],
    ['a user name before the host', { redirect_uri: 'http://127.0.0.1:4711@evil.test/callback' }],
    ['a fragment', { redirect_uri: `${CALLBACK}#x` }],
    ['a backslash', { redirect_uri: 'http://127.0.0.1:4711\\@evil.test/callback' }],
    ['another query', { redirect_uri: `${CALLBACK}?next=https://evil.test` }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['an unknown client', { client_id: 'pr_client_AAAAAAAAAAAAAAAAAAAAAA' }],
  ])('with %s shows a page and leads nowhere', async (_name, more) => {
    const signIn = { clientId: await oauth.register(), verifier: oauth.makeVerifier(), more };
    const response = await oauth.open(signIn);
    expect([response.statusCode, response.headers.location]).toEqual([400, undefined]);
    expect(response.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    const decided = await oauth.decide(team.owner.browser, signIn, { workspaceId: team.box.workspaceId });
    expect([decided.statusCode, decided.json().location]).toEqual([400, undefined]);
  });

  test.each([
    ['no PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no PKCE method', { code_challenge_method: undefined }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['another resource', { resource: 'https://evil.test/mcp' }, 'invalid_target'],
    ['a fragment as the response', { response_mode: 'fragment' }, 'invalid_request'],
  ])('with %s returns an error to its client, with issuer and state', async (_name, more, error) => {
    const signIn = { clientId: await oauth.register(), verifier: oauth.makeVerifier(), more };
    const location = new URL(String((await oauth.open(signIn)).headers.location));
    expect(location.href.startsWith(`${CALLBACK}?`)).toBe(true);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({ error, state: 'state-1', iss: ISSUER });
    expect(location.searchParams.has('code')).toBe(false);
  });

  test('may name another port of this machine only where a loopback address is registered', async () => {
    const clientId = await oauth.register();
    const verifier = oauth.makeVerifier();
    const open = (redirectUri: string, id = clientId) =>
      oauth.open({ clientId: id, verifier, more: { redirect_uri: redirectUri } });
    expect((await open('http://127.0.0.1:9/callback')).statusCode).toBe(302);
    expect((await open('http://localhost:4711/callback')).statusCode).toBe(400);
    const remote = await oauth.register({ redirect_uris: ['https://app.test/callback'] });
    expect((await open('https://app.test:444/callback', remote)).statusCode).toBe(400);
  });
});

describe('a registration', () => {
  test.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://app.test/callback'],
    ['https://user:secret@app.test/'],
    ['https://app.test/#fragment'],
    ['/relative'],
    ['file:///etc/passwd'],
  ])('with the redirect URI %s is refused', async (uri) => {
    await forgetTries();
    const payload = { redirect_uris: [uri] };
    const response = await gateway.app.inject({ method: 'POST', url: '/oauth/register', payload });
    expect(readError(response)).toEqual([400, 'invalid_redirect_uri']);
  });

  test('is limited for each network, and old clients without a grant make room for new ones', async () => {
    await forgetTries();
    await gateway.owner.pool.query('delete from oauth_client');
    const kept = await oauth.connect(team.owner.browser);
    while ((await countClients()) < 40) await oauth.register();
    const full = await gateway.app.inject({
      method: 'POST',
      url: '/oauth/register',
      payload: { redirect_uris: [CALLBACK] },
    });
    expect(readError(full)).toEqual([503, 'temporarily_unavailable']);
    await gateway.owner.pool.query(`update oauth_client set created_at = created_at - interval '2 hours'`);
    await oauth.register();
    expect(await countClients()).toBeLessThanOrEqual(40);
    const left = await gateway.owner.pool.query('select 1 from oauth_client where id = $1', [kept.clientId]);
    expect(left.rowCount).toBe(1);
    await gateway.owner.pool.query('update auth_rate_limit set tried_at = array_fill(now(), array[100])');
    const payload = { redirect_uris: [CALLBACK] };
    expect((await gateway.app.inject({ method: 'POST', url: '/oauth/register', payload })).statusCode).toBe(429);
    await forgetTries();
    await gateway.owner.pool.query(
      'delete from oauth_client c where not exists (select from oauth_grant g where g.client_id = c.id)',
    );
  });

  const countClients = async () =>
    Number((await gateway.owner.pool.query('select count(*) from oauth_client')).rows[0]?.count);
});

describe('a decision', () => {
  const ask = async () => ({ clientId: await oauth.register(), verifier: oauth.makeVerifier() });

  test('is refused from a page of another site, without a session, and as a form', async () => {
    const signIn = await ask();
    const body = {
      asked: { parameters: oauth.makeParameters(signIn) },
      workspaceId: team.box.workspaceId,
      level: 'everything',
      addresses: null,
    };
    const cookie = [...team.owner.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const send = (headers: Record<string, string>, payload: string) =>
      gateway.app.inject({ method: 'POST', url: '/api/auth/oauth/decision', headers, payload });
    const json = { 'content-type': 'application/json', host: 'postroom.test' };
    const text = JSON.stringify(body);
    expect((await send({ ...json, cookie, origin: 'https://evil.test' }, text)).statusCode).toBe(403);
    expect((await send({ ...json, cookie }, text)).statusCode).toBe(403);
    expect((await send({ ...json, origin: ISSUER }, text)).statusCode).toBe(401);
    const form = { ...json, 'content-type': 'text/plain', cookie, origin: ISSUER };
    expect((await send(form, text)).statusCode).toBe(415);
    expect((await send({ ...json, cookie, origin: ISSUER }, text)).statusCode).toBe(200);
  });

  test('that allows access needs a sign-in within the last minutes; a denial does not', async () => {
    const person = await team.makeMember('agent');
    await gateway.owner.pool.query(
      `update auth_session set created_at = now() - interval '1 hour', confirmed_at = now() - interval '1 hour' where person_id = $1`,
      [person.personId],
    );
    gateway.bus.publish('credential.changed', { ownerId: person.personId });
    const allowed = await oauth.decide(person.browser, await ask(), { level: 'read' });
    expect([allowed.statusCode, allowed.json().code]).toEqual([403, 'SIGN_IN_AGAIN']);
    expect((await oauth.decide(person.browser, await ask(), { level: null })).statusCode).toBe(200);
  });

  test('of a viewer allows reading only, and that of an agent not more than the role', async () => {
    for (const level of ['send', 'everything']) {
      const response = await oauth.decide(staff.viewer.browser, await ask(), { level });
      expect([response.statusCode, response.json().code]).toEqual([403, 'LEVEL_NOT_ALLOWED']);
    }
    const viewer = await oauth.connect(staff.viewer.browser, {}, forWholeService);
    expect(await readsRest(viewer.access_token)).toBe(200);
    const agent = await oauth.connect(staff.agent.browser, { level: 'everything' }, forWholeService);
    const key = await gateway.call(agent.access_token, 'POST', '/api-keys', { name: 'more' });
    expect([key.statusCode, key.json().code]).toEqual([403, 'insufficient_role']);
  });

  test('is refused in a workspace that requires a second factor, while the session has none', async () => {
    const strict = await openTeam(gateway, 'oauth-factor');
    await gateway.owner.pool.query('update workspace set requires_second_factor = true where id = $1', [
      strict.box.workspaceId,
    ]);
    gateway.bus.publish('credential.changed', { ownerId: strict.box.workspaceId });
    const allowed = await oauth.decide(strict.owner.browser, await ask());
    expect([allowed.statusCode, allowed.json().code]).toEqual([403, 'SECOND_FACTOR_REQUIRED']);
    const grants = await strict.owner.browser.rest('GET', '/oauth/grants');
    expect([grants.statusCode, grants.json().code]).toEqual([403, 'SECOND_FACTOR_REQUIRED']);
    const ofKey = await gateway.call(strict.box.apiKey, 'GET', '/oauth/grants');
    expect(ofKey.json().data).toEqual([]);
  });

  test('is refused for a workspace that is not the active one, and for an address of another workspace', async () => {
    const other = await openTeam(gateway, 'oauth-others');
    const elsewhere = await oauth.decide(team.owner.browser, await ask(), { workspaceId: other.box.workspaceId });
    expect([elsewhere.statusCode, elsewhere.json().code]).toEqual([409, 'OTHER_WORKSPACE']);
    const foreign = await oauth.decide(team.owner.browser, await ask(), { addresses: [other.box.address] });
    expect(foreign.statusCode).toBe(400);
  });

  test('limits a token to the chosen address', async () => {
    const second = `second@${team.box.address.split('@')[1]}`;
    await gateway.call(team.box.apiKey, 'POST', '/email-addresses', { address: second });
    const { access_token: token } = await oauth.connect(
      team.owner.browser,
      { level: 'send', addresses: [team.box.address] },
      forWholeService,
    );
    const sent = await gateway.call(token, 'POST', '/emails', {
      from: second,
      to: 'a@b.test',
      subject: 's',
      text: 't',
    });
    expect([sent.statusCode, sent.json().code]).toEqual([403, 'limited_to_address']);
    const own = await gateway.call(token, 'POST', '/emails', {
      from: team.box.address,
      to: 'a@b.test',
      subject: 's',
      text: 't',
    });
    expect([own.statusCode, own.json().approval?.status]).toEqual([200, 'awaiting_approval']);
  });
});

describe('a code', () => {
  const allow = async (browser = team.owner.browser, decision = {}) => {
    const signIn = { clientId: await oauth.register(), verifier: oauth.makeVerifier() };
    return { signIn, code: await oauth.allow(browser, signIn, decision) };
  };

  test('becomes tokens once: of 50 exchanges at the same time one succeeds, and the grant ends', async () => {
    const { signIn, code } = await allow();
    const responses = await Promise.all(Array.from({ length: 50 }, () => oauth.exchange(signIn, code)));
    const won = responses.filter(({ statusCode }) => statusCode === 200);
    expect(won.length).toBe(1);
    expect(responses.filter(({ statusCode }) => statusCode === 400).length).toBe(49);
    expect(await readsMcp(won[0]?.json().access_token)).toBe(401);
    expect(readError(await oauth.refresh(signIn.clientId, won[0]?.json().refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
  });

  test('that is used again ends the tokens of its grant, with the key', async () => {
    const { signIn, code } = await allow();
    const { access_token: token } = (await oauth.exchange(signIn, code)).json();
    expect(await readsMcp(token)).toBe(200);
    expect(readError(await oauth.exchange(signIn, code))).toEqual([400, 'invalid_grant']);
    expect(await readsMcp(token)).toBe(401);
  });

  test.each([
    ['a wrong verifier', () => ({ code_verifier: oauth.makeVerifier() })],
    ['another redirect URI', () => ({ redirect_uri: `${CALLBACK}2` })],
    ['another resource', () => ({ resource: ISSUER })],
  ])('is void after an exchange with %s', async (_name, more) => {
    const { signIn, code } = await allow();
    expect(readError(await oauth.exchange(signIn, code, more()))).toEqual([400, 'invalid_grant']);
    expect(readError(await oauth.exchange(signIn, code))).toEqual([400, 'invalid_grant']);
  });

  test('is not exchanged for another client, without a verifier, or with parameters given twice', async () => {
    const { signIn, code } = await allow();
    const other = await oauth.register();
    expect(readError(await oauth.exchange({ ...signIn, clientId: other }, code))).toEqual([400, 'invalid_grant']);
    expect(readError(await oauth.exchange(signIn, code, { code_verifier: '' }))).toEqual([400, 'invalid_request']);
    const twice = await gateway.app.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `grant_type=authorization_code&code=${code}&code=${code}`,
    });
    expect(readError(twice)).toEqual([400, 'invalid_request']);
    expect((await oauth.exchange(signIn, code)).statusCode).toBe(200);
  });

  test('is void when it is older than a minute, and when the role of its person changed', async () => {
    const late = await allow();
    await gateway.owner.pool.query(`update oauth_code set expires_at = now() - interval '1 second'`);
    expect(readError(await oauth.exchange(late.signIn, late.code))).toEqual([400, 'invalid_grant']);
    const person = await team.makeMember('agent');
    const changed = await allow(person.browser, { level: 'send' });
    await team.owner.browser.rest('PATCH', `/members/${person.personId}`, {}, { role: 'viewer' });
    expect(readError(await oauth.exchange(changed.signIn, changed.code))).toEqual([400, 'invalid_grant']);
  });
});

describe('a token', () => {
  test('of the MCP server is refused by REST and GraphQL; that of the whole service is accepted by all', async () => {
    const mcp = await oauth.connect(team.owner.browser, { level: 'everything' });
    expect([await readsMcp(mcp.access_token), await readsRest(mcp.access_token)]).toEqual([200, 401]);
    expect((await gateway.graphql(mcp.access_token, '{ viewer { id } }')).statusCode).toBe(401);
    const all = await oauth.connect(team.owner.browser, {}, forWholeService);
    expect([await readsMcp(all.access_token), await readsRest(all.access_token)]).toEqual([200, 200]);
  });

  test('of the level read neither sends nor changes, and one of the level send sends with approval only', async () => {
    const { access_token: read } = await oauth.connect(team.owner.browser, {}, forWholeService);
    const email = { from: team.box.address, to: 'a@b.test', subject: 's', text: 't' };
    const denied = await gateway.call(read, 'POST', '/emails', email);
    expect([denied.statusCode, denied.json().code]).toEqual([403, 'insufficient_scope']);
    const { access_token: send } = await oauth.connect(team.owner.browser, { level: 'send' }, forWholeService);
    const sent = (await gateway.call(send, 'POST', '/emails', email)).json();
    expect(sent.approval).toMatchObject({ status: 'awaiting_approval' });
    for (const [method, path, body] of [
      ['POST', '/api-keys', { name: 'x' }],
      ['POST', '/domains', { domain: 'new.test' }],
      ['PUT', '/retention', {}],
    ] as const)
      expect((await gateway.call(send, method, path, body)).statusCode, path).toBe(403);
  });

  test('is no password, and its kinds do not replace each other', async () => {
    const tokens = await oauth.connect(team.owner.browser, {}, forWholeService);
    expect(await readsRest(tokens.refresh_token)).toBe(401);
    expect(readError(await oauth.refresh(tokens.clientId, tokens.access_token))).toEqual([400, 'invalid_grant']);
  });

  test('that was refreshed is rotated, and the second use of a refresh token ends the grant', async () => {
    const first = await oauth.connect(team.owner.browser);
    const second = (await oauth.refresh(first.clientId, first.refresh_token)).json();
    expect(second).toMatchObject({ token_type: 'Bearer', scope: 'read', expires_in: 3_600 });
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(await readsMcp(second.access_token)).toBe(200);
    expect(readError(await oauth.refresh(first.clientId, first.refresh_token))).toEqual([400, 'invalid_grant']);
    expect(await readsMcp(second.access_token)).toBe(401);
    expect(readError(await oauth.refresh(first.clientId, second.refresh_token))).toEqual([400, 'invalid_grant']);
  });

  test('ends a year after its person allowed the client, however often it is refreshed', async () => {
    const first = await oauth.connect(team.owner.browser);
    const age = (interval: string) =>
      gateway.owner.pool.query(
        `update api_key k set created_at = now() - $1::interval from oauth_grant g where g.id = k.id and g.client_id = $2`,
        [interval, first.clientId],
      );
    await age('364 days');
    const last = (await oauth.refresh(first.clientId, first.refresh_token)).json();
    const { rows } = await gateway.owner.pool.query<{ kind: string; is_within: boolean }>(
      `select t.kind, t.expires_at <= now() + interval '1 day' as is_within from oauth_token t join oauth_grant g on g.id = t.grant_id
       where g.client_id = $1 and t.used_at is null`,
      [first.clientId],
    );
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.filter(({ is_within }) => !is_within)).toEqual([]);
    await age('365 days');
    expect(readError(await oauth.refresh(first.clientId, last.refresh_token))).toEqual([400, 'invalid_grant']);
  });

  test('is refreshed for its own client and resource only', async () => {
    const { clientId, refresh_token: token } = await oauth.connect(team.owner.browser);
    const other = await oauth.register();
    expect(readError(await oauth.refresh(other, token))).toEqual([400, 'invalid_grant']);
    expect(readError(await oauth.refresh(clientId, token, { resource: ISSUER }))).toEqual([400, 'invalid_grant']);
    expect((await oauth.refresh(clientId, token, { resource: MCP_RESOURCE })).statusCode).toBe(200);
  });

  test('ends when its client revokes it; another client cannot', async () => {
    const { clientId, access_token: access, refresh_token: refresh } = await oauth.connect(team.owner.browser);
    await oauth.post('/oauth/revoke', { token: refresh, client_id: await oauth.register() });
    expect(await readsMcp(access)).toBe(200);
    expect((await oauth.post('/oauth/revoke', { token: refresh, client_id: clientId })).statusCode).toBe(200);
    expect(await readsMcp(access)).toBe(401);
    expect((await oauth.post('/oauth/revoke', { token: 'unknown', client_id: clientId })).statusCode).toBe(200);
  });

  test('ends when its person leaves the workspace, even if an admin keeps what the person set up', async () => {
    const person = await team.makeMember('developer');
    const { access_token: access, clientId, refresh_token: refresh } = await oauth.connect(person.browser);
    const removed = await team.owner.browser.rest('DELETE', `/members/${person.personId}?keep_keys=true`);
    expect(removed.statusCode).toBe(200);
    expect(await readsMcp(access)).toBe(401);
    expect(readError(await oauth.refresh(clientId, refresh))).toEqual([400, 'invalid_grant']);
  });

  test('ends when its person becomes a viewer', async () => {
    const person = await team.makeMember('developer');
    const { access_token: access } = await oauth.connect(person.browser, { level: 'everything' }, forWholeService);
    expect(await readsRest(access)).toBe(200);
    await team.owner.browser.rest('PATCH', `/members/${person.personId}`, {}, { role: 'viewer' });
    expect(await readsRest(access)).toBe(401);
  });
});

describe('the code of a terminal', () => {
  const start = async () =>
    (await oauth.post('/oauth/device_authorization', { client_id: 'postroom-cli', scope: 'everything' })).json();
  const poll = (device: string) =>
    oauth.post('/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'postroom-cli',
      device_code: device,
    });
  const letPoll = () => gateway.owner.pool.query('update oauth_code set polled_at = null');

  test('signs the command line in once a person allowed it, and only once', async () => {
    const { device_code: device, user_code: userCode, verification_uri_complete: link } = await start();
    expect(link).toBe(`${ISSUER}/oauth/device?code=${userCode}`);
    expect(readError(await poll(device))).toEqual([400, 'authorization_pending']);
    expect(readError(await poll(device))).toEqual([400, 'slow_down']);
    const asked = { userCode: userCode.toLowerCase().replace('-', ' ') };
    const { question } = (await team.owner.browser.auth('POST', '/oauth/request', asked)).json();
    expect(question).toMatchObject({ host: 'a terminal at 127.0.0.1', requested: 'everything', isForMcp: false });
    const decision = { asked, workspaceId: team.box.workspaceId, level: 'read', addresses: null };
    expect((await team.owner.browser.auth('POST', '/oauth/decision', decision)).json()).toEqual({ location: null });
    expect((await team.owner.browser.auth('POST', '/oauth/decision', decision)).statusCode).toBe(404);
    await letPoll();
    const tokens = (await poll(device)).json();
    expect(tokens.scope).toBe('read');
    expect(await readsRest(tokens.access_token)).toBe(200);
    expect(readError(await poll(device))).toEqual([400, 'invalid_grant']);
    expect(await readsRest(tokens.access_token)).toBe(401);
  });

  test('is denied, expires, and is for the command line only', async () => {
    const denied = await start();
    await team.owner.browser.auth('POST', '/oauth/decision', {
      asked: { userCode: denied.user_code },
      workspaceId: team.box.workspaceId,
      level: null,
      addresses: null,
    });
    expect(readError(await poll(denied.device_code))).toEqual([400, 'access_denied']);
    const late = await start();
    await gateway.owner.pool.query(`update oauth_code set expires_at = now() - interval '1 second'`);
    expect(readError(await poll(late.device_code))).toEqual([400, 'expired_token']);
    const other = await oauth.post('/oauth/device_authorization', { client_id: await oauth.register() });
    expect(readError(other)).toEqual([400, 'unauthorized_client']);
  });

  test('is guessed ten times at most', async () => {
    const { browser } = await team.makePerson();
    await forgetTries();
    const guess = () => browser.auth('POST', '/oauth/request', { userCode: 'BBBB-BBBB' });
    const statuses = (await Promise.all(Array.from({ length: 15 }, guess))).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 404).length).toBe(10);
    expect(statuses.filter((status) => status === 429).length).toBe(5);
    await forgetTries();
    expect((await openBrowser(gateway.app).auth('POST', '/oauth/request', { userCode: 'BBBB-BBBB' })).statusCode).toBe(
      401,
    );
  });
});

test('metadata names one issuer, which every redirect repeats against a mix-up of servers', async () => {
  const server = (await gateway.app.inject({ url: '/.well-known/oauth-authorization-server' })).json();
  expect(server).toMatchObject({ issuer: ISSUER, authorization_response_iss_parameter_supported: true });
  expect(server.code_challenge_methods_supported).toEqual(['S256']);
  const resource = (await gateway.app.inject({ url: '/.well-known/oauth-protected-resource/mcp' })).json();
  expect(resource).toMatchObject({ resource: MCP_RESOURCE, authorization_servers: [ISSUER] });
  const unauthorized = await gateway.app.inject({ method: 'POST', url: '/mcp', payload: {} });
  expect(unauthorized.headers['www-authenticate']).toBe(
    `Bearer resource_metadata="${ISSUER}/.well-known/oauth-protected-resource/mcp", scope="read"`,
  );
});

test('the consent page cannot be shown in a frame', async () => {
  const page = await gateway.app.inject({ url: '/oauth/consent?client_id=x', headers: { accept: 'text/html' } });
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
});
