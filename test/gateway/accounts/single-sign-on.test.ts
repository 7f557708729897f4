import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encryptSecret } from '../../../core/shared/secret-box.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTestProvider, type TestProvider, type TokenChange } from '../../support/servers/oidc-provider.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';

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
  const { userId } = await gateway.mailbox({ domain });
  const row = {
    workspace_id: userId,
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
  return { domain, userId };
}

/** Starts a sign-in and returns the URL at which the provider sends the browser back. */
async function comeBack(browser: BrowserSession, email: string, returnTo?: string): Promise<URL> {
  const response = await browser.auth('POST', '/provider/start', { email, returnTo });
  expect([response.statusCode, response.body]).toEqual([200, expect.any(String)]);
  return provider.visit(response.json().url);
}

const finish = (browser: BrowserSession, back: URL) => browser.auth('GET', `/provider/callback${back.search}`);

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
    const { domain, userId } = await openCompany();
    provider.person = { sub: 'ann', email: `Ann@${domain}`, email_verified: true, name: 'Ann' };
    const browser = openBrowser(gateway.app);
    expect(await signIn(browser, `ann@${domain}`, '/threads?q=1')).toBe('/threads?q=1');
    expect((await browser.graphql(VIEWER)).json()).toMatchObject({ data: { viewer: { person: { role: 'AGENT' } } } });
    const workspaces = await browser.auth('GET', '/workspaces');
    expect(workspaces.json()).toMatchObject({ active: { id: userId, role: 'agent' } });
    expect((await browser.auth('POST', '/sign-out', {})).statusCode).toBe(200);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(401);
    const again = openBrowser(gateway.app);
    provider.person = { sub: 'ann', email: `renamed@${domain}`, email_verified: true };
    await signIn(again, `ann@${domain}`);
    expect((await again.auth('GET', '/workspaces')).json().person).toEqual(workspaces.json().person);
  });

  test('reads the keys of the provider anew, so that a rotated key signs in at once', async () => {
    const { domain } = await openCompany();
    provider.person = { sub: 'rotated', email: `rotated@${domain}`, email_verified: true };
    await signIn(openBrowser(gateway.app), `rotated@${domain}`);
    provider.rotateKey();
    const before = provider.requests.length;
    expect(await signIn(openBrowser(gateway.app), `rotated@${domain}`)).toBe('/');
    expect(provider.requests.slice(before).filter((path) => path === '/jwks')).toHaveLength(1);
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
