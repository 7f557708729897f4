import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { eraseAccount } from '../../../operations/accounts/erase-account.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { waitFor } from '../../support/wait-for.ts';

const VIEWER = '{ viewer { email via } }';
const PASSWORD = 'correct horse battery';
let gateway: TestGateway;
let accounts = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());

async function makeAccount(): Promise<string> {
  const email = `user${accounts++}@example.com`;
  const made = await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  expect(made.outcome).toBe('created');
  return email;
}

async function signIn(email: string, browser: BrowserSession = openBrowser(gateway.app)): Promise<BrowserSession> {
  const response = await browser.auth('POST', '/sign-in/email', { email, password: PASSWORD });
  expect(response.statusCode).toBe(200);
  return browser;
}

const readStatus = async (browser: BrowserSession) => (await browser.graphql(VIEWER)).statusCode;
const sessionCookie = ({ cookies }: BrowserSession) => cookies.get('postroom.session_token') ?? '';

describe('the cookie', () => {
  test('is HttpOnly, SameSite=Lax and for every path; it has no Domain', async () => {
    const browser = await signIn(await makeAccount());
    expect(browser.lastCookies).toEqual([
      expect.stringMatching(/^postroom\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(
        /^postroom\.device_[0-9a-f]{12}=[^;]+; Path=\/api\/auth; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });

  test('is Secure and named __Host- when PUBLIC_URL is https', async () => {
    const secure = await openTestGateway({ config: { publicUrl: 'https://mail.example.com' } });
    try {
      const browser = openBrowser(secure.app, 'https://mail.example.com');
      const body = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
      expect((await browser.auth('POST', '/sign-up/email', body)).statusCode).toBe(200);
      expect(browser.lastCookies).toEqual([
        expect.stringMatching(
          /^__Host-postroom\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
        ),
        expect.stringMatching(
          /^__Secure-postroom\.device_[^;]+; Path=\/api\/auth; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure$/,
        ),
      ]);
      expect(await readStatus(browser)).toBe(200);
      const challenge = await browser.auth('GET', '/passkey/generate-register-options');
      expect([challenge.statusCode, browser.lastCookies]).toEqual([
        200,
        [
          expect.stringMatching(
            /^__Host-postroom\.passkey=[^;]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
          ),
        ],
      ]);
    } finally {
      await secure.close();
    }
  });

  test('is rejected with a foreign signature or without one', async () => {
    const browser = await signIn(await makeAccount());
    const [token = ''] = decodeURIComponent(sessionCookie(browser)).split('.');
    for (const value of [
      token,
      `${token}.`,
      `${token}.${'A'.repeat(43)}=`,
      encodeURIComponent(`${token}.${'A'.repeat(43)}=`),
    ]) {
      browser.cookies.set('postroom.session_token', value);
      expect([value, await readStatus(browser)]).toEqual([value, 401]);
      expect((await browser.auth('GET', '/get-session')).json()).toBeNull();
    }
  });
});

describe('a session', () => {
  test('has another id after each sign-in, whatever cookie came with it', async () => {
    const email = await makeAccount();
    const browser = await signIn(email);
    const first = sessionCookie(browser);
    await signIn(email, browser);
    expect(sessionCookie(browser)).not.toBe(first);
    // One that an attacker planted gains nothing by the sign-in of its victim.
    const planted = openBrowser(gateway.app);
    planted.cookies.set('postroom.session_token', 'planted.token');
    await signIn(email, planted);
    expect(sessionCookie(planted)).not.toBe('planted.token');
  });

  test('reports to GraphQL who asks, and by which means', async () => {
    const email = await makeAccount();
    expect((await (await signIn(email)).graphql(VIEWER)).json()).toMatchObject({
      data: { viewer: { email, via: 'SESSION' } },
    });
    const { apiKey } = await gateway.mailbox();
    expect((await gateway.graphql(apiKey, '{ viewer { via } }')).json()).toMatchObject({
      data: { viewer: { via: 'API_KEY' } },
    });
  });

  test('ends with sign-out, even for a client that kept the cookie', async () => {
    const browser = await signIn(await makeAccount());
    const kept = sessionCookie(browser);
    expect(await readStatus(browser)).toBe(200);
    expect((await browser.auth('POST', '/sign-out')).json()).toEqual({ status: true });
    expect(browser.cookies.has('postroom.session_token')).toBe(false);
    browser.cookies.set('postroom.session_token', kept);
    expect(await readStatus(browser)).toBe(401);
    expect((await browser.rest('GET', '/emails')).statusCode).toBe(401);
    expect((await browser.auth('GET', '/get-session')).json()).toBeNull();
  });

  test('whose row has expired opens nothing, and is removed when its browser asks', async () => {
    const browser = await signIn(await makeAccount());
    const { session } = (await browser.auth('GET', '/get-session')).json();
    await gateway.owner.pool.query(`update auth_session set expires_at = now() - interval '1 second' where id = $1`, [
      session.id,
    ]);
    await waitFor(async () => expect(await readStatus(browser)).toBe(401));
    expect((await browser.auth('GET', '/get-session')).json()).toBeNull();
    const { rowCount } = await gateway.owner.pool.query('select from auth_session where id = $1', [session.id]);
    expect(rowCount).toBe(0);
  });

  test('lasts 12 hours from its last use that is written, and 30 days from its sign-in at most', async () => {
    const browser = await signIn(await makeAccount());
    const { session } = (await browser.auth('GET', '/get-session')).json();
    expect(Date.parse(session.expiresAt) - Date.parse(session.createdAt)).toBeCloseTo(12 * 3_600_000, -4);
    const age = (created: string, left: string) =>
      gateway.owner.pool.query(
        `update auth_session set created_at = now() - $2::interval, expires_at = now() + $3::interval where id = $1`,
        [session.id, created, left],
      );
    const secondsLeft = async () => {
      const { rows } = await gateway.owner.pool.query<{ left: number }>(
        'select extract(epoch from expires_at - now())::float8 as left from auth_session where id = $1',
        [session.id],
      );
      return rows[0]?.left ?? 0;
    };
    await age('3 days', '2 hours');
    // Requests of pages do not move it; only this one does.
    expect(await readStatus(browser)).toBe(200);
    expect(await secondsLeft()).toBeLessThan(7_201);
    await browser.auth('GET', '/get-session');
    expect(await secondsLeft()).toBeGreaterThan(43_000);
    await age('29 days 23 hours', '30 minutes');
    await browser.auth('GET', '/get-session');
    expect(await secondsLeft()).toBeLessThan(3_601);
  });

  test('can be listed and ended by other sessions of its account only; no token is returned', async () => {
    const email = await makeAccount();
    const [one, two] = [await signIn(email), await signIn(email)];
    const stranger = await signIn(await makeAccount());
    const listed = (await one.auth('GET', '/list-sessions')).json();
    expect(listed).toHaveLength(2);
    const told = ['createdAt', 'expiresAt', 'id', 'ipAddress', 'updatedAt', 'userAgent'];
    expect(Object.keys(listed[0]).toSorted()).toEqual(told);
    const { session } = (await two.auth('GET', '/get-session')).json();
    const refused = await stranger.auth('POST', '/end-session', { id: session.id });
    expect([refused.statusCode, refused.json().code]).toEqual([404, 'SESSION_NOT_FOUND']);
    expect(await readStatus(two)).toBe(200);
    expect((await one.auth('POST', '/end-session', { id: session.id })).statusCode).toBe(200);
    expect(await readStatus(two)).toBe(401);
    expect(await readStatus(one)).toBe(200);
  });

  test('signs out all sessions, itself included', async () => {
    const email = await makeAccount();
    const [one, two] = [await signIn(email), await signIn(email)];
    expect([await readStatus(one), await readStatus(two)]).toEqual([200, 200]);
    expect((await one.auth('POST', '/revoke-sessions')).statusCode).toBe(200);
    expect([await readStatus(one), await readStatus(two)]).toEqual([401, 401]);
  });

  test('that was ended on one gateway ends on the others with the broadcast, and its streams with it', async () => {
    const browser = await signIn(await makeAccount());
    const other = await gateway.beside();
    try {
      const elsewhere = openBrowser(other.app);
      for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
      expect(await readStatus(elsewhere)).toBe(200);
      const stream = elsewhere.rest('GET', '/events', { accept: 'text/event-stream' });
      await waitFor(() => expect(other.app.events.size()).toBe(1));
      await browser.auth('POST', '/sign-out');
      expect(await readStatus(elsewhere)).toBe(401);
      const { body } = await stream;
      expect(body).toContain('UNAUTHORIZED');
    } finally {
      await other.app.close();
    }
  });
});

describe('a password', () => {
  test('that is changed ends all other sessions, and this one gets another id', async () => {
    const email = await makeAccount();
    const [one, two] = [await signIn(email), await signIn(email)];
    const before = sessionCookie(one);
    const wrong = await one.auth('POST', '/change-password', {
      currentPassword: 'wrong',
      newPassword: 'another password',
    });
    expect([wrong.statusCode, wrong.json().code]).toEqual([400, 'INVALID_PASSWORD']);
    const body = { currentPassword: PASSWORD, newPassword: 'another password' };
    expect((await one.auth('POST', '/change-password', body)).json()).toEqual({
      user: expect.objectContaining({ email }),
    });
    expect(sessionCookie(one)).not.toBe(before);
    expect([await readStatus(one), await readStatus(two)]).toEqual([200, 401]);
    const former = await openBrowser(gateway.app).auth('POST', '/sign-in/email', { email, password: PASSWORD });
    expect([former.statusCode, former.json()]).toMatchObject([401, { code: 'INVALID_EMAIL_OR_PASSWORD' }]);
  });

  test('has 10 to 128 characters', async () => {
    const browser = openBrowser(gateway.app);
    for (const [length, status] of [
      [9, 400],
      [129, 400],
      [10, 200],
      [128, 200],
    ] as const) {
      const body = { name: 'Ada', email: `long${length}@example.com`, password: 'pa'.repeat(length).slice(0, length) };
      const response = await browser.auth('POST', '/sign-up/email', body);
      expect([length, response.statusCode]).toEqual([length, status]);
    }
  });

  test('can be set once without the current one, by an account that has none', async () => {
    await createAccount(gateway.owner, { email: 'none@example.com', password: null, apiKey: null, mailbox: null });
    const browser = openBrowser(gateway.app);
    await browser.auth('POST', '/sign-in/link', { token: await makeSignInLink(gateway.owner, 'none@example.com') });
    expect((await browser.auth('GET', '/list-accounts')).json()).toEqual({ hasPassword: false });
    expect((await browser.auth('POST', '/set-password', { newPassword: PASSWORD })).statusCode).toBe(200);
    expect((await browser.auth('GET', '/list-accounts')).json()).toEqual({ hasPassword: true });
    const again = await browser.auth('POST', '/set-password', { newPassword: 'quite another' });
    expect([again.statusCode, again.json().code]).toEqual([400, 'PASSWORD_ALREADY_SET']);
    await signIn('none@example.com');
  });
});

describe('an account', () => {
  test('has one address, in any letter case; signing up with it again is refused', async () => {
    const email = await makeAccount();
    const body = { name: 'Eve', email: email.toUpperCase(), password: PASSWORD };
    const response = await openBrowser(gateway.app).auth('POST', '/sign-up/email', body);
    expect([response.statusCode, response.json()]).toMatchObject([
      422,
      { code: 'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL' },
    ]);
  });

  test('starts empty and can change its name', async () => {
    const browser = openBrowser(gateway.app);
    await browser.auth('POST', '/sign-up/email', { name: 'Ada', email: 'new@example.com', password: PASSWORD });
    const before = await browser.graphql('{ viewer { name } domains { totalCount } apiKeys { totalCount } }');
    expect(before.json().data).toEqual({
      viewer: { name: 'Ada' },
      domains: { totalCount: 0 },
      apiKeys: { totalCount: 0 },
    });
    await browser.auth('POST', '/update-user', { name: ' Ada L. ' });
    expect((await browser.graphql('{ viewer { name } }')).json().data).toEqual({ viewer: { name: 'Ada L.' } });
  });

  test('cannot be created where sign-up is off', async () => {
    const closed = await openTestGateway({ config: { isSignUpOpen: false } });
    try {
      const browser = openBrowser(closed.app);
      expect((await browser.auth('GET', '/settings')).json()).toEqual({
        signUp: false,
        passkeyHost: 'postroom.test',
        singleSignOn: 'by address',
      });
      const body = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
      const response = await browser.auth('POST', '/sign-up/email', body);
      expect([response.statusCode, response.json().code]).toEqual([400, 'EMAIL_PASSWORD_SIGN_UP_DISABLED']);
    } finally {
      await closed.close();
    }
  });
});

test('the role of better-auth reaches its own tables and the accounts, and no other role reaches those of better-auth', async () => {
  const { rows } = await gateway.owner.pool.query<{ role: string; table: string }>(`
    select r.role, c.relname as table from pg_class c
    cross join unnest(array['postroom_auth', 'postroom_gateway', 'postroom_actor']) as r(role)
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and has_table_privilege(r.role, c.oid, 'select')`);
  const listTables = (role: string) => rows.filter((row) => row.role === role).map(({ table }) => table);
  expect(listTables('postroom_auth').toSorted()).toEqual([
    'auth_credential',
    'auth_passkey',
    'auth_recovery_code',
    'auth_session',
    'auth_totp',
    'auth_verification',
    'person',
    'sign_in_provider',
  ]);
  for (const role of ['postroom_gateway', 'postroom_actor'])
    expect(listTables(role).filter((table) => table.startsWith('auth_'))).toEqual([]);
});

describe('an account that its user erases', () => {
  const makeErasure = (email: string) => `mutation { eraseAccount(input: {confirmEmail: "${email}"}) {
    __typename ... on Error { message code } ... on EraseAccountPayload { email } } }`;
  const erase = async (browser: BrowserSession, email: string) =>
    (await browser.graphql(makeErasure(email))).json().data.eraseAccount;

  test('is closed at once: sessions, keys, password, links and domains end, and unsent mail is counted before', async () => {
    const [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
    const email = `${box.workspaceId}@account.test`;
    const link = () => makeSignInLink(gateway.owner, email);
    const [browser, second] = [openBrowser(gateway.app), openBrowser(gateway.app)];
    for (const one of [browser, second])
      expect((await one.auth('POST', '/sign-in/link', { token: await link() })).statusCode).toBe(200);
    await browser.auth('POST', '/set-password', { newPassword: PASSWORD });
    await gateway.owner.pool.query(
      `insert into draft (workspace_id, id, kind, fields, size_bytes, created_at, updated_at) select $1, 'drf_' || n, 'new', '{}', 2, now(), now() from generate_series(1, 3) n`,
      [box.workspaceId],
    );
    const preview = (
      await browser.graphql('{ viewer { erasurePreview { emails drafts domains addresses apiKeys } } }')
    ).json();
    expect(preview.data.viewer.erasurePreview).toEqual({ emails: 0, drafts: 3, domains: 1, addresses: 1, apiKeys: 1 });

    // Another address changes nothing, and an API key erases nothing.
    expect(await erase(browser, `${other.workspaceId}@account.test`)).toMatchObject({ __typename: 'ValidationError' });
    const byKey = (await gateway.graphql(box.apiKey, makeErasure(email))).json().data.eraseAccount;
    expect(byKey).toMatchObject({ message: expect.stringMatching(/^API keys cannot erase an account/) });
    // Nor does a session that is older than five minutes.
    await gateway.owner.pool.query(
      `update auth_session set confirmed_at = now() - interval '6 minutes' where person_id = $1`,
      [box.workspaceId],
    );
    const old = openBrowser(gateway.app);
    old.cookies.set('postroom.session_token', sessionCookie(second));
    gateway.bus.publish('credential.changed', { ownerId: box.workspaceId });
    await waitFor(async () => expect((await erase(old, email)).code).toBe('SIGN_IN_AGAIN'));
    expect((await gateway.graphql(box.apiKey, VIEWER)).statusCode).toBe(200);

    await browser.auth('POST', '/sign-in/email', { email, password: PASSWORD });
    expect(await erase(browser, ` ${email.toUpperCase()} `)).toEqual({ __typename: 'EraseAccountPayload', email });
    expect([await readStatus(browser), await readStatus(second)]).toEqual([401, 401]);
    expect((await gateway.graphql(box.apiKey, VIEWER)).statusCode).toBe(401);
    const again = openBrowser(gateway.app);
    expect((await again.auth('POST', '/sign-in/email', { email, password: PASSWORD })).statusCode).toBe(401);
    expect(await link()).toBeNull();
    const { rows } = await gateway.owner.pool.query(
      `select (select count(*)::integer from domain where workspace_id = $1) as domains,
         (select erase_at > now() and erase_at < now() + interval '1 minute' from person where id = $1) as is_due`,
      [box.workspaceId],
    );
    expect(rows).toEqual([{ domains: 0, is_due: true }]);
    expect((await gateway.graphql(other.apiKey, VIEWER)).statusCode).toBe(200);
  });

  test.each([
    ['erasure.before-commit', { keys: 1, domains: 1, is_closed: false }],
    ['erasure.after-commit', { keys: 0, domains: 0, is_closed: true }],
  ])('continues to be erased after its gateway was killed at %s', async (point, left) => {
    const { workspaceId } = await gateway.mailbox();
    const context = {
      database: gateway.database,
      workspaceId,
      bus: gateway.bus,
      now: () => new Date(),
      forgetCredentials: () => {},
      caller: { via: 'session', signedInAt: new Date() },
      fault: (reached: string) => {
        if (reached === point) throw new Error('the process ends here');
      },
    } as unknown as OperationContext;
    await expect(eraseAccount(context, `${workspaceId}@account.test`)).rejects.toThrow('ends here');
    const { rows } = await gateway.owner.pool.query(
      `select (select count(*)::integer from api_key where workspace_id = $1 and revoked_at is null) as keys,
         (select count(*)::integer from domain where workspace_id = $1) as domains,
         (select erase_at is not null from person where id = $1) as is_closed`,
      [workspaceId],
    );
    expect(rows).toEqual([left]);
  });

  test('gets no session from a sign-in in progress', async () => {
    const email = await makeAccount();
    await gateway.owner.pool.query('update person set erase_at = now() where email = $1', [email]);
    const response = await openBrowser(gateway.app).auth('POST', '/sign-in/email', { email, password: PASSWORD });
    expect(response.statusCode).toBe(500);
  });
});

describe('an export', () => {
  const listed = (archive: Buffer, ...words: string[]) => {
    const { status, stdout, stderr } = spawnSync('tar', words, {
      input: archive,
      encoding: 'utf8',
      maxBuffer: 16_000_000,
    });
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  };

  test("has the data of the session's account only, without secrets, as an archive that tar reads", async () => {
    const [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
    const token = await makeSignInLink(gateway.owner, `${box.workspaceId}@account.test`);
    const browser = openBrowser(gateway.app);
    await browser.auth('POST', '/sign-in/link', { token });
    // Longer than one piece of a file.
    await gateway.owner.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at)
       select $1, 'sup_' || n, n || '@' || repeat('long.', 40) || 'test', 'manual', now() from generate_series(1, 4000) n`,
      [box.workspaceId],
    );
    const response = await browser.auth('GET', '/export');
    expect([response.statusCode, response.headers['content-type'], response.headers['cache-control']]).toEqual([
      200,
      'application/gzip',
      'no-store',
    ]);
    const names = listed(response.rawPayload, '-tzf', '-').trim().split('\n');
    expect(names).toContain('emails.jsonl');
    expect(names.filter((name) => name.startsWith('suppressions'))).toEqual([
      'suppressions.jsonl',
      'suppressions.2.jsonl',
    ]);
    expect(names.at(-1)).toBe('README.md');
    const text = listed(response.rawPayload, '-xzOf', '-');
    expect(text).toContain(box.address);
    expect(text).not.toContain(other.workspaceId);
    expect(text).not.toMatch(/PRIVATE KEY|_ciphertext|secret_sha256/);
  });

  test('needs a session of this origin; an API key does not suffice', async () => {
    const box = await gateway.mailbox();
    const stranger = openBrowser(gateway.app);
    const withKey = await stranger.auth('GET', '/export', undefined, { authorization: `Bearer ${box.apiKey}` });
    expect([withKey.statusCode, (await stranger.auth('GET', '/export')).statusCode]).toEqual([401, 401]);
    const browser = await signIn(await makeAccount());
    const foreign = await browser.auth('GET', '/export', undefined, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.statusCode).toBe(403);
    expect((await browser.auth('GET', '/export')).statusCode).toBe(200);
  });
});
