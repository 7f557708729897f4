import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, type BrowserTab, openBrowserStage } from '../support/stages/browser-stage.ts';

const PASSWORD = 'correct horse battery staple';
const LIMIT = { timeout: 120_000 };

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('accounts in the browser', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('a person signs up, signs out of all tabs, and signs in to the requested page', LIMIT, async () => {
    const tab = await stage.open(null);
    const { page } = tab;
    await page.goto(`${stage.url}/keys?show=revoked`);
    await page.getByRole('link', { name: 'Sign up' }).click();
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Email address').fill('ada@signs-up.test');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Must have at least 10 characters.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await atPath(page, '/welcome');

    const other = await tab.context.newPage();
    await other.goto(`${stage.url}/settings`);
    await other.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.getByRole('button', { name: 'Account ada@signs-up.test' }).click();
    for (const one of [page, other])
      await one.evaluate(() => window.sessionStorage.setItem('postroom-last-change', '{"text":"A secret subject"}'));
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await Promise.all([page, other].map((one) => atPath(one, '/sign-in')));
    // Each tab has its own.
    for (const one of [page, other])
      expect(await one.evaluate(() => window.sessionStorage.getItem('postroom-last-change'))).toBeNull();

    await page.goto(`${stage.url}/keys?show=revoked`);
    await atPath(page, '/sign-in');
    await signIn(page, 'ada@signs-up.test', 'a wrong password');
    await page.getByText('The email address or the password is incorrect.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await signIn(page, 'ada@signs-up.test', PASSWORD);
    await atPath(page, '/keys');
    await expect.poll(() => new URL(page.url()).search).toBe('?show=revoked');
    // The other tab, which waited for a password, goes on too.
    await atPath(other, '/');

    for (const elsewhere of [
      'https://elsewhere.test/',
      '//elsewhere.test',
      '/\\elsewhere.test',
      'javascript:alert(1)',
    ]) {
      await page.goto(`${stage.url}/sign-in?next=${encodeURIComponent(elsewhere)}`);
      await atPath(page, '/');
      expect(page.url()).toBe(`${stage.url}/`);
    }
    expect(listComplaints(tab)).toEqual([]);
    await tab.close();
  });

  test('a sign-in link works once, and signing in takes over all tabs of the browser', LIMIT, async () => {
    const [one, two] = [`owner@${(await stage.account()).domain}`, (await makeAccount('taker')).email];
    const link = async (email: string) => `${stage.url}/sign-in/link#${await makeSignInLink(stage.database, email)}`;
    const tab = await stage.open(null);
    const used = await link(one);
    await tab.page.goto(used);
    await atPath(tab.page, '/welcome');
    await tab.page.getByText('You signed in with a one-time link').waitFor();
    await tab.page.goto(`${stage.url}/settings`);
    await expect.poll(() => tab.page.getByLabel('Email address').inputValue()).toBe(one);

    const stranger = await stage.open(null);
    await stranger.page.goto(used);
    await stranger.page.getByRole('heading', { name: 'This link is not valid' }).waitFor();
    expect(await findViolations(stranger.page)).toEqual([]);
    await stranger.close();

    const other = await tab.context.newPage();
    await other.goto(await link(two));
    await atPath(other, '/welcome');
    await expect.poll(() => tab.page.getByLabel('Email address').inputValue()).toBe(two);
    expect(listComplaints(tab)).toEqual([]);
    await tab.close();
  });

  test(
    'an expired session asks to sign in without leaving the page, and unsaved input is still there',
    LIMIT,
    async () => {
      const { workspaceId, email } = await makeAccount('over');
      const tab = await stage.open(null);
      const { page } = tab;
      await page.goto(`${stage.url}/sign-in?next=/settings`);
      await signIn(page, email, PASSWORD);
      await atPath(page, '/settings');
      await page.getByLabel('Name').fill('Ada, Countess of Lovelace');
      await page.locator('[data-live=live]').waitFor();
      await stage.database.pool.query(
        `update auth_session set expires_at = now() - interval '1 minute' where person_id = $1`,
        [workspaceId],
      );
      await page.getByRole('button', { name: 'Save' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
      expect(await findViolations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
      await dialog.waitFor({ state: 'detached' });
      await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Ada, Countess of Lovelace');
      await page.locator('[data-live=live]').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Your name was saved.').waitFor();
      await page.reload();
      await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Ada, Countess of Lovelace');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Export account' }).click(),
      ]);
      expect([download.suggestedFilename(), await download.failure()]).toEqual([
        expect.stringMatching(/^postroom-\d{4}-\d\d-\d\d\.tar\.gz$/),
        null,
      ]);
      expect(listComplaints(tab)).toEqual([]);
      await tab.close();
    },
  );

  test('a new password ends the other sessions; one can be ended alone, or all', LIMIT, async () => {
    const { email } = await makeAccount('passwords');
    const [tab, second, third] = [await stage.open(null), await stage.open(null), await stage.open(null)];
    for (const { page } of [tab, second]) {
      await page.goto(`${stage.url}/sign-in?next=/settings%3Ftab%3Dsecurity`);
      await signIn(page, email, PASSWORD);
      await page.getByText('this browser').waitFor();
    }
    const { page } = tab;
    await page.getByLabel('Current password').fill('not the one');
    await page.getByLabel('New password').fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('This is not your current password.').waitFor();
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password was changed.').waitFor();
    // Its session is gone, and its feed tells it.
    await second.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();

    await third.page.goto(`${stage.url}/sign-in`);
    await signIn(third.page, email, PASSWORD);
    await third.page.getByText('The email address or the password is incorrect.').waitFor();
    await signIn(third.page, email, 'another horse battery');
    await atPath(third.page, '/');
    await page.reload();
    const sessions = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
    await expect.poll(() => sessions.count()).toBe(2);
    await expect.poll(() => sessions.first().textContent()).toContain('this browser');
    await expect.poll(() => sessions.last().textContent()).toMatch(/on Linux.*Last used/);
    await sessions
      .last()
      .getByRole('button', { name: /^Sign out/ })
      .click();
    await expect.poll(() => sessions.count()).toBe(1);
    await third.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();

    // Without other sessions there is nothing to end but this one.
    const endOthers = page.getByRole('button', { name: 'Sign out all other sessions' });
    expect(await endOthers.count()).toBe(0);
    await third.page.reload();
    await signIn(third.page, email, 'another horse battery');
    await third.page.locator('[data-live=live]').waitFor();
    await page.reload();
    await endOthers.click();
    await page.getByText('All other browsers were signed out.').waitFor();
    await third.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await expect.poll(() => sessions.count()).toBe(1);

    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await atPath(page, '/sign-in');
    expect(listComplaints(tab)).toEqual([]);
    await Promise.all([tab, second, third].map((each) => each.close()));
  });

  test('a passkey is added, named, signs in, and is removed', LIMIT, async () => {
    const { email } = await makeAccount('passkeys');
    const tab = await stage.open(null);
    const { page } = tab;
    const devices = await tab.context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto(`${stage.url}/sign-in?next=/settings%3Ftab%3Dsecurity`);
    await signIn(page, email, PASSWORD);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const passkeys = page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem');
    await passkeys.getByRole('button', { name: /^Rename/ }).click();
    await passkeys.getByRole('textbox', { name: 'Name' }).fill('My laptop');
    await passkeys.getByRole('button', { name: 'Save' }).click();
    await passkeys.getByText('My laptop').waitFor();

    await page.getByRole('button', { name: `Account ${email}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await atPath(page, '/sign-in');
    await page.goto(`${stage.url}/sign-in?next=/settings%3Ftab%3Dsecurity`);
    // The browser may offer it by itself before it is asked.
    await Promise.race([
      page
        .getByRole('button', { name: 'Use a passkey' })
        .click({ timeout: 0 })
        .catch(() => undefined),
      atPath(page, '/settings'),
    ]);
    await atPath(page, '/settings');
    await passkeys.getByText('My laptop').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await passkeys.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('No passkeys yet.').waitFor();

    await page.getByRole('button', { name: 'Add passkey' }).click();
    await passkeys.first().waitFor();
    await page.getByRole('tab', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Erase account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase this account?' });
    await dialog.getByLabel(`Type ${email} to confirm`).fill(email);
    await dialog.getByRole('button', { name: 'Erase account' }).click();
    await page
      .getByRole('dialog', { name: 'Confirm that it is you' })
      .getByRole('button', { name: 'Use a passkey' })
      .click();
    await atPath(page, '/sign-in');
    await page.getByText('Your account is closed, and its data is being erased.').waitFor();
    expect(listComplaints(tab)).toEqual([]);
    await tab.context.close();
  });

  test(
    'an account is erased after its address and password, which ends its other sessions and its mail',
    LIMIT,
    async () => {
      const account = await stage.account();
      const email = `owner@${account.domain}`;
      const tab = await stage.open(account);
      const other = await stage.open(account);
      for (const { page } of [tab, other]) {
        await page.goto(`${stage.url}/settings`);
        await page.locator('[data-live=live]').waitFor();
      }
      const { page } = tab;
      const dialog = page.getByRole('dialog', { name: 'Erase this account?' });
      const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
      await page.getByRole('button', { name: 'Erase account' }).click();
      await dialog.getByLabel(`Type ${email} to confirm`).fill(email);
      await page.keyboard.press('Enter');
      await question.getByText('You have no password and no passkey').waitFor();
      await question.getByText('The account is erased as soon as you have confirmed.').waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('tab', { name: 'Security' }).click();
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Set password' }).click();
      await page.getByText('The password was set.').waitFor();
      await page.getByRole('tab', { name: 'Account' }).click();
      await page.getByRole('button', { name: 'Erase account' }).click();
      await dialog.getByText('1 domain with 1 address: they reject mail at once').waitFor();
      await dialog.getByRole('link', { name: 'export the account' }).waitFor();
      const erase = dialog.getByRole('button', { name: 'Erase account' });
      expect(await erase.isDisabled()).toBe(true);
      await dialog.getByLabel(`Type ${email} to confirm`).fill(email);
      await erase.click();
      const password = question.getByLabel('Your password', { exact: true });
      await password.fill('not the one');
      await page.keyboard.press('Enter');
      await question.getByRole('alert').waitFor();
      expect(await findViolations(page)).toEqual([]);
      await password.fill(PASSWORD);
      await page.keyboard.press('Enter');
      await atPath(page, '/sign-in');
      await other.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      // The row of the account goes last.
      await expect
        .poll(async () => {
          const { rows } = await stage.database.pool.query(
            `select (select count(*)::integer from person where id = $1) as accounts,
             (select count(*)::integer from erased_account where id = $1) as erased`,
            [account.workspaceId],
          );
          return rows[0];
        }, LIMIT)
        .toEqual({ accounts: 0, erased: 1 });
      expect(listComplaints(tab)).toEqual([]);
      await Promise.all([tab, other].map((each) => each.close()));
    },
  );

  test('too many wrong passwords show the minutes to wait', LIMIT, async () => {
    const { email } = await makeAccount('guessed');
    const tab = await stage.open(null);
    for (let tries = 0; tries < 10; tries++) await signInFrom(GUESSER, { email, password: `guess ${tries}` });
    await tab.page.route('**/api/auth/sign-in/email', async (route) => {
      await route.fulfill(await signInFrom(GUESSER, route.request().postDataJSON()));
    });
    await tab.page.goto(`${stage.url}/sign-in`);
    await signIn(tab.page, email, PASSWORD);
    await tab.page.getByText(/Too many attempts. Try again in \d+ minutes./).waitFor();
    expect(listComplaints(tab)).toEqual([]);
    await tab.close();
  });
});

/** A client of its own: too many wrong passwords of one stop its sign-ins at all accounts, and other files sign in from 127.0.0.1. */
const GUESSER = '127.0.0.77';

/** Signs in from another address of this machine, as a page does. */
async function signInFrom(localAddress: string, body: unknown): Promise<{ status: number; body: string }> {
  const { host } = new URL(stage.url);
  const asked = request(`http://127.0.0.1:${stage.service.httpPort}/api/auth/sign-in/email`, {
    localAddress,
    method: 'POST',
    headers: { host, origin: stage.url, 'content-type': 'application/json' },
  });
  asked.end(JSON.stringify(body));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

/** An account without mail that signs in by PASSWORD. */
async function makeAccount(name: string): Promise<{ workspaceId: string; email: string }> {
  const email = `${name}@accounts.test`;
  const response = await fetch(`${stage.url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: stage.url },
    body: JSON.stringify({ name, email, password: PASSWORD }),
  });
  const { user } = (await response.json()) as { user: { id: string } };
  return { workspaceId: user.id, email };
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function atPath(page: Page, path: string): Promise<void> {
  await page.waitForURL((url) => url.pathname === path);
}

/** Refusals are answers like others, though the console calls them failures. */
function listComplaints({ complaints }: BrowserTab): string[] {
  return complaints.filter((text) => !/the server responded with a status of 4\d\d/.test(text));
}
