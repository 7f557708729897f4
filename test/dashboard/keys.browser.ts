import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { callers, type TestAccount } from '../support/servers/service.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const run = promisify(execFile);
const LIMIT = { timeout: 120_000 };

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('API keys in the browser', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test(
    'a key with the scope read is shown once, reads by the command beside it, sends nothing, and stops when it is revoked',
    LIMIT,
    async () => {
      const account = await stage.account();
      const tab = await stage.open(account);
      const { page } = tab;
      await page.goto(`${stage.url}/keys`);
      await page.getByRole('button', { name: 'Create key' }).first().click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      await page.getByText('Enter a name.').waitFor();
      await page.getByLabel('Name').fill('Reports');
      await page.getByLabel('Selected scopes').check();
      await page.getByRole('combobox', { name: 'Expiry' }).click();
      await page.getByRole('option', { name: 'In 7 days' }).click();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      const { secret, command } = await shownKey(page);
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Done' }).click();

      const row = page.getByRole('listitem').filter({ hasText: 'Reports' });
      await row.getByText('expires soon').waitFor();
      await expect.poll(() => row.textContent()).toMatch(/Read.*Never used.*Expires/);
      await expect.poll(async () => (await page.content()).includes(secret)).toBe(false);
      expect(JSON.parse((await run('bash', ['-c', command])).stdout)).toMatchObject({ data: [] });
      const { call } = callers(stage.service.url, secret);
      const sent = await call('POST', '/emails', makeEmail(account.address));
      expect([sent.status, sent.body.code]).toEqual([403, 'insufficient_scope']);

      await row.getByText(`${secret.slice(0, 4)}…${secret.slice(-4)}`).waitFor();
      await row.getByRole('link', { name: 'Show requests' }).click();
      await showRequests(page, { secret, account });
      await page.goto(`${stage.url}/keys`);

      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
      await row.waitFor({ state: 'detached' });
      await expect.poll(async () => (await call('GET', '/emails')).status).toBe(401);
      await page.getByText('Revoked', { exact: true }).click();
      await row.getByText('revoked', { exact: true }).waitFor();
      await expect.poll(() => new URL(page.url()).search).toBe('?show=revoked');
      expect(tab.complaints).toEqual([]);
      await tab.close();
    },
  );

  test('the objects of a revoked key are listed, and stop or are kept as the person chooses', LIMIT, async () => {
    const account = await stage.account();
    const own = callers(stage.service.url, account.apiKey);
    const setUp = async (name: string) => {
      const { body: key } = await own.call('POST', '/api-keys', { name, scopes: ['read', 'send', 'manage'] });
      const { call } = callers(stage.service.url, key.token);
      const config = { url: 'https://hooks.example.com/in' };
      const endpoint = await call('POST', '/endpoints', { name: `Hook of ${name}`, type: 'webhook', config });
      expect(endpoint.status).toBe(201);
      const rule = { type: 'explicit', config: { subject: { values: ['x'] } }, action: { action: 'block' } };
      expect((await call('POST', '/guard', { name: `Rule of ${name}`, ...rule })).status).toBe(201);
      const email = await call('POST', '/emails', { ...makeEmail(account.address), scheduled_at: 'in 2 days' });
      expect(email.status).toBe(201);
      const states = async () => [
        (await own.call('GET', `/endpoints/${endpoint.body.id}`)).body.isActive,
        (await own.call('GET', `/emails/${email.body.id}`)).body.status,
      ];
      return { states, endpointId: endpoint.body.id as string };
    };
    const [thief, old] = [await setUp('Thief'), await setUp('Old')];
    const tab = await stage.open(account);
    const { page } = tab;
    await page.goto(`${stage.url}/keys`);
    const row = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
    const dialog = page.getByRole('dialog');

    await row('Thief').getByRole('button', { name: 'Revoke key' }).click();
    const configured = dialog.getByRole('region', { name: 'What this key set up' });
    await configured.getByText('1 endpoint: Hook of Thief').waitFor();
    await configured.getByText('1 guard rule: Rule of Thief').waitFor();
    await configured.getByText('1 scheduled email: ').waitFor();
    await expect.poll(() => dialog.getByLabel('Stop it').isChecked()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await row('Thief').waitFor({ state: 'detached' });
    expect(await thief.states()).toEqual([false, 'paused']);

    await row('Old').getByRole('button', { name: 'Revoke key' }).click();
    await configured.getByText('1 endpoint: Hook of Old').waitFor();
    await dialog.getByLabel('Keep it').check();
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await row('Old').waitFor({ state: 'detached' });
    expect(await old.states()).toEqual([true, 'scheduled']);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('a send policy is set, shown with its remaining budget, changed, and set on an address', LIMIT, async () => {
    const account = await stage.account();
    const tab = await stage.open(account);
    const { page } = tab;
    await page.goto(`${stage.url}/keys`);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill('Agent');
    await page.getByRole('switch', { name: 'Limit what it sends' }).check();
    await page.getByRole('combobox', { name: 'Allowed recipients' }).click();
    await page.getByRole('option', { name: 'Selected addresses' }).click();
    const allow = page.getByRole('combobox', { name: 'Addresses and domains' });
    await allow.fill('nobody');
    await allow.press('Enter');
    await page.getByLabel('Emails per hour').fill('2');
    await page.getByLabel('Allow links').uncheck();
    const create = page.getByRole('dialog').getByRole('button', { name: 'Create key' });
    await create.click();
    await page.getByText(/must be an email address .* or a domain/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await allow.press('Backspace');
    await allow.fill(account.domain);
    await allow.press('Enter');
    await create.click();
    const { secret } = await shownKey(page);
    await page.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Agent' });
    await row.getByText('one allowed recipient, 2 per hour, no links').waitFor();
    const { call } = callers(stage.service.url, secret);
    for (const status of [200, 200, 403])
      expect((await call('POST', '/emails', makeEmail(account.address))).status).toBe(status);
    await row.getByText('2 of 2 emails in the last hour').waitFor();

    await row.getByRole('button', { name: 'Edit key' }).click();
    await page.getByLabel('Emails per hour').fill('3');
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save key' }).click();
    await row.getByText('2 of 3 emails in the last hour').waitFor();
    expect((await call('POST', '/emails', makeEmail(account.address))).status).toBe(200);

    await page.goto(`${stage.url}/addresses`);
    await page.getByText(account.address).first().click();
    await page.getByRole('button', { name: 'Edit send policy' }).click();
    await page.getByLabel('Emails per day').fill('1');
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save send policy' }).click();
    await page.getByText('Mail from this address: 1 per day').waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test(
    'mail of a key that needs approval is shown in full with its thread, approved, and rejected with a reason',
    LIMIT,
    async () => {
      const account = await stage.account();
      const tab = await stage.open(account);
      const { page } = tab;
      await page.goto(`${stage.url}/approvals`);
      await page.getByRole('heading', { name: 'No emails to approve' }).waitFor();
      expect(await findViolations(page)).toEqual([]);
      const own = callers(stage.service.url, account.apiKey);
      const key = await own.call('POST', '/api-keys', { name: 'Writer', policy: { approval: 'always' } });
      const writer = callers(stage.service.url, key.body.token);
      await stage.mail({
        from: 'ada@elsewhere.test',
        to: account.address,
        subject: 'A question',
        text: 'When does it come?',
      });
      let original: string | undefined;
      await expect
        .poll(async () => {
          const [email] = (await own.call('GET', '/emails?type=received')).body.data;
          original = email?.id;
          return email?.thread_id ?? null;
        })
        .not.toBeNull();
      const text = 'It comes on Friday.';
      const reply = { from: account.address, to: [account.address], text };
      expect((await writer.call('POST', `/emails/${original}/reply`, reply)).body.status).toBe('queued');
      const row = page.getByRole('listitem').filter({ hasText: 'Re: A question' });
      await row.getByRole('group', { name: 'Message' }).getByText(text).waitFor();
      await row.getByText('by API key Writer').waitFor();
      await row.getByRole('group', { name: 'Conversation' }).getByText('When does it come?').waitFor();
      await page.getByLabel('1 email to approve').waitFor();
      expect(await findViolations(page)).toEqual([]);
      await row.getByRole('link', { name: /^Conversation/ }).click();
      await page.getByRole('region', { name: 'Awaiting approval' }).getByRole('link', { name: 'Review' }).click();
      await row.getByRole('button', { name: 'Approve' }).click();
      await row.waitFor({ state: 'detached' });
      await expect
        .poll(async () =>
          (await own.call('GET', '/emails?type=sent')).body.data.map(({ status }: { status: string }) => status),
        )
        .toEqual(['delivered']);

      const { id } = (await writer.call('POST', '/emails', { ...makeEmail(account.address), subject: 'An offer' }))
        .body;
      const offer = page.getByRole('listitem').filter({ hasText: 'An offer' });
      await offer.getByRole('button', { name: 'Reject' }).click();
      await page.getByLabel('Reason').fill('The price is wrong.');
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Reject email' }).click();
      await offer.waitFor({ state: 'detached' });
      const { approval } = (await own.call('GET', `/emails/${id}`)).body;
      expect([approval.status, approval.decided_by, approval.reason]).toEqual([
        'rejected',
        expect.stringContaining('@'),
        'The price is wrong.',
      ]);
      await page.goto(`${stage.url}/emails/${id}`);
      await page.getByText(`Rejected by ${approval.decided_by}`).waitFor();
      expect(tab.complaints).toEqual([]);
      await tab.close();
    },
  );

  test(
    'a key that may only send from one domain sends by the command beside it, and reads nothing',
    LIMIT,
    async () => {
      const account = await stage.account();
      const tab = await stage.open(account, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
      const { page } = tab;
      await page.goto(`${stage.url}/keys`);
      await page.getByRole('button', { name: 'Create key' }).first().click();
      await page.getByLabel('Name').fill('Shop');
      await page.getByRole('combobox', { name: 'Domain' }).click();
      await page.getByRole('option', { name: account.domain }).click();
      await page.getByLabel('Selected scopes').check();
      await expect.poll(() => page.getByLabel('Manage').isDisabled()).toBe(true);
      await page.getByLabel('Read').uncheck();
      await page.getByRole('checkbox', { name: 'Send' }).check();
      await page.getByRole('combobox', { name: 'Expiry' }).click();
      await page.getByRole('option', { name: 'On a date' }).click();
      await page.getByLabel('Last day').fill('2001-01-01');
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      await page.getByText('Enter a date in the future.').waitFor();
      await page.getByLabel('Last day').fill('2100-12-31');
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      const { secret, command } = await shownKey(page);
      await page.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('listitem').filter({ hasText: 'Shop' });
      await row.getByText(`only ${account.domain}`).waitFor();
      expect(await findViolations(page)).toEqual([]);

      const { id } = JSON.parse((await run('bash', ['-c', command])).stdout);
      expect((await account.call('GET', `/emails/${id}`)).body).toMatchObject({ subject: 'Hello' });
      expect((await callers(stage.service.url, secret).call('GET', '/emails')).status).toBe(403);
      expect(tab.complaints).toEqual([]);
      await tab.close();
    },
  );
});

/** On the page of a key's requests, which are `GET /emails` and a refused `POST /emails`: finds the latter, and copies the former as a command. */
async function showRequests(page: Page, { secret, account }: { secret: string; account: TestAccount }): Promise<void> {
  const requests = page.getByRole('list', { name: 'Requests' }).getByRole('button');
  await expect
    .poll(() => requests.allTextContents())
    .toEqual([
      expect.stringMatching(/403POST \/api\/e2\/emailsReports/),
      expect.stringMatching(/200GET \/api\/e2\/emails\?limit=3Reports/),
    ]);
  expect(await findViolations(page)).toEqual([]);
  await page.getByLabel('Search requests').fill('INSUFFICIENT_scope');
  await expect.poll(() => requests.count()).toBe(1);
  await requests.click();
  const drawer = page.getByRole('dialog', { name: 'POST /api/e2/emails' });
  await drawer.getByRole('region', { name: 'Response body' }).getByText('"code": "insufficient_scope"').waitFor();
  await drawer.getByText('from 127.0.0.1').waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Search requests').fill('no such request');
  await page.getByRole('button', { name: 'Show all requests' }).click();
  await page.getByRole('combobox', { name: 'Method' }).click();
  await page.getByRole('option', { name: 'GET' }).click();
  await requests.filter({ hasText: 'limit=3' }).first().click();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, POSTROOM_KEY: account.apiKey } });
  expect(JSON.parse(stdout)).toMatchObject({ data: [] });

  // A request that comes now appears by itself; another time is chosen.
  await page.getByRole('button', { name: 'Close' }).click();
  await callers(stage.service.url, secret).call('GET', '/emails?limit=4');
  await requests.filter({ hasText: 'limit=4' }).waitFor();
  const chooseTime = async (name: string) => {
    await page.getByRole('combobox', { name: 'Time' }).click();
    await page.getByRole('option', { name }).click();
  };
  await chooseTime('Last hour');
  await expect.poll(() => new URL(page.url()).searchParams.get('time')).toBe('hour');
  await requests.filter({ hasText: 'limit=4' }).waitFor();
  await chooseTime('From … to …');
  await page.getByLabel('From', { exact: true }).fill('2126-01-01T00:00');
  await page.getByRole('heading', { name: 'No matching requests' }).waitFor();
  await page.getByLabel('From', { exact: true }).fill('2026-01-01T00:00');
  await requests.filter({ hasText: 'limit=4' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByLabel('To', { exact: true }).fill('2026-01-02T00:00');
  await page.getByRole('heading', { name: 'No matching requests' }).waitFor();
}

async function shownKey(page: Page): Promise<{ secret: string; command: string }> {
  const dialog = page.getByRole('dialog', { name: 'Copy API key' });
  const [secret, command] = await Promise.all(
    ['key', 'command'].map((name) => dialog.getByRole('region', { name, exact: true }).innerText()),
  );
  return { secret: secret ?? '', command: command ?? '' };
}

function makeEmail(address: string): Record<string, string> {
  return { from: address, to: address, subject: 'Refused', text: 'It must not go.' };
}
