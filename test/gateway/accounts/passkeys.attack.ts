import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { createAuthenticator, USER_PRESENT, USER_VERIFIED } from '../../support/stages/software-authenticator.ts';
import { openTeam } from '../../support/stages/team-stage.ts';
import { waitFor } from '../../support/wait-for.ts';

const PASSWORD = 'correct horse battery';
const VIEWER = '{ viewer { id } }';
const CHECKED = USER_PRESENT | USER_VERIFIED;
let gateway: TestGateway;
let accounts = 0;
let shiftMs = 0;

beforeAll(async () => {
  gateway = await openTestGateway({
    now: () => new Date(Date.now() + shiftMs),
    config: { rateLimitPerSecond: 0 },
  });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shiftMs = 0;
  await sql('delete from auth_rate_limit');
});

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);

async function signUp() {
  const browser = openBrowser(gateway.app);
  const email = `passkeys${accounts++}@example.com`;
  const made = await browser.auth('POST', '/sign-up/email', { name: 'Ada', email, password: PASSWORD });
  if (made.statusCode !== 200) throw new Error(made.body);
  return { browser, email, personId: (made.json() as { user: { id: string } }).user.id };
}
const signIn = (email: string, browser = openBrowser(gateway.app)) =>
  browser.auth('POST', '/sign-in/email', { email, password: PASSWORD });
const countPasskeys = async (personId: string) =>
  (await sql('select from auth_passkey where person_id = $1', personId)).rowCount;
const isOpen = async (browser: BrowserSession) => (await browser.graphql(VIEWER)).statusCode === 200;

/** Signs a person in by a passkey in a new browser. */
async function signInBy(authenticator: ReturnType<typeof createAuthenticator>) {
  const browser = openBrowser(gateway.app);
  const response = await authenticator.signIn(browser, CHECKED);
  expect(response.statusCode, response.body).toBe(200);
  return browser;
}

describe('a passkey is added', () => {
  test('to no account but the one whose challenge it signed, with no challenge of a sign-in, and with none twice', async () => {
    const [victim, attacker] = [await signUp(), await signUp()];
    // The attacker plants a challenge of their own in the victim's browser, and the other way round.
    for (const [of, into] of [
      [attacker, victim],
      [victim, attacker],
    ] as const) {
      const authenticator = createAuthenticator();
      const body = await authenticator.attest(of.browser, CHECKED);
      const challenge = of.browser.cookies.get('postroom.passkey') ?? '';
      expect(challenge).not.toBe('');
      into.browser.cookies.set('postroom.passkey', challenge);
      const refused = await into.browser.auth('POST', '/passkey/verify-registration', body);
      expect(refused.statusCode).toBeGreaterThanOrEqual(400);
    }
    const { challenge } = (await victim.browser.auth('GET', '/passkey/generate-authenticate-options')).json();
    const crossed = await createAuthenticator().register(victim.browser, CHECKED, { challenge });
    expect(crossed.statusCode).toBeGreaterThanOrEqual(400);
    expect([await countPasskeys(victim.personId), await countPasskeys(attacker.personId)]).toEqual([0, 0]);

    const body = await createAuthenticator().attest(victim.browser, CHECKED);
    const cookies = new Map(victim.browser.cookies);
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => {
        const tab = openBrowser(gateway.app);
        for (const [name, value] of cookies) tab.cookies.set(name, value);
        return tab.auth('POST', '/passkey/verify-registration', body);
      }),
    );
    expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    expect(await countPasskeys(victim.personId)).toBe(1);
  });

  test('with no challenge that is older than five minutes, and with no sign-in that is', async () => {
    const { browser, personId } = await signUp();
    const late = await createAuthenticator().attest(browser, CHECKED);
    await sql(`update auth_verification set expires_at = expires_at - interval '5 minutes'`);
    expect((await browser.auth('POST', '/passkey/verify-registration', late)).statusCode).toBe(400);
    const body = await createAuthenticator().attest(browser, CHECKED);
    shiftMs = 5 * 60_000 + 1_000;
    for (const response of [
      await browser.auth('POST', '/passkey/verify-registration', body),
      await browser.auth('GET', '/passkey/generate-register-options'),
    ])
      expect([response.statusCode, response.json().code]).toEqual([403, 'SIGN_IN_AGAIN']);
    expect(await countPasskeys(personId)).toBe(0);
  });

  test('under no ID that a passkey of another account has, and that one goes on to sign in', async () => {
    const [victim, attacker] = [await signUp(), await signUp()];
    const authenticator = createAuthenticator();
    expect((await authenticator.register(victim.browser, CHECKED)).statusCode).toBe(200);
    const taken = await createAuthenticator().register(attacker.browser, CHECKED, { id: authenticator.id });
    expect([taken.statusCode, taken.json().code]).toEqual([400, 'PASSKEY_EXISTS']);
    expect(await countPasskeys(attacker.personId)).toBe(0);
    const seen = (await (await signInBy(authenticator)).auth('GET', '/get-session')).json();
    expect(seen.user.email).toBe(victim.email);
  });
});

describe('a passkey', () => {
  test('that was copied is refused once the copy, or the original, was used more often', async () => {
    const { browser } = await signUp();
    const authenticator = createAuthenticator();
    expect((await authenticator.register(browser, CHECKED, { counter: 5 })).statusCode).toBe(200);
    const use = (counter: number) => authenticator.signIn(openBrowser(gateway.app), CHECKED, { counter });
    expect((await use(9)).statusCode).toBe(200);
    for (const counter of [9, 8, 5, 0])
      expect([counter, (await use(counter)).statusCode >= 400]).toEqual([counter, true]);
    expect((await use(10)).statusCode).toBe(200);
  });

  test('signs in with no challenge that has expired', async () => {
    const { browser } = await signUp();
    const authenticator = createAuthenticator();
    await authenticator.register(browser, CHECKED);
    const fresh = openBrowser(gateway.app);
    const body = await authenticator.assert(fresh, CHECKED);
    await sql(`update auth_verification set expires_at = expires_at - interval '5 minutes'`);
    expect((await fresh.auth('POST', '/passkey/verify-authentication', body)).statusCode).toBe(400);
    expect(await isOpen(fresh)).toBe(false);
  });

  test('of one person, used in a browser where another person is signed in, changes nothing of the other', async () => {
    const [victim, attacker] = [await signUp(), await signUp()];
    const authenticator = createAuthenticator();
    await authenticator.register(attacker.browser, CHECKED);
    const before = new Map(victim.browser.cookies);
    shiftMs = 6 * 60_000;
    expect((await authenticator.signIn(victim.browser, CHECKED)).statusCode).toBe(200);
    // The sign-in of the attacker confirms nothing for the session of the victim.
    const old = openBrowser(gateway.app);
    for (const [name, value] of before) old.cookies.set(name, value);
    expect((await old.auth('GET', '/second-factor')).json().isFresh).toBe(false);
    expect((await old.auth('GET', '/get-session')).json().user.email).toBe(victim.email);
    expect((await victim.browser.auth('GET', '/get-session')).json().user.email).toBe(attacker.email);
  });
});

describe('a passkey that is removed, as one of a lost device is', () => {
  test('ends the sessions that began by a passkey elsewhere, and no other ones', async () => {
    const { browser, email } = await signUp();
    const authenticator = createAuthenticator();
    const { id } = (await authenticator.register(browser, CHECKED)).json();
    const thief = await signInBy(authenticator);
    const byPassword = openBrowser(gateway.app);
    await signIn(email, byPassword);
    expect((await browser.auth('POST', '/passkey/delete-passkey', { id })).statusCode).toBe(200);
    expect([await isOpen(thief), await isOpen(browser), await isOpen(byPassword)]).toEqual([false, true, true]);
    expect((await authenticator.signIn(openBrowser(gateway.app), CHECKED)).statusCode).toBe(401);
  });

  test('opens nothing by a sign-in that was in progress', async () => {
    const { browser, personId } = await signUp();
    const authenticator = createAuthenticator();
    const { id } = (await authenticator.register(browser, CHECKED)).json();
    // The new session waits for the row of the person.
    const holder = await gateway.owner.pool.connect();
    await holder.query('begin');
    await holder.query('select from person where id = $1 for update', [personId]);
    const thief = openBrowser(gateway.app);
    const signingIn = authenticator.signIn(thief, CHECKED);
    await waitFor(async () => {
      const { rowCount } = await sql(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rowCount).toBe(1);
    });
    expect((await browser.auth('POST', '/passkey/delete-passkey', { id })).statusCode).toBe(200);
    await holder.query('commit');
    holder.release();
    const response = await signingIn;
    expect([response.statusCode, response.json().code]).toEqual([409, 'PASSKEY_REMOVED']);
    expect(await isOpen(thief)).toBe(false);
    expect((await sql('select from auth_session where person_id = $1', personId)).rowCount).toBe(1);
  });

  test('as the last one closes a workspace that requires a second factor to later sessions', async () => {
    const team = await openTeam(gateway, `passkeys${accounts++}`);
    const authenticator = createAuthenticator();
    const { id } = (await authenticator.register(team.owner.browser, CHECKED)).json();
    const browser = await signInBy(authenticator);
    expect((await browser.auth('POST', '/second-factor/require', { isRequired: true })).statusCode).toBe(200);
    const other = await signInBy(authenticator);
    expect((await browser.auth('POST', '/passkey/delete-passkey', { id })).statusCode).toBe(200);
    expect(await isOpen(other)).toBe(false);
    const later = await team.signIn(team.owner.email);
    const refused = await later.graphql(VIEWER);
    expect([refused.statusCode, refused.body]).toEqual([403, expect.stringContaining('SECOND_FACTOR_REQUIRED')]);
    for (const path of ['/oauth/request', '/oauth/decision'])
      expect((await later.auth('POST', path, { userCode: 'BBBB-BBBB' })).statusCode, path).not.toBe(200);
    // Nobody turns the rule off without what it asks for.
    const turnedOff = await later.auth('POST', '/second-factor/require', { isRequired: false });
    expect(turnedOff.json().code).toBe('NO_SECOND_FACTOR');
  });
});
