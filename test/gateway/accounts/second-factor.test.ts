import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FRESH_SIGN_IN_MINUTES } from '../../../core/accounts/sign-in.ts';
import { totpCode } from '../../../core/accounts/totp.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { createAuthenticator, USER_PRESENT, USER_VERIFIED } from '../../support/stages/software-authenticator.ts';
import { readTotpSecret } from '../../support/stages/totp-secret.ts';
import { waitFor } from '../../support/wait-for.ts';

const PASSWORD = 'correct horse battery';
const VIEWER = '{ viewer { id } }';
const CREATE_KEY = 'mutation { createApiKey(input: { name: "new" }) { __typename ... on Error { message code } } }';
let gateway: TestGateway;
let accounts = 0;
let shiftMs = 0;
const now = () => new Date(Date.now() + shiftMs);

beforeAll(async () => {
  gateway = await openTestGateway({ now });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shiftMs = 0;
  await gateway.owner.pool.query('delete from auth_rate_limit');
});

async function signedUp(): Promise<{ browser: BrowserSession; email: string }> {
  const email = `factor${accounts++}@example.com`;
  const browser = openBrowser(gateway.app);
  await browser.auth('POST', '/sign-up/email', { name: 'Ada', email, password: PASSWORD });
  return { browser, email };
}

/** An account with an authenticator app, whose codes begin a step later, because that step was used to turn it on. */
async function withFactor() {
  const { browser, email } = await signedUp();
  const { secret: spelled } = (await browser.auth('POST', '/second-factor/set-up', {})).json();
  const secret = readTotpSecret(spelled);
  const on = await browser.auth('POST', '/second-factor/turn-on', { code: await totpCode(secret, now()) });
  expect(on.statusCode).toBe(200);
  const { recoveryCodes } = on.json() as { recoveryCodes: string[] };
  shiftMs += 30_000;
  return { browser, email, secret, recoveryCodes };
}

async function signIn(email: string, browser = openBrowser(gateway.app)) {
  const response = await browser.auth('POST', '/sign-in/email', { email, password: PASSWORD });
  return { browser, response };
}

describe('an authenticator app', () => {
  test('is needed at the sign-in, and until then the session opens nothing', async () => {
    const { email, secret } = await withFactor();
    const { browser, response } = await signIn(email);
    expect([response.statusCode, response.json()]).toEqual([200, { secondFactor: 'totp' }]);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(401);
    expect((await browser.rest('GET', '/emails')).statusCode).toBe(401);
    expect((await browser.auth('GET', '/get-session')).json()).toBeNull();
    for (const [method, path, body] of [
      ['GET', '/list-sessions', undefined],
      ['GET', '/workspaces', undefined],
      ['GET', '/export', undefined],
      ['GET', '/second-factor', undefined],
      ['POST', '/second-factor/remove', {}],
      ['POST', '/second-factor/set-up', {}],
      ['POST', '/change-password', { currentPassword: PASSWORD, newPassword: 'another good password' }],
      ['POST', '/confirm-sign-in', { password: PASSWORD }],
      ['GET', '/passkey/generate-register-options', undefined],
      ['POST', '/revoke-sessions', {}],
    ] as const)
      expect([path, (await browser.auth(method, path, body)).statusCode]).toEqual([path, 401]);
    const verified = await browser.auth('POST', '/second-factor/verify', { code: await totpCode(secret, now()) });
    expect([verified.statusCode, verified.json()]).toMatchObject([200, { user: { email } }]);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(200);
  });

  test('is needed after a sign-in link, too', async () => {
    const { email } = await withFactor();
    const browser = openBrowser(gateway.app);
    const token = await makeSignInLink(gateway.owner, email);
    expect((await browser.auth('POST', '/sign-in/link', { token })).json()).toEqual({ secondFactor: 'totp' });
    expect((await browser.graphql(VIEWER)).statusCode).toBe(401);
  });

  test('accepts a code once, also from several browsers at once, and no earlier code', async () => {
    const { email, secret } = await withFactor();
    const code = await totpCode(secret, now());
    const { browser } = await signIn(email);
    expect((await browser.auth('POST', '/second-factor/verify', { code })).statusCode).toBe(200);
    const { browser: second } = await signIn(email);
    const replayed = await second.auth('POST', '/second-factor/verify', { code });
    expect([replayed.statusCode, replayed.json()]).toMatchObject([400, { code: 'WRONG_CODE' }]);
    const earlier = await second.auth('POST', '/second-factor/verify', {
      code: await totpCode(secret, new Date(now().getTime() - 30_000)),
    });
    expect(earlier.statusCode).toBe(400);
    shiftMs += 30_000;
    await gateway.owner.pool.query('delete from auth_rate_limit');
    const next = await totpCode(secret, now());
    const browsers = [];
    for (let n = 0; n < 5; n++) browsers.push((await signIn(email)).browser);
    const responses = await Promise.all(
      browsers.flatMap((one) => [1, 2].map(() => one.auth('POST', '/second-factor/verify', { code: next }))),
    );
    expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
  });

  test('cannot be guessed: ten wrong codes of any clients use up the tries of the person', async () => {
    const { email, secret } = await withFactor();
    const { browser } = await signIn(email);
    const statuses = [];
    for (let n = 0; n < 11; n++)
      statuses.push((await browser.auth('POST', '/second-factor/verify', { code: '000000' })).statusCode);
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
    const code = await totpCode(secret, now());
    expect((await browser.auth('POST', '/second-factor/verify', { code })).statusCode).toBe(429);
  });

  test('is set up with its own code, and ends all other sessions', async () => {
    const { browser, email } = await signedUp();
    const { browser: other } = await signIn(email);
    await browser.auth('POST', '/second-factor/set-up', {});
    const wrong = await browser.auth('POST', '/second-factor/turn-on', { code: '123456' });
    expect([wrong.statusCode, wrong.json().code]).toEqual([400, 'WRONG_CODE']);
    expect((await signIn(email)).response.json()).toMatchObject({ user: { email } });
    const { secret } = (await browser.auth('POST', '/second-factor/set-up', {})).json();
    const on = await browser.auth('POST', '/second-factor/turn-on', {
      code: await totpCode(readTotpSecret(secret), now()),
    });
    expect(on.json().recoveryCodes).toHaveLength(10);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(200);
    expect((await other.graphql(VIEWER)).statusCode).toBe(401);
    const again = await browser.auth('POST', '/second-factor/set-up', {});
    expect([again.statusCode, again.json().code]).toEqual([409, 'SECOND_FACTOR_ON']);
  });

  test('stays after a change of the password, whose new session needs no code', async () => {
    const { browser, email } = await withFactor();
    const changed = await browser.auth('POST', '/change-password', {
      currentPassword: PASSWORD,
      newPassword: 'another good password',
    });
    expect(changed.statusCode).toBe(200);
    expect((await browser.graphql(VIEWER)).statusCode).toBe(200);
    const again = openBrowser(gateway.app);
    const response = await again.auth('POST', '/sign-in/email', { email, password: 'another good password' });
    expect(response.json()).toEqual({ secondFactor: 'totp' });
  });
});

describe('a recovery code', () => {
  test('signs in once, is stored as a hash, and new codes replace the old ones', async () => {
    const { browser: owner, email, recoveryCodes } = await withFactor();
    for (const code of recoveryCodes) expect(code).toMatch(/^(?:[a-z2-7]{4}-){5}[a-z2-7]{4}$/);
    const [first = '', second = '', third = ''] = recoveryCodes;
    const { rows } = await gateway.owner.pool.query<{ text: string }>(
      'select r::text as text from auth_recovery_code r',
    );
    for (const { text } of rows) expect(text).not.toContain(first.replaceAll('-', ''));
    const { browser } = await signIn(email);
    const used = await browser.auth('POST', '/second-factor/verify', { recoveryCode: first.toUpperCase() });
    expect(used.statusCode).toBe(200);
    const { browser: again } = await signIn(email);
    expect((await again.auth('POST', '/second-factor/verify', { recoveryCode: first })).statusCode).toBe(400);
    const racers = [];
    for (let n = 0; n < 4; n++) racers.push((await signIn(email)).browser);
    const responses = await Promise.all(
      racers.map((one) => one.auth('POST', '/second-factor/verify', { recoveryCode: second })),
    );
    expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    expect((await owner.auth('GET', '/second-factor')).json()).toMatchObject({ isOn: true, recoveryCodesLeft: 8 });
    expect((await owner.auth('POST', '/second-factor/recovery-codes', {})).json().recoveryCodes).toHaveLength(10);
    expect((await again.auth('POST', '/second-factor/verify', { recoveryCode: third })).statusCode).toBe(400);
  });
});

describe('a workspace that requires a second factor', () => {
  test('closes the sessions of members without one, except for the page that sets it up', async () => {
    const { browser: owner } = await withFactor();
    const { browser: member, email } = await signedUp();
    const { id: memberId } = (await member.auth('GET', '/get-session')).json().user;
    const { active } = (await owner.auth('GET', '/workspaces')).json();
    await gateway.owner.pool.query(
      `insert into workspace_member (workspace_id, person_id, role) values ($1, $2, 'agent')`,
      [active.id, memberId],
    );
    expect((await member.auth('POST', '/switch-workspace', { workspaceId: active.id })).statusCode).toBe(200);
    expect((await member.graphql(VIEWER)).statusCode).toBe(200);
    expect((await owner.auth('POST', '/second-factor/require', { isRequired: true })).statusCode).toBe(200);
    const refused = await member.graphql(VIEWER);
    expect([refused.statusCode, refused.body]).toEqual([403, expect.stringContaining('SECOND_FACTOR_REQUIRED')]);
    expect((await member.rest('GET', '/emails')).json()).toMatchObject({ code: 'SECOND_FACTOR_REQUIRED' });
    expect((await member.auth('GET', '/export')).json()).toMatchObject({ code: 'SECOND_FACTOR_REQUIRED' });
    expect((await member.auth('GET', '/second-factor')).json()).toMatchObject({ isRequired: true, isMissing: true });
    const { secret } = (await member.auth('POST', '/second-factor/set-up', {})).json();
    const code = await totpCode(readTotpSecret(secret), now());
    expect((await member.auth('POST', '/second-factor/turn-on', { code })).statusCode).toBe(200);
    expect((await member.graphql(VIEWER)).statusCode).toBe(200);
    expect((await member.auth('POST', '/second-factor/remove', {})).statusCode).toBe(200);
    expect((await member.graphql(VIEWER)).statusCode).toBe(403);
    expect((await (await signIn(email)).browser.graphql(VIEWER)).statusCode).toBe(403);
  });

  test('cannot be made by an owner who has none, or by a member without the right', async () => {
    const { browser } = await signedUp();
    const refused = await browser.auth('POST', '/second-factor/require', { isRequired: true });
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'NO_SECOND_FACTOR']);
  });
});

describe('what gives access', () => {
  test('changes only within five minutes of the sign-in, or of confirming the password', async () => {
    const { browser } = await signedUp();
    expect((await browser.graphql(CREATE_KEY)).body).not.toContain('SIGN_IN_AGAIN');
    shiftMs += FRESH_SIGN_IN_MINUTES * 60_000 + 1_000;
    expect((await browser.graphql(CREATE_KEY)).body).toContain('SIGN_IN_AGAIN');
    const rest = await browser.rest('POST', '/api-keys', {}, { name: 'new' });
    expect([rest.statusCode, rest.json().code]).toEqual([403, 'SIGN_IN_AGAIN']);
    for (const [method, path, body] of [
      ['GET', '/export', undefined],
      ['POST', '/second-factor/set-up', {}],
      ['POST', '/second-factor/turn-on', { code: '123456' }],
      ['POST', '/second-factor/remove', {}],
      ['POST', '/second-factor/recovery-codes', {}],
      ['POST', '/second-factor/require', { isRequired: false }],
      ['GET', '/passkey/generate-register-options', undefined],
      ['POST', '/passkey/delete-passkey', { id: 'psk_1' }],
      ['POST', '/set-password', { newPassword: 'another good password' }],
      ['POST', '/single-sign-on', { issuer: 'https://login.example.com', clientId: 'x', clientSecret: 'x' }],
      ['POST', '/single-sign-on/test', { issuer: 'https://login.example.com', clientId: 'x', clientSecret: 'x' }],
      ['POST', '/single-sign-on/remove', {}],
    ] as const) {
      const response = await browser.auth(method, path, body);
      expect([path, response.statusCode, response.json().code]).toEqual([path, 403, 'SIGN_IN_AGAIN']);
    }
    const { id: own } = (await browser.auth('GET', '/get-session')).json().user;
    for (const [method, path, body] of [
      ['POST', '/invitations', { email: 'ann@example.com', role: 'agent' }],
      ['PATCH', '/members/usr_1', { role: 'agent' }],
      ['DELETE', '/members/usr_1', undefined],
      ['POST', `/members/${own}/transfer`, {}],
      ['POST', '/workspaces/usr_1/api-keys', { name: 'new', scopes: ['read'] }],
      ['POST', '/scim/token', { name: 'Directory' }],
      ['DELETE', '/scim/token/sct_1', undefined],
    ] as const) {
      const response = await browser.rest(method, path, {}, body);
      expect([path, response.statusCode, response.json().code]).toEqual([path, 403, 'SIGN_IN_AGAIN']);
    }
    const wrong = await browser.auth('POST', '/confirm-sign-in', { password: 'not the password' });
    expect([wrong.statusCode, wrong.json().code]).toEqual([400, 'INVALID_PASSWORD']);
    expect((await browser.graphql(CREATE_KEY)).body).toContain('SIGN_IN_AGAIN');
    expect((await browser.auth('POST', '/confirm-sign-in', { password: PASSWORD })).statusCode).toBe(200);
    expect((await browser.graphql(CREATE_KEY)).body).not.toContain('SIGN_IN_AGAIN');
  });

  test('causes a mail to the person about a passkey, the second factor and a recovery code', async () => {
    const { browser, email, recoveryCodes } = await withFactor();
    const authenticator = createAuthenticator();
    await authenticator.register(browser, USER_PRESENT | USER_VERIFIED);
    const [{ id } = { id: '' }] = (await browser.auth('GET', '/passkey/list-user-passkeys')).json();
    const { browser: pending } = await signIn(email);
    await pending.auth('POST', '/second-factor/verify', { recoveryCode: recoveryCodes[0] });
    await browser.auth('POST', '/passkey/delete-passkey', { id });
    await browser.auth('POST', '/second-factor/remove', {});
    const subjects = async () =>
      (await readServiceMail(gateway.actor, email)).map((text) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim());
    await waitFor(async () =>
      expect(await subjects()).toEqual(
        expect.arrayContaining([
          'Two-step sign-in is on for Postroom',
          'A passkey was added to Postroom',
          'A recovery code was used for Postroom',
          'A passkey was removed from Postroom',
          'Two-step sign-in is off for Postroom',
        ]),
      ),
    );
  });

  test('causes a mail to the person about a key, and a sign-in in a new browser', async () => {
    const { browser, email } = await signedUp();
    await browser.graphql(CREATE_KEY);
    await browser.auth('POST', '/second-factor/set-up', {});
    const subjects = async () =>
      (await readServiceMail(gateway.actor, email)).map((text) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim());
    await waitFor(async () => expect(await subjects()).toContain('An API key was created in Postroom'));
    await gateway.owner.pool.query(`update person set created_at = created_at - interval '1 hour' where email = $1`, [
      email,
    ]);
    await signIn(email, browser);
    const { browser: known } = await signIn(email);
    await waitFor(async () => expect(await subjects()).toContain('New sign-in to Postroom'));
    await signIn(email, known);
    // Mails are stored in the order of the changes: after this one, the sign-in in the known browser would have had its own.
    await known.graphql(CREATE_KEY);
    await waitFor(async () => expect((await subjects()).at(-1)).toBe('An API key was created in Postroom'));
    expect((await subjects()).filter((subject) => subject === 'New sign-in to Postroom')).toHaveLength(1);
  });
});

describe('a new password', () => {
  test.each(['short one', '1234567890', 'Password123', 'QWERTYUIOP'])('is refused if it is %s', async (password) => {
    const browser = openBrowser(gateway.app);
    const email = `common${accounts++}@example.com`;
    const response = await browser.auth('POST', '/sign-up/email', { name: 'Ada', email, password });
    expect(response.statusCode).toBe(400);
    expect(response.body).not.toContain(password);
  });
});
