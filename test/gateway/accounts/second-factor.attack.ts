import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../../core/accounts/totp.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { ISSUER, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { readTotpSecret } from '../../support/stages/totp-secret.ts';
import { waitFor } from '../../support/wait-for.ts';

const PASSWORD = 'correct horse battery';
const VIEWER = '{ viewer { id } }';
let gateway: TestGateway;
let routes: ServedRoute[];
let accounts = 0;
let shiftMs = 0;
const now = () => new Date(Date.now() + shiftMs);

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway({ now, config: { rateLimitPerSecond: 0 } }));
  gateway = recorded.opened;
  routes = recorded.routes;
});
afterAll(() => gateway.close());
beforeEach(() => {
  shiftMs = 0;
  return forgetTries();
});

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const forgetTries = () => sql('delete from auth_rate_limit');
const countSessions = async (personId: string) =>
  (await sql('select from auth_session where person_id = $1', personId)).rowCount;

async function signUp() {
  const browser = openBrowser(gateway.app);
  const email = `secondfactor${accounts++}@example.com`;
  const made = await browser.auth('POST', '/sign-up/email', { name: 'Ada', email, password: PASSWORD });
  if (made.statusCode !== 200) throw new Error(made.body);
  return { browser, email, personId: (made.json() as { user: { id: string } }).user.id };
}

/** Sets up an authenticator app, whose codes begin a step later. */
async function addFactor(browser: BrowserSession) {
  const { secret: spelled } = (await browser.auth('POST', '/second-factor/set-up', {})).json();
  const secret = readTotpSecret(spelled);
  const on = await browser.auth('POST', '/second-factor/turn-on', { code: await totpCode(secret, now()) });
  if (on.statusCode !== 200) throw new Error(on.body);
  shiftMs += 30_000;
  return secret;
}

async function signIn(email: string, password = PASSWORD) {
  const browser = openBrowser(gateway.app);
  const response = await browser.auth('POST', '/sign-in/email', { email, password });
  return { browser, response };
}

/** Bodies of the routes of sign-in that need one. */
const BODIES: Readonly<Record<string, object>> = {
  '/sign-up/email': { name: 'Eve', email: 'not an address that is free', password: 'x' },
  '/sign-in/email': { email: 'nobody@example.com', password: 'wrong password here' },
  '/sign-in/link': { token: 'x'.repeat(43) },
  '/end-session': { id: 'ses_x' },
  '/update-user': { name: 'Renamed' },
  '/change-password': { currentPassword: PASSWORD, newPassword: 'a password of the thief' },
  '/set-password': { newPassword: 'a password of the thief' },
  '/request-password-reset': { email: 'nobody@example.com' },
  '/reset-password': { token: 'x', newPassword: 'a password of the thief' },
  '/passkey/verify-registration': { response: { id: 'x' } },
  '/passkey/verify-authentication': { response: { id: 'x' } },
  '/passkey/update-passkey': { id: 'x', name: 'Renamed' },
  '/passkey/delete-passkey': { id: 'x' },
  '/switch-workspace': { workspaceId: 'x' },
  '/provider/start': { email: 'nobody@example.com', confirms: true },
  '/second-factor/turn-on': { code: '000000' },
  '/second-factor/verify': { code: '000000' },
  '/second-factor/require': { isRequired: false },
  '/confirm-sign-in': { password: PASSWORD },
  '/single-sign-on': { issuer: 'https://issuer.test', clientId: 'x', clientSecret: 'x' },
  '/single-sign-on/test': { issuer: 'https://issuer.test', clientId: 'x', clientSecret: 'x' },
  '/invitation': { token: 'x'.repeat(43) },
  '/accept-invitation': { token: 'x'.repeat(43) },
  '/sign-up/invitation': { token: 'x'.repeat(43), name: 'Eve', newPassword: 'a password of the thief' },
  '/oauth/request': { userCode: 'BBBB-BBBB' },
  '/oauth/decision': { asked: { userCode: 'BBBB-BBBB' }, workspaceId: 'x', level: 'read', addresses: null },
};

/** What a session that waits for its code can do beside what a stranger can: show the code, and end. */
const FOR_PENDING = new Set(['/api/auth/second-factor/verify', '/api/auth/sign-out']);
/** Bodies that are refused whoever sends them. */
const REFUSED = new Set(['/api/auth/sign-up/email']);

/** Calls a route as a page of ours does. */
async function callAs(cookie: string | null, { method, url }: ServedRoute) {
  const path = url.replaceAll(/:\w+/g, 'x').replaceAll('*', 'x');
  const sent = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
  return gateway.app.inject({
    method: method as 'GET',
    url: path,
    headers: {
      host: 'postroom.test',
      origin: 'http://postroom.test',
      'sec-fetch-site': 'same-origin',
      accept: 'application/json, text/event-stream',
      ...(cookie === null ? {} : { cookie }),
      ...(sent ? { 'content-type': 'application/json' } : {}),
    },
    ...(sent
      ? {
          payload: JSON.stringify(
            BODIES[url.replace('/api/auth', '')] ?? (url === '/graphql' ? { query: VIEWER } : {}),
          ),
        }
      : {}),
  });
}

describe('between the password and the code', () => {
  test('every route treats the session as a stranger', { timeout: 300_000 }, async () => {
    const { browser, email, personId } = await signUp();
    await addFactor(browser);
    const { browser: pending, response } = await signIn(email);
    expect(response.json()).toEqual({ secondFactor: 'totp' });
    const cookie = [...pending.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const differs: unknown[] = [];
    let compared = 0;
    for (const route of routes) {
      if (FOR_PENDING.has(route.url) || !['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(route.method)) continue;
      await forgetTries();
      const stranger = await callAs(null, route);
      const thief = await callAs(cookie, route);
      compared++;
      if (thief.statusCode !== stranger.statusCode || thief.body.includes(email) || thief.body.includes(personId))
        differs.push([route.method, route.url, stranger.statusCode, thief.statusCode]);
      // A body that is refused for its form shows nothing.
      if (route.url.startsWith('/api/auth') && stranger.body.includes('"details"') && !REFUSED.has(route.url))
        differs.push([route.url, stranger.body]);
    }
    expect(differs).toEqual([]);
    expect(compared).toBeGreaterThan(250);
    expect((await pending.auth('GET', '/get-session')).json()).toBeNull();
    const { rows } = await sql('select name from person where id = $1', personId);
    expect([rows, await countSessions(personId)]).toEqual([[{ name: 'Ada' }], 2]);
  });

  test('a code of the thief’s own app opens nothing, also when the thief’s own cookie is sent beside', async () => {
    const [victim, thief] = [await signUp(), await signUp()];
    await addFactor(victim.browser);
    const secret = await addFactor(thief.browser);
    const { browser } = await signIn(victim.email);
    const { browser: ownPending } = await signIn(thief.email);
    const name = 'postroom.session_token';
    const [pending, own] = [browser.cookies.get(name) ?? '', ownPending.cookies.get(name) ?? ''];
    for (const cookie of [
      `${name}=${pending}`,
      `${name}=${pending}; ${name}=${own}`,
      `${name}=${own}; ${name}=${pending}`,
      `${name}="${own}"; ${name}=${pending}`,
    ]) {
      shiftMs += 30_000;
      await browser.auth('POST', '/second-factor/verify', { code: await totpCode(secret, now()) }, { cookie });
      expect([cookie, (await browser.graphql(VIEWER, { cookie: `${name}=${pending}` })).statusCode]).toEqual([
        cookie,
        401,
      ]);
    }
    const { rows } = await sql(
      'select from auth_session where person_id = $1 and second_factor_at is not null',
      victim.personId,
    );
    expect(rows).toHaveLength(1);
  });

  test('a session stays closed when its person removes the app, and until the next one is set up', async () => {
    const { browser, email, personId } = await signUp();
    await addFactor(browser);
    const { browser: thief } = await signIn(email);
    expect((await browser.auth('POST', '/second-factor/remove', {})).statusCode).toBe(200);
    expect((await thief.graphql(VIEWER)).statusCode).toBe(401);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(200);
    expect(await countSessions(personId)).toBe(1);
  });
});

describe('a link for a new password', () => {
  test('sets one password of 50 at once, and passes no second factor', async () => {
    const { browser: victim, email } = await signUp();
    const secret = await addFactor(victim);
    await victim.auth('POST', '/request-password-reset', { email });
    const token = await waitFor(async () => {
      const [, found] =
        /\/reset-password#token=([A-Za-z0-9]+)/.exec((await readServiceMail(gateway.owner, email)).join('\n')) ?? [];
      if (found === undefined) throw new Error('no link yet');
      return found;
    });
    // The queue of hashes takes a few requests of one client at a time.
    const passwords = Array.from({ length: 50 }, (_, at) => `the new password ${at}`);
    const responses = await Promise.all(
      passwords.map((newPassword) => openBrowser(gateway.app).auth('POST', '/reset-password', { token, newPassword })),
    );
    const won = responses.flatMap(({ statusCode }, at) => (statusCode === 200 ? [at] : []));
    expect(won).toHaveLength(1);
    await forgetTries();
    const { browser, response } = await signIn(email, passwords[won[0] ?? 0]);
    expect(response.json()).toEqual({ secondFactor: 'totp' });
    expect((await browser.graphql(VIEWER)).statusCode).toBe(401);
    shiftMs += 30_000;
    const shown = await browser.auth('POST', '/second-factor/verify', { code: await totpCode(secret, now()) });
    expect(shown.statusCode).toBe(200);
  });
});

describe('a workspace that begins to require a second factor', () => {
  test('lets a session that is open do nothing but set one up, on any route', { timeout: 300_000 }, async () => {
    const { browser, email, personId } = await signUp();
    const { access_token: access } = await openOauthStage(gateway).connect(browser, {}, { resource: ISSUER });
    await sql('update workspace set requires_second_factor = true where id = $1', personId);
    gateway.bus.publish('credential.changed', { ownerId: personId });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const served: string[] = [];
    for (const route of routes) {
      const isKept = /^\/api\/(?:e2|auth\/(?:export|oauth|single-sign-on))|^\/(?:graphql|mcp|scim)/.test(route.url);
      if (!isKept || !['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(route.method)) continue;
      await forgetTries();
      const [stranger, response] = [await callAs(null, route), await callAs(cookie, route)];
      const isRefused = response.statusCode === 403 && response.body.includes('SECOND_FACTOR_REQUIRED');
      if (!isRefused && (response.statusCode !== stranger.statusCode || response.body.includes(email)))
        served.push(`${route.method} ${route.url} ${response.statusCode}`);
    }
    // What a program asks for is shown; nothing is decided.
    expect(served).toEqual(['POST /api/auth/oauth/request 404']);
    // Programs and keys are no sessions; those that were allowed before go on.
    expect((await gateway.call(access, 'GET', '/emails')).statusCode).toBe(200);
  });
});
