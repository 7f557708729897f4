import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { isOwnHost } from '../../../gateway/admission/own-host.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';

const PUBLIC_URL = 'https://mail.example.com:8443';

let gateway: TestGateway;
let port: number;
beforeAll(async () => {
  gateway = await openTestGateway({ config: { publicUrl: PUBLIC_URL, trustedProxies: ['127.0.0.1'] } });
  port = Number(new URL(await gateway.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => gateway.close());

/** Sends a raw request and returns the whole response. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let response = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      response += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(response));
  });
}

const paths = [
  '/',
  '/inbox',
  '/api/e2/emails',
  '/api/v1',
  '/api/auth/settings',
  '/graphql',
  '/nothing',
  '/api/e2/docs',
];

const own = [
  'mail.example.com',
  'mail.example.com:8443',
  'mail.example.com:80',
  'MAIL.Example.COM',
  'mail.example.com.',
  'localhost',
  'localhost:3000',
  'LOCALHOST:1',
  '127.0.0.1',
  '127.0.0.1:3000',
  '10.1.2.3:8080',
  '203.0.113.7',
  '[::1]',
  '[::1]:3000',
  '[2001:db8::1]:443',
];
const others = [
  'rebound.evil.example',
  'evil.example:3000',
  'mail.example.com.evil.example',
  'evil-mail.example.com',
  'sub.mail.example.com',
  'example.com',
  'localhost.evil.example',
  'x.localhost',
  '127.0.0.1.evil.example',
  '127.1',
  '2130706433',
  '0x7f000001',
  '[::1',
  '[fe80::1%25eth0]',
  '::1',
  'mail.example.com:8443:1',
  'evil@mail.example.com',
  'mail.example.com/x',
  'mta-sts.example.com',
  'gateway',
  '',
];

test.each(own)('the host %s is ours', (host) => {
  expect(isOwnHost(host, PUBLIC_URL)).toBe(true);
});

test.each(others)('the host "%s" is another', (host) => {
  expect(isOwnHost(host, PUBLIC_URL)).toBe(false);
});

test('a request that names another host gets 421, whatever its path', async () => {
  for (const path of paths)
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE'] as const) {
      const response = await gateway.app.inject({
        method,
        url: path,
        // What DNS rebinding looks like: the page of the other host asks its own origin.
        headers: { host: 'rebound.evil.example:3000', origin: 'http://rebound.evil.example:3000', accept: 'text/html' },
      });
      expect([path, method, response.statusCode]).toEqual([path, method, 421]);
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(response.json()).toEqual({
        error: 'Misdirected Request',
        message: expect.stringContaining(PUBLIC_URL),
        statusCode: 421,
        name: 'validation_error',
        code: 'MISDIRECTED_REQUEST',
      });
    }
});

test('a request that names one of our hosts is served', async () => {
  for (const host of own) {
    const response = await gateway.app.inject({ url: '/api/auth/settings', headers: { host } });
    expect([host, response.statusCode]).toEqual([host, 200]);
  }
});

test('X-Forwarded-Host and Forwarded do not count, not even from a trusted proxy', async () => {
  const ask = (host: string, forwarded: string) =>
    gateway.app.inject({
      url: '/api/auth/settings',
      remoteAddress: '127.0.0.1',
      headers: { host, 'x-forwarded-host': forwarded, forwarded: `host=${forwarded}`, 'x-forwarded-for': '192.0.2.9' },
    });
  expect((await ask('evil.example', 'mail.example.com')).statusCode).toBe(421);
  expect((await ask('mail.example.com', 'evil.example')).statusCode).toBe(200);
});

test('probes reach /health and /ready under internal host names', async () => {
  for (const path of ['/health', '/ready'])
    for (const host of ['gateway', 'gateway-1:3000', 'gateway.postroom.svc.cluster.local'])
      expect([path, (await gateway.app.inject({ url: path, headers: { host } })).statusCode]).toEqual([path, 200]);
});

test('a request over a socket without a host is refused', async () => {
  expect(await raw('GET /api/auth/settings HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw('GET /api/auth/settings HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
  expect(await raw('GET /health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  expect(
    await raw(
      'GET http://mail.example.com/api/auth/settings HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    ),
  ).toMatch(/^HTTP\/1\.1 421 /);
});

describe('a page of another site whose name resolves to us', () => {
  test('cannot sign a visitor up and uses no session', async () => {
    const account = { email: 'ada@example.com', password: 'correct horse', apiKey: null, mailbox: null };
    await createAccount(gateway.owner, account);
    const browser = openBrowser(gateway.app);
    const signIn = { email: account.email, password: account.password };
    const ours = { origin: 'https://mail.example.com:8443', host: 'mail.example.com:8443' };
    expect((await browser.auth('POST', '/sign-in/email', signIn, ours)).statusCode).toBe(200);
    expect((await browser.rest('GET', '/emails', ours)).statusCode).toBe(200);

    const rebound = { origin: 'https://rebound.evil.example', host: 'rebound.evil.example' };
    expect((await browser.rest('GET', '/emails', rebound)).statusCode).toBe(421);
    const signUp = { email: 'eve@example.com', password: 'correct horse', name: 'Eve' };
    expect((await openBrowser(gateway.app).auth('POST', '/sign-up/email', signUp, rebound)).statusCode).toBe(421);
  });
});
