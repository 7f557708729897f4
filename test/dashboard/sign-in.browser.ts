import { randomBytes } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { totpCode } from '../../core/accounts/totp.ts';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { openTestProvider, type TestProvider } from '../support/servers/oidc-provider.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const PASSWORD = 'correct horse battery staple';
const LIMIT = { timeout: 120_000 };

let stage: BrowserStage;
let provider: TestProvider;

describe.skipIf(chromiumPath === undefined)('sign-in in the browser', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    provider = await openTestProvider(`${stage.url}/api/auth/provider/callback`);
  });
  afterAll(async () => {
    await provider?.close();
    await stage?.close();
  });

  test('the owner connects a provider, and a member signs in by it', LIMIT, async () => {
    const account = await stage.account();
    const { page, close } = await stage.open(account);
    await page.goto(`${stage.url}/settings?tab=security`);
    const section = page.getByRole('region', { name: 'Single sign-on' });
    await section.getByLabel('Issuer').fill(provider.issuer);
    await section.getByLabel('Client ID').fill(provider.clientId);
    await section.getByLabel('Client secret').fill('not the secret');
    await section.getByRole('button', { name: 'Test' }).click();
    await section.getByText('Failed').waitFor();
    await section.getByLabel('Client secret').fill(provider.clientSecret);
    await section.getByRole('button', { name: 'Test' }).click();
    await expect.poll(() => section.getByText('Passed').count()).toBe(4);
    expect(await findViolations(page)).toEqual([]);
    await section.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Single sign-on was saved.').waitFor();
    await section.getByRole('button', { name: 'Remove' }).waitFor();
    await close();

    const member = await stage.open(null);
    provider.person = { sub: 'ann', email: `ann@${account.domain}`, email_verified: false };
    await member.page.goto(`${stage.url}/sign-in?next=/threads`);
    await startSingleSignOn(member.page, `ann@${account.domain}`);
    await member.page.getByText('does not say that your address is verified').waitFor();
    expect(await findViolations(member.page)).toEqual([]);
    provider.person = { sub: 'ann', email: `ann@${account.domain}`, email_verified: true };
    await member.page.goto(`${stage.url}/sign-in?next=/activity`);
    await startSingleSignOn(member.page, `ann@${account.domain}`);
    await member.page.waitForURL(`${stage.url}/activity`);
    await member.page.getByRole('button', { name: `Account ann@${account.domain}` }).waitFor();
    await member.close();
  });

  test('an authenticator app is set up and asked for, and an old session confirms the password', LIMIT, async () => {
    const { domain } = await stage.account();
    const email = `owner@${domain}`;
    const tab = await stage.open(null);
    const { page } = tab;
    await page.goto(`${stage.url}/sign-in/link#${await makeSignInLink(stage.database, email)}`);
    await page.waitForURL(`${stage.url}/welcome`);
    await page.goto(`${stage.url}/settings?tab=security`);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('The password was set.').waitFor();
    await stage.database.pool.query(
      `update auth_session set confirmed_at = confirmed_at - interval '10 minutes'
       where person_id = (select id from person where email = $1)`,
      [email],
    );
    // Gateways read a session again after 3 s at most.
    await expect
      .poll(() => page.evaluate(async () => (await (await fetch('/api/auth/second-factor')).json()).isFresh))
      .toBe(false);
    const section = page.getByRole('region', { name: 'Two-step sign-in' });
    await section.getByRole('button', { name: 'Set up authenticator app' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await dialog.getByText('Sign in again to change how you sign in.').waitFor();
    await dialog.getByLabel('Your password', { exact: true }).fill(PASSWORD);
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    const shownKey = (await section.locator('code').textContent()) ?? '';
    const secret = decode(shownKey);
    const code = section.getByRole('img', { name: 'QR code for your authenticator app' });
    const scanned = new URL(await scan(code));
    expect([scanned.protocol, scanned.host, scanned.searchParams.get('secret')]).toEqual([
      'otpauth:',
      'totp',
      shownKey.replaceAll(' ', ''),
    ]);
    expect(decodeURIComponent(scanned.pathname)).toContain(email);
    expect(await findViolations(page)).toEqual([]);
    await section.getByLabel('2. Enter the code').fill(await totpCode(secret, new Date()));
    await section.getByRole('button', { name: 'Turn on' }).click();
    const shown = section.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => shown.count()).toBe(10);
    const codes = await shown.allTextContents();
    await tab.close();

    const again = await stage.open(null);
    await again.page.goto(`${stage.url}/sign-in`);
    await again.page.getByLabel('Email address').fill(email);
    await again.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await again.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.page.getByLabel('Code of your authenticator app').fill('000000');
    await again.page.getByRole('button', { name: 'Continue' }).click();
    await again.page.getByText('The code is wrong, or was used before.').waitFor();
    expect(await findViolations(again.page)).toEqual([]);
    await again.page.getByRole('button', { name: 'Use a recovery code' }).click();
    await again.page.getByLabel('Recovery code').fill(codes[0] ?? randomBytes(8).toString('hex'));
    await again.page.getByRole('button', { name: 'Continue' }).click();
    await again.page.waitForURL(`${stage.url}/`);
    await again.page.getByRole('button', { name: `Account ${email}` }).waitFor();
    await again.close();
  });
});

/** Reads a QR code as a camera does: from its picture. */
async function scan(code: Locator): Promise<string> {
  const picture = (await code.screenshot()).toString('base64');
  const { data, width, height } = await code.page().evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context?.drawImage(bitmap, 0, 0);
    const pixels = context?.getImageData(0, 0, bitmap.width, bitmap.height).data ?? [];
    return { data: [...pixels], width: bitmap.width, height: bitmap.height };
  }, picture);
  return decodeQR({ data: Uint8Array.from(data), width, height });
}

async function startSingleSignOn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Use single sign-on' }).click();
}

/** Base32 (RFC 4648) to the text that it spells. */
function decode(base32: string): string {
  const bits = Array.from(base32.replaceAll(' ', ''))
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString();
}
