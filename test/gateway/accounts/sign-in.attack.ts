import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../../core/accounts/totp.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { ISSUER, type OauthStage, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openScimStage } from '../../support/stages/scim-stage.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { createAuthenticator, USER_PRESENT, USER_VERIFIED } from '../../support/stages/software-authenticator.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';
import { readTotpSecret } from '../../support/stages/totp-secret.ts';
import { waitFor } from '../../support/wait-for.ts';

const PASSWORD = 'correct horse battery';
const COOKIE = 'postroom.session_token';
const VIEWER = '{ viewer { id } }';
let gateway: TestGateway;
let team: TeamStage;
let oauth: OauthStage;
let accounts = 0;
let shiftMs = 0;
const now = () => new Date(Date.now() + shiftMs);

beforeAll(async () => {
  gateway = await openTestGateway({ now, config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'attacked');
  oauth = openOauthStage(gateway);
});
afterAll(() => gateway.close());
beforeEach(() => forgetTries());

const forgetTries = () => gateway.owner.pool.query('delete from auth_rate_limit');
const countOk = (responses: readonly { statusCode: number }[]) =>
  responses.filter(({ statusCode }) => statusCode === 200).length;
const fifty = <T>(send: (at: number) => Promise<T>) => Promise.all(Array.from({ length: 50 }, (_, at) => send(at)));

async function signUp(email = `attacked${accounts++}@example.com`, name = 'Ada') {
  const browser = openBrowser(gateway.app);
  const response = await browser.auth('POST', '/sign-up/email', { name, email, password: PASSWORD });
  if (response.statusCode !== 200) throw new Error(response.body);
  return { browser, email, personId: (response.json() as { user: { id: string } }).user.id };
}

async function signIn(email: string, password = PASSWORD) {
  const browser = openBrowser(gateway.app);
  return { browser, response: await browser.auth('POST', '/sign-in/email', { email, password }) };
}

/** Sets up an authenticator app, whose codes begin a step later. */
async function addFactor(browser: BrowserSession) {
  const { secret: spelled } = (await browser.auth('POST', '/second-factor/set-up', {})).json();
  const secret = readTotpSecret(spelled);
  const on = await browser.auth('POST', '/second-factor/turn-on', { code: await totpCode(secret, now()) });
  if (on.statusCode !== 200) throw new Error(on.body);
  shiftMs += 30_000;
  return { secret, recoveryCodes: (on.json() as { recoveryCodes: string[] }).recoveryCodes };
}

/** Returns the token of a new link, after `known` earlier ones. */
async function requestReset(email: string, known = 0): Promise<string> {
  const find = async () => [
    ...(await readServiceMail(gateway.owner, email)).join('\n').matchAll(/\/reset-password#token=([A-Za-z0-9]+)/g),
  ];
  await openBrowser(gateway.app).auth('POST', '/request-password-reset', { email });
  await waitFor(async () => expect(await find()).toHaveLength(known + 1));
  return (await find()).at(-1)?.[1] ?? '';
}

describe('a session that waits for the second factor', () => {
  test('opens nothing, also when its cookie is in quotes, or beside the cookie of another person', async () => {
    const victim = await signUp(undefined, 'Victim');
    await addFactor(victim.browser);
    await createAuthenticator().register(victim.browser, USER_PRESENT | USER_VERIFIED);
    const attacker = await signUp(undefined, 'Attacker');
    const { browser, response } = await signIn(victim.email);
    expect(response.json()).toEqual({ secondFactor: 'totp' });
    const [pending, own] = [browser.cookies.get(COOKIE) ?? '', attacker.browser.cookies.get(COOKIE) ?? ''];
    const variants = [
      `${COOKIE}="${pending}"`,
      `${COOKIE}="${pending}`,
      `${COOKIE}= "${pending}" `,
      `${COOKIE}=${own}; ${COOKIE}=${pending}`,
      `${COOKIE}=${pending}; ${COOKIE}=${own}`,
      `${COOKIE}="${pending}"; ${COOKIE}=${own}`,
      `${COOKIE}=; ${COOKIE}=${pending}`,
      `x; ${COOKIE}="${pending}"`,
    ];
    for (const cookie of variants) {
      for (const [method, path, body] of [
        ['GET', '/get-session', undefined],
        ['GET', '/list-accounts', undefined],
        ['GET', '/list-sessions', undefined],
        ['GET', '/passkey/list-user-passkeys', undefined],
        ['POST', '/update-user', { name: 'Renamed' }],
        ['POST', '/set-password', { newPassword: 'a password of the attacker' }],
        ['POST', '/second-factor/remove', {}],
        ['POST', '/revoke-other-sessions', {}],
      ] as const) {
        const { body: shown } = await browser.auth(method, path, body, { cookie });
        expect([cookie, path, shown.includes(victim.email), shown.includes('Victim')]).toEqual([
          cookie,
          path,
          false,
          false,
        ]);
      }
    }
    const { rows } = await gateway.owner.pool.query(
      `select u.name, (select count(*)::integer from auth_totp t where t.person_id = u.id) as factors,
         (select count(*)::integer from auth_session s where s.person_id = u.id) as sessions
       from person u where u.id = $1`,
      [victim.personId],
    );
    expect(rows).toEqual([{ name: 'Victim', factors: 1, sessions: 2 }]);
    // A page that signs in by a passkey is not told which ones the person has.
    for (const cookie of [`${COOKIE}=${pending}`, ...variants]) {
      const options = await browser.auth('GET', '/passkey/generate-authenticate-options', undefined, { cookie });
      expect([cookie, options.json().allowCredentials ?? []]).toEqual([cookie, []]);
    }
    // Nothing is listed of the person, whatever the quotes are.
    const quoted = await browser.auth('GET', '/list-accounts', undefined, { cookie: `${COOKIE}="${pending}"` });
    expect(quoted.statusCode).toBe(401);
  });

  test('is opened by one of 50 requests with the same recovery code, and by no code of another person', async () => {
    const { browser: victim, email } = await signUp();
    const { recoveryCodes } = await addFactor(victim);
    const { browser: other } = await signUp();
    const { recoveryCodes: foreign } = await addFactor(other);
    const { browser } = await signIn(email);
    const refused = await browser.auth('POST', '/second-factor/verify', { recoveryCode: foreign[0] });
    expect(refused.json().code).toBe('WRONG_CODE');
    const used = await fifty(() => browser.auth('POST', '/second-factor/verify', { recoveryCode: recoveryCodes[0] }));
    expect(countOk(used)).toBe(1);
    expect((await victim.auth('GET', '/second-factor')).json()).toMatchObject({ recoveryCodesLeft: 9 });
    // A recovery code is no proof for what gives access.
    const confirmed = await browser.auth('POST', '/confirm-sign-in', { recoveryCode: recoveryCodes[1] });
    expect(confirmed.statusCode).toBe(400);
  });
});

describe('a passkey', () => {
  test('signs in only with a check of its user, on its own page, and with each challenge once', async () => {
    const { browser, email } = await signUp();
    const authenticator = createAuthenticator();
    expect((await authenticator.register(browser, USER_PRESENT | USER_VERIFIED)).statusCode).toBe(200);
    const refusals = [
      ['no check of its user', USER_PRESENT, {}],
      ['no user at all', 0, {}],
      ['another page', USER_PRESENT | USER_VERIFIED, { origin: 'https://evil.test' }],
      ['another site', USER_PRESENT | USER_VERIFIED, { host: 'evil.test' }],
    ] as const;
    for (const [what, flags, forged] of refusals) {
      const refused = await authenticator.signIn(openBrowser(gateway.app), flags, forged);
      expect([what, refused.statusCode]).toEqual([what, 400]);
    }
    const unchecked = await authenticator.signIn(openBrowser(gateway.app), USER_PRESENT);
    expect(unchecked.json().code).toBe('USER_NOT_VERIFIED');

    const fresh = openBrowser(gateway.app);
    const body = await authenticator.assert(fresh, USER_PRESENT | USER_VERIFIED);
    const stolen = new Map(fresh.cookies);
    const signedIn = await fresh.auth('POST', '/passkey/verify-authentication', body);
    expect([signedIn.statusCode, signedIn.json().user?.email]).toEqual([200, email]);
    const replayed = openBrowser(gateway.app);
    for (const [name, value] of stolen) replayed.cookies.set(name, value);
    expect((await replayed.auth('POST', '/passkey/verify-authentication', body)).statusCode).toBe(400);
    expect((await replayed.graphql(VIEWER)).statusCode).toBe(401);

    // A challenge for a new passkey is none for a sign-in, and that of another browser neither.
    const { challenge } = (await browser.auth('GET', '/passkey/generate-register-options')).json();
    const crossed = await authenticator.signIn(browser, USER_PRESENT | USER_VERIFIED, { challenge });
    expect(crossed.statusCode).toBe(400);
    const elsewhere = await authenticator.assert(openBrowser(gateway.app), USER_PRESENT | USER_VERIFIED);
    const mixed = openBrowser(gateway.app);
    await mixed.auth('GET', '/passkey/generate-authenticate-options');
    expect((await mixed.auth('POST', '/passkey/verify-authentication', elsewhere)).statusCode).toBe(400);
  });

  test('is used by one of 50 sign-ins with the same response', async () => {
    const { browser } = await signUp();
    const authenticator = createAuthenticator();
    await authenticator.register(browser, USER_PRESENT | USER_VERIFIED);
    const fresh = openBrowser(gateway.app);
    const body = await authenticator.assert(fresh, USER_PRESENT | USER_VERIFIED);
    await forgetTries();
    expect(countOk(await fifty(() => fresh.auth('POST', '/passkey/verify-authentication', body)))).toBe(1);
  });
});

describe('a planted cookie', () => {
  test('is replaced by each way to sign in, so that its owner gets no session of the person', async () => {
    const attacker = await signUp();
    const planted = attacker.browser.cookies.get(COOKIE) ?? '';
    const plant = () => {
      const browser = openBrowser(gateway.app);
      browser.cookies.set(COOKIE, planted);
      return browser;
    };
    const invited = `planted${accounts++}@example.com`;
    await team.invite({ email: invited, role: 'viewer' });
    const token = await team.readToken(invited);
    const bySignUp = plant();
    const body = { token, name: 'Ann', newPassword: PASSWORD };
    expect((await bySignUp.auth('POST', '/sign-up/invitation', body)).statusCode).toBe(200);

    const person = await signUp();
    const authenticator = createAuthenticator();
    await authenticator.register(person.browser, USER_PRESENT | USER_VERIFIED);
    const byPasskey = plant();
    expect((await authenticator.signIn(byPasskey, USER_PRESENT | USER_VERIFIED)).statusCode).toBe(200);

    for (const browser of [bySignUp, byPasskey]) expect(browser.cookies.get(COOKIE)).not.toBe(planted);
    const seen = (await attacker.browser.auth('GET', '/get-session')).json();
    expect(seen.user.email).toBe(attacker.email);
    expect((await attacker.browser.auth('GET', '/workspaces')).json().workspaces).toHaveLength(1);
  });
});

describe('a password', () => {
  test('that is replaced by a mailed link opens no session of a sign-in that was in progress', async () => {
    const { email, personId } = await signUp();
    for (let round = 0; round < 5; round++) {
      await forgetTries();
      const before = round === 0 ? PASSWORD : `the password of round ${round - 1}`;
      const link = await requestReset(email, round);
      const password = `the password of round ${round}`;
      const [reset] = await Promise.all([
        openBrowser(gateway.app).auth('POST', '/reset-password', { token: link, newPassword: password }),
        ...Array.from({ length: 8 }, () => signIn(email, before)),
      ]);
      expect(reset.statusCode, reset.body).toBe(200);
      const { rows } = await gateway.owner.pool.query('select id from auth_session where person_id = $1', [personId]);
      expect([round, rows]).toEqual([round, []]);
    }
  });

  test('that is set by a mailed link ends passkeys of a person who signed up with the address before', async () => {
    const { browser: attacker, email, personId } = await signUp(`claimed${accounts++}@example.com`, 'Attacker');
    const authenticator = createAuthenticator();
    await authenticator.register(attacker, USER_PRESENT | USER_VERIFIED);
    const password = 'a password of the person';
    const token = await requestReset(email);
    const reset = await openBrowser(gateway.app).auth('POST', '/reset-password', { token, newPassword: password });
    expect(reset.statusCode, reset.body).toBe(200);
    await team.invite({ email, role: 'agent' });
    const { browser: person } = await signIn(email, password);
    expect((await team.accept(person, await team.readToken(email))).statusCode).toBe(200);
    expect((await attacker.graphql(VIEWER)).statusCode).toBe(401);
    const late = openBrowser(gateway.app);
    expect((await authenticator.signIn(late, USER_PRESENT | USER_VERIFIED)).statusCode).toBe(401);
    expect((await late.graphql(VIEWER)).statusCode).toBe(401);

    // The address is proved from then on: passkeys that the person adds stay.
    const own = createAuthenticator();
    await own.register(person, USER_PRESENT | USER_VERIFIED);
    await forgetTries();
    const again = await requestReset(email, 1);
    const next = { token: again, newPassword: 'another password of the person' };
    expect((await openBrowser(gateway.app).auth('POST', '/reset-password', next)).statusCode).toBe(200);
    expect((await own.signIn(openBrowser(gateway.app), USER_PRESENT | USER_VERIFIED)).statusCode).toBe(200);
    const { rows } = await gateway.owner.pool.query('select email_verified from person where id = $1', [personId]);
    expect(rows).toEqual([{ email_verified: true }]);
  });
});

test('a passkey that is being added while a mailed link sets a new password opens nothing afterwards', async () => {
  const { browser: attacker, email, personId } = await signUp(`raced${accounts++}@example.com`, 'Attacker');
  const token = await requestReset(email);
  const authenticator = createAuthenticator();
  const { pool } = gateway.owner;
  const awaitBlocked = (count: number) =>
    waitFor(async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(count);
    });
  // Both the passkey and the end of the reset wait for the row of the person.
  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query('select from person where id = $1 for update', [personId]);
  const adding = authenticator.register(attacker, USER_PRESENT | USER_VERIFIED);
  await awaitBlocked(1);
  const input = { token, newPassword: 'a password of the person' };
  const resetting = openBrowser(gateway.app).auth('POST', '/reset-password', input);
  await awaitBlocked(2);
  await holder.query('commit');
  holder.release();
  expect((await resetting).statusCode).toBe(200);
  await adding;
  expect((await pool.query('select id from auth_passkey where person_id = $1', [personId])).rows).toEqual([]);
  expect((await authenticator.signIn(openBrowser(gateway.app), USER_PRESENT | USER_VERIFIED)).statusCode).toBe(401);
});

describe('a refresh token', () => {
  const whole = { resource: ISSUER };

  test('that 50 requests use at once gives at most one pair of tokens, and ends the grant with it', async () => {
    const { access_token: first, refresh_token: token, clientId } = await oauth.connect(team.owner.browser, {}, whole);
    expect((await gateway.call(first, 'GET', '/emails')).statusCode).toBe(200);
    const responses = await fifty(() => oauth.refresh(clientId, token));
    const granted = responses.filter(({ statusCode }) => statusCode === 200).map((response) => response.json());
    expect(granted.length).toBeLessThanOrEqual(1);
    for (const access of [first, ...granted.map((tokens) => tokens.access_token)])
      expect((await gateway.call(access, 'GET', '/emails')).statusCode).toBe(401);
    for (const { refresh_token: next } of granted)
      expect((await oauth.refresh(clientId, next)).json().error).toBe('invalid_grant');
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
  const decide = (browser: BrowserSession, userCode: string, workspaceId: string, level: string | null) =>
    browser.auth('POST', '/oauth/decision', { asked: { userCode }, workspaceId, level, addresses: null });

  test('is decided once, by one of 50 decisions at once, and gives one grant to 50 polls', async () => {
    const { device_code: device, user_code: userCode } = await start();
    const { workspaceId } = team.box;
    const decisions = await fifty((at) => decide(team.owner.browser, userCode, workspaceId, at === 0 ? 'read' : null));
    expect(countOk(decisions)).toBeLessThanOrEqual(1);
    const { device_code: other, user_code: otherCode } = await start();
    await forgetTries();
    expect((await decide(team.owner.browser, otherCode, workspaceId, 'read')).statusCode).toBe(200);
    await gateway.owner.pool.query('update oauth_code set polled_at = null');
    expect(countOk(await fifty(() => poll(other)))).toBe(1);
    expect(device).not.toBe(other);
  });

  test('is not allowed by a session that waits for its second factor, or that began long ago', async () => {
    const { browser, email, personId } = await signUp();
    const { user_code: userCode } = await start();
    await addFactor(browser);
    const { browser: pending } = await signIn(email);
    expect((await decide(pending, userCode, personId, 'everything')).statusCode).toBe(401);
    shiftMs += 6 * 60_000;
    const late = await decide(browser, userCode, personId, 'everything');
    expect(late.json().code).toBe('SIGN_IN_AGAIN');
    shiftMs -= 6 * 60_000;
  });

  test('says where the terminal is, and cannot be chosen by who sends the link', async () => {
    const asked = await oauth.post('/oauth/device_authorization', {
      client_id: 'postroom-cli',
      user_code: 'BBBB-CCCC',
      client_name: 'Your bank',
    });
    const { user_code: userCode } = asked.json();
    expect(userCode).not.toBe('BBBB-CCCC');
    const shown = (await team.owner.browser.auth('POST', '/oauth/request', { userCode })).json().question;
    expect([shown.client.name, shown.host]).toEqual(['Postroom command line', 'a terminal at 127.0.0.1']);
  });
});

describe('a credential of one interface', () => {
  test('opens no other one, and nothing of another workspace', async () => {
    const other = await openTeam(gateway, 'scim-other');
    const [own, foreign] = [
      await openScimStage(gateway, team.box.workspaceId),
      await openScimStage(gateway, other.box.workspaceId),
    ];
    const { access_token: access } = await oauth.connect(team.owner.browser);
    for (const token of [own.token, foreign.token]) {
      expect((await gateway.call(token, 'GET', '/emails')).statusCode).toBe(401);
      expect((await gateway.graphql(token, VIEWER)).statusCode).toBe(401);
    }
    for (const bearer of [team.box.apiKey, access, `${own.token}x`, own.token.slice(0, -1)]) {
      const users = await own.call('GET', '/Users', undefined, { authorization: `Bearer ${bearer}` });
      expect(users.statusCode).toBe(401);
    }
    const person = await team.makePerson();
    const made = await foreign.call('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: person.email,
      emails: [{ value: person.email, primary: true }],
    });
    expect(made.statusCode, made.body).toBeGreaterThanOrEqual(400);
  });
});

describe('an invitation', () => {
  test('makes one person and one member of 20 new sign-ins at the same moment', async () => {
    const email = `twice${accounts++}@example.com`;
    await team.invite({ email, role: 'viewer' });
    const token = await team.readToken(email);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        openBrowser(gateway.app).auth('POST', '/sign-up/invitation', {
          token,
          name: `Ann ${at}`,
          newPassword: `the password of request ${at}`,
        }),
      ),
    );
    expect(countOk(responses)).toBe(1);
    for (const { statusCode } of responses) expect([200, 409]).toContain(statusCode);
    const { rows } = await gateway.owner.pool.query(
      `select (select count(*)::integer from auth_credential c where c.person_id = u.id) as passwords,
         (select count(*)::integer from workspace_member m where m.person_id = u.id and m.workspace_id = $2) as members
       from person u where u.email = $1`,
      [email, team.box.workspaceId],
    );
    expect(rows).toEqual([{ passwords: 1, members: 1 }]);
  });

  test('opens its workspace to no session that the provider of another workspace began', async () => {
    const person = await team.makePerson();
    const other = await openTeam(gateway, 'provider-other');
    await other.invite({ email: person.email, role: 'agent' });
    const token = await other.readToken(person.email);
    await gateway.owner.pool.query(`update auth_session set provider_id = $1, workspace_id = $1 where person_id = $2`, [
      person.personId,
      person.personId,
    ]);
    gateway.bus.publish('credential.changed', { ownerId: person.personId });
    const accepted = await person.browser.auth('POST', '/accept-invitation', { token });
    expect(accepted.statusCode, accepted.body).toBe(200);
    expect((await person.browser.graphql(VIEWER)).json().data.viewer.id).toBe(person.personId);
    const moved = await person.browser.auth('POST', '/switch-workspace', { workspaceId: other.box.workspaceId });
    expect(moved.json().code).toBe('OTHER_SIGN_IN_REQUIRED');
    expect((await person.browser.auth('GET', '/workspaces')).json().workspaces).toHaveLength(1);
  });
});

describe('a workspace', () => {
  test('has one owner after 60 transfers, removals, changes and departures at once', async () => {
    const other = await openTeam(gateway, 'owners');
    const { workspaceId } = other.box;
    const members = [await other.makeMember('admin'), await other.makeMember('admin'), await other.makeMember('agent')];
    const persons = [other.owner, ...members];
    const responses = await Promise.all(
      Array.from({ length: 15 }, (_, at) => at).flatMap((at) => {
        const from = persons[at % persons.length] ?? other.owner;
        const to = persons[(at + 1) % persons.length] ?? other.owner;
        const { rest } = from.browser;
        return [
          rest('POST', `/members/${to.personId}/transfer`, {}, {}),
          rest('PATCH', `/members/${to.personId}`, {}, { role: 'viewer' }),
          rest('DELETE', `/members/${to.personId}`),
          rest('POST', '/members/leave', {}, { workspace_id: workspaceId }),
        ];
      }),
    );
    for (const { statusCode } of responses) expect(statusCode).toBeLessThan(500);
    const { rows } = await gateway.owner.pool.query(
      `select count(*)::integer as owners from workspace_member where workspace_id = $1 and role = 'owner'`,
      [workspaceId],
    );
    expect(rows).toEqual([{ owners: 1 }]);
  });
});
