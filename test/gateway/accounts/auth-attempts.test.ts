import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { forgiveAuthTries } from '../../../db/queries/accounts/sign-in-link.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
import { waitFor } from '../../support/wait-for.ts';

const PASSWORD = 'correct horse battery';
let gateway: TestGateway;
let accounts = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { trustedProxies: ['10.0.0.0/8'] } });
});
afterAll(() => gateway.close());

async function makeAccount(): Promise<string> {
  const email = `user${accounts++}@example.com`;
  await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  return email;
}

/** An attempt from an address, with `forwarded` as X-Forwarded-For. */
function attempt(email: string, password: string, { from = '203.0.113.1', app = gateway.app, forwarded = '' } = {}) {
  return app.inject({
    method: 'POST',
    url: '/api/auth/sign-in/email',
    remoteAddress: from,
    headers: { 'content-type': 'application/json', ...(forwarded === '' ? {} : { 'x-forwarded-for': forwarded }) },
    payload: JSON.stringify({ email, password }),
  });
}

const statuses = (responses: { statusCode: number }[]) => responses.map(({ statusCode }) => statusCode);

async function tryWrong(count: number, email: string, options: (n: number) => Parameters<typeof attempt>[2]) {
  const responses = [];
  for (let n = 0; n < count; n++) responses.push(await attempt(email, 'wrong', options(n)));
  return statuses(responses);
}

describe('attempts to sign in', () => {
  test('are limited to ten in 15 minutes of one client, on any gateway, and lock no other client out', async () => {
    const email = await makeAccount();
    const other = await gateway.beside();
    try {
      const from = (n: number) => ({ from: '198.51.100.1', app: n % 2 === 0 ? gateway.app : other.app });
      expect(await tryWrong(10, email, from)).toEqual(Array(10).fill(401));
      expect((await attempt(email, PASSWORD, { from: '198.51.100.50' })).statusCode).toBe(200);
      const late = await attempt(email, PASSWORD, from(50));
      expect([late.statusCode, late.json()]).toMatchObject([429, { code: 'TOO_MANY_TRIES', statusCode: 429 }]);
      expect(Number(late.headers['retry-after'])).toBeGreaterThan(800);
      expect(Number(late.headers['retry-after'])).toBeLessThanOrEqual(900);
      // A new gateway continues the count.
      const third = await gateway.beside();
      expect((await attempt(email.toUpperCase(), PASSWORD, { ...from(0), app: third.app })).statusCode).toBe(429);
      await third.app.close();
      await gateway.owner.pool.query(`update clock set shift = shift + interval '15 minutes 1 second'`);
      expect((await attempt(email, PASSWORD, from(51))).statusCode).toBe(200);
    } finally {
      await other.app.close();
    }
  });

  test('at once are limited as one by one', async () => {
    const email = await makeAccount();
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => attempt(email, 'wrong', { from: '192.0.2.1' })),
    );
    expect(statuses(responses).toSorted((a, b) => a - b)).toEqual([...Array(10).fill(401), ...Array(20).fill(429)]);
  });

  test('are limited to ten of one client, at any account, and X-Forwarded-For does not change it', async () => {
    const from = '203.0.113.7';
    const responses = [];
    for (let n = 0; n < 10; n++)
      responses.push(await attempt(`nobody${n}@example.com`, 'wrong', { from, forwarded: `198.51.100.${n}` }));
    expect(statuses(responses)).toEqual(Array(10).fill(401));
    expect((await attempt(await makeAccount(), PASSWORD, { from, forwarded: '192.0.2.200' })).statusCode).toBe(429);
    // Behind a proxy that is trusted, the client is whom the proxy names.
    const behind = (forwarded: string) => attempt('nobody@example.com', 'wrong', { from: '10.1.2.3', forwarded });
    expect((await behind('203.0.113.7')).statusCode).toBe(429);
    expect((await behind('198.51.100.77, 203.0.113.8')).statusCode).toBe(401);
    // What the client itself put in front of its proxy's word counts for nothing.
    expect((await behind('198.51.100.78, 203.0.113.7')).statusCode).toBe(429);
  });

  test('of one IPv6 network count as one client', async () => {
    const responses = [];
    for (let n = 0; n < 10; n++)
      responses.push(await attempt(`six${n}@example.com`, 'wrong', { from: `2001:db8:1:2::${n + 1}` }));
    expect(statuses(responses)).toEqual(Array(10).fill(401));
    expect((await attempt('six@example.com', 'wrong', { from: '2001:db8:1:2:ffff::1' })).statusCode).toBe(429);
    expect((await attempt('six@example.com', 'wrong', { from: '2001:db8:1:3::1' })).statusCode).toBe(401);
  });

  test('at an account are forgotten after a right one, which does not count against its client', async () => {
    const email = await makeAccount();
    const from = '203.0.113.20';
    expect(await tryWrong(9, email, (n) => ({ from: `203.0.113.${30 + n}` }))).toEqual(Array(9).fill(401));
    expect((await attempt(email, PASSWORD, { from })).statusCode).toBe(200);
    expect(await tryWrong(2, email, (n) => ({ from: `203.0.113.${50 + n}` }))).toEqual([401, 401]);
    const other = await makeAccount();
    for (let n = 0; n < 11; n++) expect((await attempt(other, PASSWORD, { from })).statusCode).toBe(200);
  });
});

test.each([
  ['/sign-in/link', { token: 'A'.repeat(43) }, 400],
  ['/request-password-reset', { email: 'asked@example.com' }, 200],
  ['/reset-password', { token: 'none', newPassword: 'a new password' }, 400],
  ['/passkey/verify-authentication', { response: { id: 'none' } }, 400],
] as const)('%s counts ten attempts of one client', async (path, body, status) => {
  const browser = openBrowser(gateway.app);
  for (let n = 0; n < 10; n++) expect((await browser.auth('POST', path, body)).statusCode).toBe(status);
  expect((await browser.auth('POST', path, body)).statusCode).toBe(429);
});

test('a client gets at most a hundred challenges of passkeys, each of which is stored', async () => {
  const get = () =>
    gateway.app.inject({ url: '/api/auth/passkey/generate-authenticate-options', remoteAddress: '203.0.113.90' });
  for (let n = 0; n < 100; n++) expect((await get()).statusCode).toBe(200);
  expect((await get()).json()).toMatchObject({ statusCode: 429, code: 'TOO_MANY_TRIES' });
});

test('refused attempts remove the expired ones before them', async () => {
  const from = '203.0.113.91';
  await gateway.owner.pool.query(`update clock set shift = '0'`);
  await tryWrong(10, 'full@example.com', () => ({ from }));
  for (let n = 0; n < 20; n++) expect((await attempt(`late${n}@example.com`, 'x', { from })).statusCode).toBe(429);
  const left = async () => {
    const { rows } = await gateway.owner.pool.query<{ count: number }>(
      `select count(*) from auth_rate_limit where tried_at = '{}'`,
    );
    return rows[0]?.count ?? 0;
  };
  await gateway.owner.pool.query(
    `update auth_rate_limit set last_at = last_at - interval '1 day' where tried_at = '{}'`,
  );
  const before = await left();
  expect(before).toBeGreaterThanOrEqual(20);
  expect((await attempt('later@example.com', 'x', { from })).statusCode).toBe(429);
  expect(await left()).toBe(before - 9);
});

test('a success waits for an attempt of the same client and account, and not each for the other', async () => {
  const [one, other] = ['a', 'b'] as const;
  await gateway.owner.pool.query(`select take_auth_try(array['a', 'b'], 10, interval '1 minute')`);
  const attempting = await gateway.owner.pool.connect();
  try {
    // As take_auth_try does: in the order of the names.
    await attempting.query('begin');
    await attempting.query('select from auth_rate_limit where key = $1 for update', [one]);
    const forgiven = forgiveAuthTries(gateway.owner, [other], [one]);
    await waitFor(async () => {
      const { rowCount } = await gateway.owner.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rowCount).toBe(1);
    });
    await attempting.query('select from auth_rate_limit where key = $1 for update', [other]);
    await attempting.query('commit');
    await forgiven;
  } finally {
    attempting.release();
  }
  const { rows } = await gateway.owner.pool.query(
    `select key, cardinality(tried_at) as tries from auth_rate_limit where key in ('a', 'b')`,
  );
  expect(rows).toEqual([{ key: one, tries: 0 }]);
  await gateway.owner.pool.query(`delete from auth_rate_limit where key = 'a'`);
});

test('attempts are counted by names without address or account', async () => {
  await attempt('secret@example.com', 'wrong', { from: '203.0.113.99' });
  const { rows } = await gateway.owner.pool.query<{ key: string }>('select key from auth_rate_limit');
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.every(({ key }) => /^[A-Za-z0-9_-]{43}$/.test(key))).toBe(true);
});
