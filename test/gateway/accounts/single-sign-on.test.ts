import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settleKeys } from '../../../actors/scheduling/settle-expired-keys.ts';
import { encryptSecret } from '../../../core/shared/secret-box.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTestProvider, type TestProvider, type TokenChange } from '../../support/servers/oidc-provider.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';

const REDIRECT_URI = 'http://postroom.test/api/auth/provider/callback';
const VIEWER = '{ viewer { id email person { role } } }';
const secretKey = randomBytes(32);
let gateway: TestGateway;
let provider: TestProvider;

beforeAll(async () => {
  provider = await openTestProvider(REDIRECT_URI);
  gateway = await openTestGateway({ config: { secretKey } });
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});
beforeEach(async () => {
  provider.changeToken = null;
  provider.changeDiscovery = null;
  await gateway.owner.pool.query('delete from auth_rate_limit');
});

let companies = 0;

/** A workspace with a verified domain and single sign-on by the test's provider. */
async function openCompany(more: Record<string, unknown> = {}) {
  const domain = `company${companies++}.test`;
  const { workspaceId, apiKey } = await gateway.mailbox({ domain });
  const row = {
    workspace_id: workspaceId,
    issuer: provider.issuer,
    client_id: provider.clientId,
    secret_ciphertext: encryptSecret(secretKey, 'provider-secret', provider.clientSecret, randomBytes(12)),
    default_role: 'agent',
    ...more,
  };
  const names = Object.keys(row);
  await gateway.owner.pool.query(
    `insert into sign_in_provider (${names.join(', ')}) values (${names.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  );
  return { domain, workspaceId, apiKey };
}

/** Starts a sign-in and returns the URL at which the provider sends the browser back. */
async function comeBack(browser: BrowserSession, email: string, returnTo?: string): Promise<URL> {
  const response = await browser.auth('POST', '/provider/start', { email, returnTo });
  expect([response.statusCode, response.body]).toEqual([200, expect.any(String)]);
  return provider.visit(response.json().url);
}

const finish = (browser: BrowserSession, back: URL) =>
  browser.auth('GET', back.pathname.replace('/api/auth', '') + back.search);

/** Signs in by the provider, and returns where the browser ends. */
async function signIn(browser: BrowserSession, email: string, returnTo?: string): Promise<string> {
  const response = await finish(browser, await comeBack(browser, email, returnTo));
  expect(response.statusCode).toBe(303);
  return String(response.headers.location);
}

/** The problem that the sign-in page shows. */
const problem = (location: string) => new URL(location, 'http://postroom.test').searchParams.get('problem');

describe('single sign-on of a workspace', () => {
  test('creates the account at the first sign-in, as a member with the default role', async () => {
    const { domain, workspaceId } = await openCompany();
    provider.person = { sub: 'ann', email: `Ann@${domain}`, email_verified: true, name: 'Ann' };
    const browser = openBrowser(gateway.app);
    expect(await signIn(browser, `ann@${domain}`, '/threads?q=1')).toBe('/threads?q=1');
    expect((await browser.graphql(VIEWER)).json()).toMatchObject({ data: { viewer: { person: { role: 'AGENT' } } } });
    const workspaces = await browser.auth('GET', '/workspaces');
    expect(workspaces.json()).toMatchObject({ active: { id: workspaceId, role: 'agent' } });
    expect((await browser.auth('POST', '/sign-out', {})).statusCode).toBe(200);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(401);
    const again = openBrowser(gateway.app);
    provider.person = { sub: 'ann', email: `renamed@${domain}`, email_verified: true };
    await signIn(again, `ann@${domain}`);
    expect((await again.auth('GET', '/workspaces')).json().person).toEqual(workspaces.json().person);
  });

  test('reads the keys of the provider in each sign-in, so that a rotated key counts at once', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'rotated', email: `rotated@${domain}`, email_verified: true };
    await signIn(openBrowser(gateway.app), `rotated@${domain}`);
    provider.rotateKey();
    const before = provider.requests.length;
    expect(await signIn(openBrowser(gateway.app), `rotated@${domain}`)).toBe('/');
    expect(provider.requests.slice(before).filter((path) => path === '/jwks')).toHaveLength(1);
  });
});

describe('signing out', () => {
  const findSignOut = async (browser: BrowserSession) => {
    const response = await browser.auth('POST', '/provider/sign-out', {});
    expect(response.statusCode, response.body).toBe(200);
    return response.json().url as string | null;
  };

  test('ends the session at the provider, too, which asks for the sign-in again', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'leaver', email: `leaver@${domain}`, email_verified: true };
    const browser = openBrowser(gateway.app);
    const cookies = new Map<string, string>();
    const start = async () => {
      const started = await browser.auth('POST', '/provider/start', { email: `leaver@${domain}` });
      const before = provider.requests.length;
      const back = await provider.visit(started.json().url, cookies);
      const hasAsked = provider.requests.slice(before).some((path) => path.startsWith('/interaction/'));
      return { back, hasAsked };
    };
    const first = await start();
    expect([first.hasAsked, (await finish(browser, first.back)).statusCode]).toEqual([true, 303]);
    expect((await start()).hasAsked).toBe(false);
    const url = await findSignOut(browser);
    expect((await browser.auth('POST', '/sign-out', {})).statusCode).toBe(200);
    expect(new URL(url ?? '').searchParams.get('post_logout_redirect_uri')).toBe('http://postroom.test/sign-in');
    expect(await provider.signOut(url ?? '', cookies)).toBe('http://postroom.test/sign-in');
    expect((await start()).hasAsked).toBe(true);
  });

  test('stays in Postroom where the provider has no such page, does not respond, or names one that is no web page', async () => {
    const { domain, workspaceId } = await openCompany();
    provider.person = { sub: 'stayer', email: `stayer@${domain}`, email_verified: true };
    const browser = openBrowser(gateway.app);
    await signIn(browser, `stayer@${domain}`);
    expect(await findSignOut(browser)).toContain(provider.issuer);
    for (const endpoint of [undefined, 'javascript:alert(1)', 'data:text/html,x']) {
      provider.changeDiscovery = (document) => ({ ...document, end_session_endpoint: endpoint });
      expect(await findSignOut(browser)).toBeNull();
    }
    provider.changeDiscovery = null;
    await gateway.owner.pool.query(
      `update sign_in_provider set issuer = 'http://127.0.0.1:9' where workspace_id = $1`,
      [workspaceId],
    );
    expect(await findSignOut(browser)).toBeNull();
  });

  test('of a session by password, or of none, leads to no provider', async () => {
    const email = 'by-password@elsewhere.test';
    const password = 'correct horse battery';
    await createAccount(gateway.owner, { email, password, apiKey: null, mailbox: null });
    const browser = openBrowser(gateway.app);
    await browser.auth('POST', '/sign-in/email', { email, password });
    expect(await findSignOut(browser)).toBeNull();
    expect((await openBrowser(gateway.app).auth('POST', '/provider/sign-out', {})).statusCode).toBe(401);
  });
});

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;

describe('an ID token', () => {
  const refused: [name: string, problem: string, change: TokenChange][] = [
    ['is signed by another key', 'TOKEN_INVALID', (claims, sign) => sign.rs256(claims, { isForged: true })],
    ['has an unknown kid', 'TOKEN_INVALID', (claims, sign) => sign.rs256(claims, { kid: 'unknown' })],
    ['has alg none', 'TOKEN_INVALID', (claims, sign) => sign.none(claims)],
    ['is signed by the client secret', 'TOKEN_INVALID', (claims, sign) => sign.hs256(claims, provider.clientSecret)],
    ['has expired', 'TOKEN_EXPIRED', (claims, sign) => sign.rs256({ ...claims, exp: inSeconds(-70) })],
    ['is not valid yet', 'TOKEN_EXPIRED', (claims, sign) => sign.rs256({ ...claims, nbf: inSeconds(90) })],
    ['has another audience', 'TOKEN_INVALID', (claims, sign) => sign.rs256({ ...claims, aud: 'another' })],
    [
      'has several audiences without azp',
      'TOKEN_INVALID',
      (claims, sign) => sign.rs256({ ...claims, aud: [provider.clientId, 'another'] }),
    ],
    [
      'has another azp',
      'TOKEN_INVALID',
      (claims, sign) => sign.rs256({ ...claims, aud: [provider.clientId, 'another'], azp: 'another' }),
    ],
    ['has another issuer', 'TOKEN_INVALID', (claims, sign) => sign.rs256({ ...claims, iss: 'https://evil.test' })],
    ['has another nonce', 'TOKEN_INVALID', (claims, sign) => sign.rs256({ ...claims, nonce: 'another' })],
    ['has no nonce', 'TOKEN_INVALID', (claims, sign) => sign.rs256({ ...claims, nonce: undefined })],
    ['has no subject', 'TOKEN_INVALID', (claims, sign) => sign.rs256({ ...claims, sub: undefined })],
  ];
  test.each(refused)('that %s is refused', async (_name, expected, change) => {
    const { domain } = await openCompany();
    provider.person = { sub: 'refused', email: `refused@${domain}`, email_verified: true };
    provider.changeToken = change;
    const browser = openBrowser(gateway.app);
    expect(problem(await signIn(browser, `refused@${domain}`))).toBe(expected);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(401);
  });

  test('that expired within the last minute is accepted, because clocks differ', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'skewed', email: `skewed@${domain}`, email_verified: true };
    provider.changeToken = (claims, sign) => sign.rs256({ ...claims, exp: inSeconds(-40) });
    expect(await signIn(openBrowser(gateway.app), `skewed@${domain}`)).toBe('/');
  });
});

describe('a response of the provider', () => {
  test('is refused in another browser, with another state, and the second time', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'replayed', email: `replayed@${domain}`, email_verified: true };
    const browser = openBrowser(gateway.app);
    const back = await comeBack(browser, `replayed@${domain}`);
    const stranger = await finish(openBrowser(gateway.app), back);
    expect(problem(String(stranger.headers.location))).toBe('STATE_MISMATCH');
    const forged = new URL(back);
    forged.searchParams.set('state', 'forged');
    expect(problem(String((await finish(browser, forged)).headers.location))).toBe('STATE_MISMATCH');
    expect((await finish(browser, back)).headers.location).toBe('/');
    expect(problem(String((await finish(browser, back)).headers.location))).toBe('STATE_MISMATCH');
  });

  test('is refused with the code of another sign-in', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'coded', email: `coded@${domain}`, email_verified: true };
    const victim = openBrowser(gateway.app);
    const back = await comeBack(victim, `coded@${domain}`);
    const stolen = await comeBack(openBrowser(gateway.app), `coded@${domain}`);
    back.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    expect(problem(String((await finish(victim, back)).headers.location))).toBe('STATE_MISMATCH');
  });

  test('is refused with the issuer of another provider (RFC 9207)', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'mixed', email: `mixed@${domain}`, email_verified: true };
    const browser = openBrowser(gateway.app);
    const back = await comeBack(browser, `mixed@${domain}`);
    back.searchParams.set('iss', 'https://evil.test');
    expect(problem(String((await finish(browser, back)).headers.location))).toBe('TOKEN_INVALID');
  });
});

const role = async (browser: BrowserSession) => (await browser.auth('GET', '/workspaces')).json().active.role as string;

describe('a provider', () => {
  test('of a workspace signs in no address of a domain that the workspace has not verified', async () => {
    const [mine, other] = [await openCompany(), await openCompany()];
    provider.person = { sub: 'foreign', email: `victim@${other.domain}`, email_verified: true };
    expect(problem(await signIn(openBrowser(gateway.app), `me@${mine.domain}`))).toBe('DOMAIN_NOT_VERIFIED');
    provider.person = { sub: 'foreign', email: 'victim@elsewhere.test', email_verified: true };
    expect(problem(await signIn(openBrowser(gateway.app), `me@${mine.domain}`))).toBe('DOMAIN_NOT_VERIFIED');
    const { rows } = await gateway.owner.pool.query(`select from person where email like 'victim@%'`);
    expect(rows).toEqual([]);
  });

  test('that names the owner of another workspace opens its own workspace only', async () => {
    const { domain, workspaceId } = await openCompany();
    const email = `boss@${domain}`;
    const own = openBrowser(gateway.app);
    await own.auth('POST', '/sign-up/email', { name: 'Boss', email, password: 'correct horse battery' });
    const { active } = (await own.auth('GET', '/workspaces')).json();
    await gateway.owner.pool.query('update person set email_verified = true where email = $1', [email]);
    provider.person = { sub: 'boss', email, email_verified: true };
    const browser = openBrowser(gateway.app);
    expect(await signIn(browser, email)).toBe('/');
    const shown = (await browser.auth('GET', '/workspaces')).json();
    expect([shown.active.id, shown.workspaces.map(({ id }: { id: string }) => id)]).toEqual([
      workspaceId,
      [workspaceId],
    ]);
    const refused = await browser.auth('POST', '/switch-workspace', { workspaceId: active.id });
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'OTHER_SIGN_IN_REQUIRED']);
    for (const [method, path, body] of [
      ['POST', '/set-password', { newPassword: 'another good password' }],
      ['POST', '/change-password', { currentPassword: 'correct horse battery', newPassword: 'another good password' }],
      ['GET', '/passkey/generate-register-options', undefined],
      ['POST', '/second-factor/set-up', {}],
      ['POST', '/second-factor/remove', {}],
      ['POST', '/revoke-sessions', {}],
      ['GET', '/list-sessions', undefined],
    ] as const) {
      const response = await browser.auth(method, path, body);
      expect([path, response.statusCode, response.json().code]).toEqual([path, 403, 'OTHER_SIGN_IN_REQUIRED']);
    }
    expect((await own.graphql(VIEWER)).statusCode).toBe(200);
  });

  test.each(['signed up', 'accepted an invitation whose link was handed over'])(
    'ends a sign-in that a stranger, who %s, made with the address of the person before',
    async (how) => {
      const { domain, apiKey } = await openCompany();
      const email = `squatted@${domain}`;
      const squatter = openBrowser(gateway.app);
      const password = 'correct horse battery';
      if (how === 'signed up') await squatter.auth('POST', '/sign-up/email', { name: 'X', email, password });
      else {
        const { accept_url: url } = (
          await gateway.call(apiKey, 'POST', '/invitations', { email, role: 'viewer' })
        ).json();
        const body = { token: url.split('#')[1], name: 'X', newPassword: password };
        expect((await squatter.auth('POST', '/sign-up/invitation', body)).statusCode).toBe(200);
      }
      provider.person = { sub: 'squatted', email, email_verified: true };
      expect(await signIn(openBrowser(gateway.app), email)).toBe('/');
      await gateway.owner.pool.query('delete from auth_rate_limit');
      const again = openBrowser(gateway.app);
      const response = await again.auth('POST', '/sign-in/email', { email, password: 'correct horse battery' });
      expect(response.statusCode).toBe(401);
      expect((await squatter.auth('GET', '/list-sessions')).statusCode).toBe(401);
    },
  );

  test.each([
    ['says that the address is not verified', { email_verified: false }, 'ADDRESS_NOT_VERIFIED'],
    ['does not say whether the address is verified', { email_verified: undefined }, 'ADDRESS_NOT_VERIFIED'],
    ['sends no address', { email: undefined }, 'ADDRESS_MISSING'],
    ['sends what is no address', { email: 'x' }, 'ADDRESS_MISSING'],
  ])('that %s signs no one in', async (_name, claims, expected) => {
    const { domain } = await openCompany();
    provider.person = { sub: 'claims', email: `claims@${domain}`, email_verified: true, ...claims };
    expect(problem(await signIn(openBrowser(gateway.app), `claims@${domain}`))).toBe(expected);
  });

  test('whose addresses are trusted needs no email_verified, but may not deny it', async () => {
    const { domain } = await openCompany({ trusts_addresses: true });
    provider.person = { sub: 'trusted', email: `trusted@${domain}` };
    expect(await signIn(openBrowser(gateway.app), `trusted@${domain}`)).toBe('/');
    provider.person = { sub: 'trusted', email: `trusted@${domain}`, email_verified: false };
    expect(problem(await signIn(openBrowser(gateway.app), `trusted@${domain}`))).toBe('ADDRESS_NOT_VERIFIED');
  });

  test('gives no account to another subject with the same address', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'first', email: `same@${domain}`, email_verified: true };
    await signIn(openBrowser(gateway.app), `same@${domain}`);
    provider.person = { sub: 'second', email: `same@${domain}`, email_verified: true };
    expect(problem(await signIn(openBrowser(gateway.app), `same@${domain}`))).toBe('OTHER_ACCOUNT');
  });

  test('gives the role of the group with the most rights at each sign-in, and none to persons in no group', async () => {
    const groupRoles = JSON.stringify([
      { group: 'support', role: 'agent' },
      { group: 'it', role: 'developer' },
    ]);
    const { domain } = await openCompany({ default_role: null, group_roles: groupRoles });
    const email = `grouped@${domain}`;
    const enter = async (groups: string[]) => {
      provider.person = { sub: 'grouped', email, email_verified: true, groups };
      const browser = openBrowser(gateway.app);
      const location = await signIn(browser, email);
      return location === '/' ? role(browser) : problem(location);
    };
    expect(await enter([])).toBe('ROLE_MISSING');
    expect(await enter(['support', 'it', 'others'])).toBe('developer');
    expect(await enter(['support'])).toBe('agent');
    expect(await enter(['others'])).toBe('ROLE_MISSING');
  });

  test('revokes the keys of a person whose role it lowers to one without keys, and pauses what they scheduled', async () => {
    const groupRoles = JSON.stringify([
      { group: 'support', role: 'agent' },
      { group: 'it', role: 'developer' },
    ]);
    const { domain } = await openCompany({ default_role: null, group_roles: groupRoles });
    const email = `lowered@${domain}`;
    const enter = async (group: string) => {
      provider.person = { sub: 'lowered', email, email_verified: true, groups: [group] };
      const browser = openBrowser(gateway.app);
      expect(await signIn(browser, email)).toBe('/');
      return browser;
    };
    const developer = await enter('it');
    const makeKey = async (create: (body: object) => Promise<{ json: () => { token: string; id: string } }>) =>
      (await create({ name: 'Key' })).json();
    const key = await makeKey((body) => developer.rest('POST', '/api-keys', {}, body));
    const child = await makeKey((body) => gateway.call(key.token, 'POST', '/api-keys', body));
    const mail = { from: `me@${domain}`, to: 'a@x.test', subject: 'Later', text: 'x', scheduled_at: 'in 2 days' };
    const scheduled = await gateway.call(child.token, 'POST', '/emails', mail);
    expect(scheduled.statusCode, scheduled.body).toBe(201);
    const hook = { name: 'Hook', type: 'webhook', config: { url: 'https://hooks.example.com/' } };
    const endpointId = (await gateway.call(key.token, 'POST', '/endpoints', hook)).json().id;

    expect(await role(await enter('support'))).toBe('agent');
    const responses = [key, child].map(({ token }) => gateway.call(token, 'GET', '/emails'));
    expect((await Promise.all(responses)).map(({ statusCode }) => statusCode)).toEqual([401, 401]);
    expect(await settleKeys(testActorContext(gateway.actor))).toBe(2);
    const { rows } = await gateway.owner.pool.query(
      `select (select status from email where id = $1) as email, (select is_active from endpoint where id = $2) as endpoint,
         array(select data->>'reason' from event where endpoint_id = $2 and kind = 'endpoint.disabled') as reasons`,
      [scheduled.json().id, endpointId],
    );
    const reasons = [expect.stringContaining('The API key Key that set it up was revoked')];
    expect(rows).toEqual([{ email: 'paused', endpoint: false, reasons }]);
    expect(await settleKeys(testActorContext(gateway.actor))).toBe(0);
  });

  test('makes one account of 20 sign-ins of a person at once', async () => {
    const { domain } = await openCompany();
    const email = `crowd@${domain}`;
    provider.person = { sub: 'crowd', email, email_verified: true };
    const locations = await Promise.all(Array.from({ length: 20 }, () => signIn(openBrowser(gateway.app), email)));
    expect(new Set(locations)).toEqual(new Set(['/']));
    const { rows } = await gateway.owner.pool.query('select from person where email = $1', [email]);
    expect(rows).toHaveLength(1);
  });

  test('in a private network is not reached unless the operator allows it', async () => {
    const strict = await openTestGateway({ config: { secretKey, allowedPrivateNetworks: [] } });
    try {
      const { workspaceId } = await strict.mailbox({ domain: 'strict.test' });
      await strict.owner.pool.query(
        `insert into sign_in_provider (workspace_id, issuer, client_id, secret_ciphertext) values ($1, $2, 'c', $3)`,
        [workspaceId, provider.issuer, encryptSecret(secretKey, 'provider-secret', 's', randomBytes(12))],
      );
      const before = provider.requests.length;
      const response = await openBrowser(strict.app).auth('POST', '/provider/start', { email: 'me@strict.test' });
      expect([response.statusCode, response.json().code]).toEqual([400, 'PROVIDER_BLOCKED']);
      expect(provider.requests).toHaveLength(before);
    } finally {
      await strict.close();
    }
  });
});

describe('the page after the sign-in', () => {
  test.each([
    'https://evil.test/',
    '//evil.test',
    '/\\evil.test',
    '/\t/evil.test',
    '/api/auth/sign-out',
    'javascript:x',
  ])('is never %j', async (returnTo) => {
    const { domain } = await openCompany();
    provider.person = { sub: 'open', email: `open@${domain}`, email_verified: true };
    expect(await signIn(openBrowser(gateway.app), `open@${domain}`, returnTo)).toBe('/');
  });
});

describe('a workspace with single sign-on only', () => {
  test('closes to sessions that began otherwise, except that of its owner', async () => {
    const { domain, workspaceId } = await openCompany();
    const email = `member@${domain}`;
    provider.person = { sub: 'member', email, email_verified: true };
    const byProvider = openBrowser(gateway.app);
    await signIn(byProvider, email);
    const { person } = (await byProvider.auth('GET', '/workspaces')).json();
    const link = async (of: string) => {
      const browser = openBrowser(gateway.app);
      const token = await makeSignInLink(gateway.owner, of);
      expect((await browser.auth('POST', '/sign-in/link', { token })).statusCode).toBe(200);
      return browser;
    };
    const byLink = await link(email);
    expect((await byLink.auth('POST', '/switch-workspace', { workspaceId })).statusCode).toBe(200);
    expect((await byLink.graphql(VIEWER)).statusCode).toBe(200);
    await gateway.owner.pool.query('update sign_in_provider set is_required = true where workspace_id = $1', [
      workspaceId,
    ]);
    gateway.bus.publish('credential.changed', { ownerId: workspaceId });
    expect((await byLink.graphql(VIEWER)).statusCode).toBe(401);
    expect((await byLink.auth('GET', '/get-session')).json()).toBeNull();
    expect((await byProvider.graphql(VIEWER)).statusCode).toBe(200);
    const again = await link(email);
    const refused = await again.auth('POST', '/switch-workspace', { workspaceId });
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'SINGLE_SIGN_ON_REQUIRED']);
    expect((await again.auth('GET', '/workspaces')).json()).toMatchObject({ active: { id: person.id } });
    const owner = await link(`${workspaceId}@account.test`);
    expect((await owner.auth('GET', '/workspaces')).json()).toMatchObject({
      active: { id: workspaceId, role: 'owner' },
    });
  });
});

describe('the settings of single sign-on', () => {
  const settings = () => ({
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    defaultRole: 'viewer',
    groupRoles: [{ group: 'it', role: 'admin' }],
  });
  async function openOwner(domain: string) {
    const { workspaceId } = await gateway.mailbox({ domain });
    const browser = openBrowser(gateway.app);
    const token = await makeSignInLink(gateway.owner, `${workspaceId}@account.test`);
    await browser.auth('POST', '/sign-in/link', { token });
    return { browser, workspaceId };
  }

  test('are stored without ever returning the secret, tested step by step, and sign persons in', async () => {
    const { browser, workspaceId } = await openOwner('settings.test');
    expect((await browser.auth('GET', '/single-sign-on')).json()).toEqual({
      redirectUri: `${REDIRECT_URI}/${workspaceId}`,
      provider: null,
    });
    const tested = await browser.auth('POST', '/single-sign-on/test', settings());
    expect(tested.json().steps.map(({ step, isPassed }: Record<string, unknown>) => [step, isPassed])).toEqual([
      ['discovery', true],
      ['keys', true],
      ['authorization', true],
      ['token', true],
    ]);
    const stored = await browser.auth('POST', '/single-sign-on', settings());
    expect(stored.statusCode).toBe(200);
    for (const body of [stored.body, (await browser.auth('GET', '/single-sign-on')).body, tested.body])
      expect(body).not.toContain(provider.clientSecret);
    const { rows } = await gateway.owner.pool.query<{ text: string }>(
      'select p::text as text from sign_in_provider p union all select a::text from audit_entry a where workspace_id = $1',
      [workspaceId],
    );
    expect(rows.map(({ text }) => text).join()).toContain('single_sign_on.created');
    expect(rows.map(({ text }) => text).join()).not.toContain(provider.clientSecret);
    provider.person = { sub: 'ruled', email: 'ruled@settings.test', email_verified: true, groups: ['it'] };
    const member = openBrowser(gateway.app);
    expect(await signIn(member, 'ruled@settings.test')).toBe('/');
    const denied = await member.auth('GET', '/single-sign-on');
    expect([denied.statusCode, denied.json().code]).toEqual([403, 'insufficient_role']);
    expect((await browser.auth('POST', '/single-sign-on/remove', {})).statusCode).toBe(200);
    expect((await member.graphql(VIEWER)).statusCode).toBe(401);
  });

  test.each([
    ['another client secret', { clientSecret: 'wrong' }, 'token'],
    ['another client ID', { clientId: 'wrong' }, 'authorization'],
    ['an issuer that does not respond', { issuer: 'http://127.0.0.1:9' }, null],
    ['an issuer with another name', { issuer: 'the provider by another name' }, 'discovery'],
  ] as const)('fail the test with %s', async (name, change, failing) => {
    const { browser } = await openOwner(`fails${companies++}.test`);
    const issuer = name.includes('another name') ? { issuer: provider.issuer.replace('127.0.0.1', 'localhost') } : {};
    const response = await browser.auth('POST', '/single-sign-on/test', { ...settings(), ...change, ...issuer });
    if (failing === null) return expect(response.statusCode).toBe(400);
    const last = response.json().steps.at(-1);
    expect([last.step, last.isPassed]).toEqual([failing, false]);
    expect(last.text.length).toBeGreaterThan(20);
  });

  test('are refused with an unknown field, which could be a misspelled rule', async () => {
    const { browser } = await openOwner('misspelled.test');
    for (const [more, field] of [
      [{ isRequred: true }, 'isRequred'],
      [{ groupRoles: [{ group: 'it', role: 'admin', only: true }] }, 'groupRoles.0.only'],
    ] as const) {
      const refused = await browser.auth('POST', '/single-sign-on', { ...settings(), ...more });
      expect([refused.statusCode, refused.json().details]).toEqual([400, [{ field, message: 'Unknown field' }]]);
    }
    expect((await browser.auth('GET', '/single-sign-on')).json().provider).toBeNull();
  });

  test('send the stored secret to the issuer that it was entered for only', async () => {
    const { browser } = await openOwner('kept.test');
    await browser.auth('POST', '/single-sign-on', settings());
    const { clientSecret: _, ...without } = settings();
    expect((await browser.auth('POST', '/single-sign-on', { ...without, isRequired: true })).statusCode).toBe(200);
    const evil = await openTestProvider(REDIRECT_URI);
    try {
      for (const path of ['/single-sign-on', '/single-sign-on/test']) {
        const response = await browser.auth('POST', path, { ...without, issuer: evil.issuer });
        expect([path, response.statusCode, response.json().details[0].field]).toEqual([path, 400, 'clientSecret']);
      }
      expect(evil.requests).toEqual([]);
    } finally {
      await evil.close();
    }
  });
});

describe('single sign-on of the service', () => {
  test('signs in its domains, and where it is required, nothing else but links of the operator does', async () => {
    const oidc = {
      issuer: provider.issuer,
      clientId: provider.clientId,
      clientSecret: provider.clientSecret,
      domains: ['whole.test'],
      trustsAddresses: false,
      isRequired: true,
      joins: null,
    };
    const service = await openTestGateway({ config: { secretKey, oidc } });
    try {
      const start = async (browser: BrowserSession, body: object) => {
        const response = await browser.auth('POST', '/provider/start', body);
        expect(response.statusCode).toBe(200);
        const back = await provider.visit(response.json().url);
        return String((await finish(browser, back)).headers.location);
      };
      provider.person = { sub: 'whole', email: 'ann@whole.test', email_verified: true };
      const browser = openBrowser(service.app);
      expect(await start(browser, {})).toBe('/');
      expect((await browser.graphql(VIEWER)).statusCode).toBe(200);
      const ended = await browser.auth('POST', '/provider/sign-out', {});
      expect(ended.json().url).toContain(`${provider.issuer}/session/end?`);
      provider.person = { sub: 'other', email: 'ann@other.test', email_verified: true };
      expect(problem(await start(openBrowser(service.app), {}))).toBe('DOMAIN_NOT_VERIFIED');
      const none = await openBrowser(service.app).auth('POST', '/provider/start', { email: 'ann@other.test' });
      expect([none.statusCode, none.json().code]).toEqual([404, 'NO_PROVIDER']);
      for (const [path, body] of [
        ['/sign-up/email', { name: 'A', email: 'a@b.test', password: 'correct horse battery' }],
        ['/sign-in/email', { email: 'a@b.test', password: 'correct horse battery' }],
        ['/request-password-reset', { email: 'a@b.test' }],
        ['/passkey/verify-authentication', { response: { id: 'x' } }],
      ] as const) {
        const response = await openBrowser(service.app).auth('POST', path, body);
        expect([path, response.json().code]).toEqual([path, 'SINGLE_SIGN_ON_REQUIRED']);
      }
      const invited = await browser.rest('POST', '/invitations', {}, { email: 'cleo@whole.test', role: 'agent' });
      expect(invited.statusCode, invited.body).toBe(200);
      const mail = (await readServiceMail(service.owner, 'cleo@whole.test')).at(-1) ?? '';
      const invitation = /\/invitation#([\w-]{43})/.exec(mail)?.[1] ?? '';
      const cleo = openBrowser(service.app);
      const signedUp = await cleo.auth('POST', '/sign-up/invitation', {
        token: invitation,
        name: 'Cleo',
        newPassword: 'correct horse battery',
      });
      expect([signedUp.statusCode, signedUp.json().code]).toEqual([403, 'SINGLE_SIGN_ON_REQUIRED']);
      expect(signedUp.json().message).toContain('cleo@whole.test');
      provider.person = { sub: 'cleo', email: 'cleo@whole.test', email_verified: true };
      expect(await start(cleo, {})).toBe('/');
      const joined = await cleo.auth('POST', '/accept-invitation', { token: invitation });
      expect(joined.statusCode, joined.body).toBe(200);
      const token = await makeSignInLink(service.owner, 'ann@whole.test');
      expect((await openBrowser(service.app).auth('POST', '/sign-in/link', { token })).statusCode).toBe(200);
    } finally {
      await service.close();
    }
  });

  test('gives the persons of its groups a role in the workspace of the operator, and refuses all others', async () => {
    const ownerEmail = 'boss@joined.test';
    const oidc = {
      issuer: provider.issuer,
      clientId: provider.clientId,
      clientSecret: provider.clientSecret,
      domains: ['joined.test'],
      trustsAddresses: false,
      isRequired: false,
      joins: {
        ownerEmail,
        groupRoles: [
          { group: 'staff', role: 'viewer' as const },
          { group: 'cn=ops', role: 'developer' as const },
        ],
      },
    };
    const service = await openTestGateway({ config: { secretKey, oidc } });
    try {
      const signInAs = async (sub: string, groups: string[] | undefined) => {
        provider.person = { sub, email: `${sub}@joined.test`, email_verified: true, ...(groups && { groups }) };
        await service.owner.pool.query('delete from auth_rate_limit');
        const browser = openBrowser(service.app);
        const response = await browser.auth('POST', '/provider/start', { email: `${sub}@joined.test` });
        const back = await provider.visit(response.json().url);
        return { browser, location: String((await finish(browser, back)).headers.location) };
      };
      const readRole = async (browser: BrowserSession) => (await browser.graphql(VIEWER)).json().data.viewer;

      // Without the account of the operator there is nothing to join.
      expect(problem((await signInAs('early', ['staff'])).location)).toBe('WORKSPACE_GONE');
      // Nor is there when someone signed up with the address first, without proof of receiving mail there.
      const squatter = `insert into person (id, email, name) values ('usr_squatter', $1, 'x')`;
      await service.owner.pool.query(squatter, [ownerEmail]);
      expect(problem((await signInAs('early', ['staff'])).location)).toBe('WORKSPACE_GONE');
      await service.owner.pool.query(`update person set email = 'squatter@joined.test' where id = 'usr_squatter'`);
      const made = await createAccount(service.owner, {
        email: ownerEmail,
        password: null,
        apiKey: null,
        mailbox: null,
      });
      if (!('workspaceId' in made)) throw new Error(made.outcome);

      const ann = await signInAs('ann', ['staff', 'unknown']);
      expect(ann.location).toBe('/');
      expect(await readRole(ann.browser)).toMatchObject({ id: made.workspaceId, person: { role: 'VIEWER' } });
      for (const groups of [undefined, [], ['unknown', 'cn', 'ops', 'STAFF']])
        expect(problem((await signInAs('eve', groups)).location)).toBe('ROLE_MISSING');
      expect((await service.owner.pool.query(`select 1 from person where email = 'eve@joined.test'`)).rows).toEqual([]);

      // The groups of each sign-in count, the most rights first, and losing all of them ends the access.
      expect((await readRole((await signInAs('ann', ['cn=ops', 'staff'])).browser)).person.role).toBe('DEVELOPER');
      expect((await readRole((await signInAs('ann', ['staff'])).browser)).person.role).toBe('VIEWER');
      expect(problem((await signInAs('ann', [])).location)).toBe('ROLE_MISSING');

      // The owner stays the owner, in no group and in any.
      expect((await readRole((await signInAs('boss', undefined)).browser)).person.role).toBe('OWNER');
      expect((await readRole((await signInAs('boss', ['staff'])).browser)).person.role).toBe('OWNER');

      // 20 first sign-ins of one person at once make one member.
      provider.person = { sub: 'cleo', email: 'cleo@joined.test', email_verified: true, groups: ['staff'] };
      const backs: [BrowserSession, URL][] = [];
      for (let n = 0; n < 20; n++) {
        const browser = openBrowser(service.app);
        const response = await browser.auth('POST', '/provider/start', { email: 'cleo@joined.test' });
        backs.push([browser, await provider.visit(response.json().url)]);
      }
      const ended = await Promise.all(backs.map(([browser, back]) => finish(browser, back)));
      expect(ended.map(({ headers }) => headers.location)).toContain('/');
      const members = await service.owner.pool.query(
        `select role from workspace_member m join person u on u.id = m.person_id
         where m.workspace_id = $1 and u.email = 'cleo@joined.test'`,
        [made.workspaceId],
      );
      expect(members.rows).toEqual([{ role: 'viewer' }]);
    } finally {
      await service.close();
    }
  });
});
