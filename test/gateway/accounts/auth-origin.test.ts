import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { isOwnPage, isOwnPageOrProgram } from '../../../gateway/admission/session-admission.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, type Fields, openBrowser } from '../../support/stages/browser-session.ts';

let gateway: TestGateway;
let browser: BrowserSession;

beforeAll(async () => {
  gateway = await openTestGateway();
  const account = { email: 'ada@example.com', password: 'correct horse', apiKey: null, mailbox: null };
  await createAccount(gateway.owner, account);
  browser = openBrowser(gateway.app);
  await browser.auth('POST', '/sign-in/email', { email: account.email, password: account.password });
});
afterAll(() => gateway.close());

const MUTATION = 'mutation { createApiKey(input: { name: "taken" }) { __typename } }';

const foreign: [what: string, fields: Fields][] = [
  ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['another port of the same host', { origin: 'http://postroom.test:8080', 'sec-fetch-site': 'same-site' }],
  ['the other scheme', { origin: 'https://other.test', host: 'postroom.test' }],
  ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ['a page that tells no origin', { origin: undefined, 'sec-fetch-site': 'cross-site' }],
  ['a POST without Origin', { origin: undefined, 'sec-fetch-site': 'same-origin' }],
  ['a POST without both', { origin: undefined, 'sec-fetch-site': undefined }],
  ['an origin that only begins like ours', { origin: 'http://postroom.test.evil.example' }],
];

describe.each(foreign)('with the cookie, a request of %s', (_what, fields) => {
  test('changes nothing by GraphQL', async () => {
    const response = await browser.graphql(MUTATION, fields);
    expect([response.statusCode, response.json().errors[0].extensions.reason]).toEqual([403, 'INVALID_ORIGIN']);
  });

  test('changes nothing by REST', async () => {
    const response = await browser.rest('POST', '/domains', fields, { domain: 'inbox.test' });
    expect([response.statusCode, response.json().code]).toEqual([403, 'INVALID_ORIGIN']);
  });

  test('changes nothing in the account', async () => {
    const response = await browser.auth('POST', '/update-user', { name: 'Eve' }, fields);
    expect([response.statusCode, response.json().code]).toEqual([403, 'INVALID_ORIGIN']);
    expect((await browser.auth('POST', '/sign-out', {}, fields)).statusCode).toBe(403);
  });
});

test('has no effect at all', async () => {
  const { data } = (await browser.graphql('{ viewer { name } apiKeys { totalCount } domains { totalCount } }')).json();
  expect(data).toEqual({ viewer: { name: 'ada' }, apiKeys: { totalCount: 1 }, domains: { totalCount: 0 } });
});

test('with the cookie, another site reads nothing, not even by a link', async () => {
  for (const fields of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: undefined, 'sec-fetch-site': 'cross-site' },
    { origin: undefined, 'sec-fetch-site': 'same-site' },
  ])
    expect((await browser.rest('GET', '/emails', fields)).statusCode).toBe(403);
});

test('with the cookie, pages of ours are served, with Origin and without, and links that a person opens', async () => {
  for (const fields of [
    { origin: undefined, 'sec-fetch-site': 'same-origin' },
    { origin: undefined, 'sec-fetch-site': 'none' },
    { origin: undefined, 'sec-fetch-site': undefined },
    { origin: 'http://postroom.test', 'sec-fetch-site': 'same-origin' },
    // As reached by another name than PUBLIC_URL's.
    { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' },
  ])
    expect([fields, (await browser.rest('GET', '/emails', fields)).statusCode]).toEqual([fields, 200]);
});

test('a key takes precedence over the cookie, and serves any origin', async () => {
  const { apiKey } = await gateway.mailbox();
  const fields = { origin: 'https://evil.example', authorization: `Bearer ${apiKey}` };
  expect((await browser.rest('GET', '/emails', fields)).statusCode).toBe(200);
  const wrong = { origin: 'http://postroom.test', authorization: 'Bearer wrong' };
  expect((await browser.rest('GET', '/emails', wrong)).statusCode).toBe(401);
});

test('responses to the cookie have no CORS for accounts and no credentials for other origins', async () => {
  const preflight = await gateway.app.inject({
    method: 'OPTIONS',
    url: '/api/auth/get-session',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
  });
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  const session = await browser.auth('GET', '/get-session');
  expect(session.headers['access-control-allow-origin']).toBeUndefined();
  expect(session.headers['cache-control']).toBe('no-store');
  expect(session.headers['x-request-id']).toMatch(/^[0-9a-f]{24}$/);
  const emails = await browser.rest('GET', '/emails');
  expect(emails.headers['access-control-allow-credentials']).toBeUndefined();
});

test('another site cannot sign a user in, by password or by link', async () => {
  const token = await makeSignInLink(gateway.owner, 'ada@example.com');
  for (const fields of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: undefined, 'sec-fetch-site': 'cross-site' },
  ]) {
    const victim = openBrowser(gateway.app);
    const body = { email: 'ada@example.com', password: 'correct horse' };
    expect((await victim.auth('POST', '/sign-in/email', body, fields)).statusCode).toBe(403);
    expect((await victim.auth('POST', '/sign-in/link', { token }, fields)).statusCode).toBe(403);
    expect(victim.lastCookies).toEqual([]);
  }
  // A form of another site has another type of body, too.
  const form = await gateway.app.inject({
    method: 'POST',
    url: '/api/auth/sign-in/email',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'email=ada%40example.com&password=correct+horse',
  });
  expect([form.statusCode, form.headers['set-cookie']]).toEqual([415, undefined]);
  expect((await openBrowser(gateway.app).auth('POST', '/sign-in/link', { token })).statusCode).toBe(200);
});

test('endpoints of better-auth that we do not serve are 404', async () => {
  for (const path of [
    '/delete-user',
    '/change-email',
    '/sign-in/social',
    '/link-social',
    '/update-session',
    '/verify-password',
    '/error',
    '/ok',
  ])
    for (const method of ['GET', 'POST'] as const)
      expect([path, (await browser.auth(method, path, {})).statusCode]).toEqual([path, 404]);
  const large = await browser.auth('POST', '/update-user', { name: 'x'.repeat(40_000) });
  expect(large.statusCode).toBe(413);
});

test('the log contains no password, cookie or token, and only the patterns of paths', async () => {
  const token = await makeSignInLink(gateway.owner, 'ada@example.com');
  const canary = openBrowser(gateway.app);
  await canary.auth('POST', '/sign-in/email', { email: 'ada@example.com', password: 'canary-password-1' });
  await canary.auth('POST', '/sign-in/email', { email: 'not an address', password: 'canary-password-2' });
  await canary.auth('POST', '/sign-up/email', { name: 'x', email: 'ada@example.com', password: 'canary-password-3' });
  await canary.auth('POST', '/sign-in/link', { token });
  const cookie = canary.cookies.get('postroom.session_token') ?? '';
  await canary.auth('POST', '/change-password', {
    currentPassword: 'canary-password-4',
    newPassword: 'canary-password-5',
  });
  await canary.auth('GET', '/get-session?canary=canary-password-6');
  const log = JSON.stringify(gateway.logged);
  expect(log).toContain('/api/auth/sign-in/link');
  for (const secret of [
    'canary-password',
    token,
    cookie,
    decodeURIComponent(cookie).split('.')[0],
    'not an address',
    'ada@example.com',
  ])
    expect(log).not.toContain(secret);
});

describe('the origin of a page', () => {
  const ask = (origin: string, host: string) => ({ method: 'POST', headers: { origin, host } });

  test('if PUBLIC_URL is https, a page over plain HTTP of the same host is foreign', () => {
    const publicUrl = 'https://mail.example.com';
    const forged = ask('http://mail.example.com', 'mail.example.com');
    expect([isOwnPage(forged, publicUrl), isOwnPageOrProgram(forged, publicUrl)]).toEqual([false, false]);
    for (const own of [
      ask('https://mail.example.com', 'mail.example.com'),
      // As reached by another name that is ours (own-host.test.ts), and behind a proxy that does not pass the name on.
      ask('https://192.0.2.1:3000', '192.0.2.1:3000'),
      ask('https://mail.example.com', '127.0.0.1:3000'),
    ])
      expect([own, isOwnPage(own, publicUrl), isOwnPageOrProgram(own, publicUrl)]).toEqual([own, true, true]);
  });

  test('if PUBLIC_URL is http, pages over HTTP and HTTPS are ours', () => {
    for (const origin of ['http://mail.example.com', 'https://mail.example.com'])
      expect(isOwnPage(ask(origin, 'mail.example.com'), 'http://mail.example.com')).toBe(true);
  });
});
