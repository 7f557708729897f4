import { expect, test } from 'vitest';
import { totpCode } from '../../../core/accounts/totp.ts';
import { resetSecondFactor } from '../../../db/queries/accounts/second-factor.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { createAuthenticator, USER_PRESENT, USER_VERIFIED } from '../../support/stages/software-authenticator.ts';
import { readTotpSecret } from '../../support/stages/totp-secret.ts';

const PASSWORD = 'correct horse battery';

const gateway = openForFile(() => openTestGateway());

async function signUp(email: string): Promise<BrowserSession> {
  const browser = openBrowser(gateway.app);
  await browser.auth('POST', '/sign-up/email', { name: 'Ada', email, password: PASSWORD });
  return browser;
}

test('a passkey is added only if its device checked the user, and signs in by an ES256 key as most devices have', async () => {
  const browser = await signUp('verified@example.com');
  const authenticator = createAuthenticator();
  const unverified = await authenticator.register(browser, USER_PRESENT);
  expect([unverified.statusCode, unverified.json().code]).toEqual([400, 'USER_NOT_VERIFIED']);
  expect((await browser.auth('GET', '/passkey/list-user-passkeys')).json()).toEqual([]);
  const verified = await authenticator.register(browser, USER_PRESENT | USER_VERIFIED);
  expect(verified.statusCode, verified.body).toBe(200);
  expect((await browser.auth('GET', '/passkey/list-user-passkeys')).json()).toHaveLength(1);
  const signedIn = await authenticator.signIn(openBrowser(gateway.app), USER_PRESENT | USER_VERIFIED);
  expect([signedIn.statusCode, signedIn.json().user?.email]).toEqual([200, 'verified@example.com']);
});

test('the operator removes a lost second factor, which ends all sessions and is in the audit log', async () => {
  const email = 'lost@example.com';
  expect(await resetSecondFactor(gateway.owner, email)).toBe('no account');
  const browser = await signUp(email);
  expect(await resetSecondFactor(gateway.owner, email)).toBe('none');
  const { url } = (await browser.auth('POST', '/second-factor/set-up', {})).json() as { url: string };
  const secret = readTotpSecret(new URL(url).searchParams.get('secret') ?? '');
  const on = await browser.auth('POST', '/second-factor/turn-on', { code: await totpCode(secret, new Date()) });
  expect(on.statusCode, on.body).toBe(200);
  expect(await resetSecondFactor(gateway.owner, email)).toBe('reset');
  const sessions = await gateway.owner.pool.query(
    'select from auth_session s join person u on u.id = s.person_id where u.email = $1',
    [email],
  );
  expect(sessions.rowCount).toBe(0);
  const again = openBrowser(gateway.app);
  const signedIn = await again.auth('POST', '/sign-in/email', { email, password: PASSWORD });
  expect(signedIn.json()).toMatchObject({ user: { email } });
  const { rows } = await gateway.owner.pool.query(
    `select actor_kind from audit_entry where action = 'second_factor.deleted' and workspace_id = (select id from person where email = $1)`,
    [email],
  );
  expect(rows).toEqual([{ actor_kind: 'system' }]);
});
