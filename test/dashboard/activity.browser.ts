import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PIXEL } from '../support/mail/mail-looks.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { type SinkMta, startSinkMta } from '../support/servers/sink-mta.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage, type TabOptions } from '../support/stages/browser-stage.ts';

type Account = Awaited<ReturnType<BrowserStage['account']>>;

/** Of the whole service, the browser, and the dashboard when it is not built. Milliseconds. */
const START_MS = 300_000;
/** Of one test on a loaded machine. Milliseconds. */
const JOURNEY_MS = 180_000;
/** The sink of no other file of the run is here. */
const SINK_HOST = '127.0.82.1';

let stage: BrowserStage;
let sink: SinkMta;
let receiver: WebhookReceiver;

describe.skipIf(chromiumPath === undefined)('activity', { timeout: JOURNEY_MS }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    receiver = await startWebhookReceiver();
    sink = await startSinkMta({ name: 'mx.activity.test', host: SINK_HOST, port: stage.service.outboundPort });
    const zone = stage.service.openZone('activity.test');
    zone.set('mx.activity.test', 'A', [sink.host]);
    zone.set('activity.test', 'MX', [{ preference: 10, exchange: 'mx.activity.test' }]);
  }, START_MS);
  afterAll(async () => {
    await stage?.close();
    await Promise.all([receiver?.stop(), sink?.stop()]);
  });

  /** Opens a page of the account. */
  async function open(account: Account, path: string, options: TabOptions = {}) {
    const tab = await stage.open(account, options);
    await tab.page.goto(stage.url + path);
    return tab;
  }

  /** Runs a mutation of one root field; returns its payload. */
  async function change(account: TestAccount, field: string, input: Record<string, unknown>, selection: string) {
    const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input!`;
    const text = `mutation M($input: ${type}) { ${field}(input: $input) { __typename ... on Error { message } ${selection} } }`;
    const { body } = await account.graphql(text, { input });
    const payload = body.data?.[field];
    if (payload === undefined || payload.message !== undefined) throw new Error(`${field}: ${JSON.stringify(body)}`);
    return payload;
  }

  /** An endpoint that gives up after one try, to which the account's address is led. */
  async function leadTo(account: Account, name: string, path: string): Promise<string> {
    const given = { name, url: `${receiver.url}${path}`, retryAttempts: 0, allowActions: true };
    const made = await change(
      account,
      'createWebhookEndpoint',
      given,
      '... on CreateWebhookEndpointPayload { endpoint { id } }',
    );
    const found = await account.graphql('{ emailAddresses(first: 1) { edges { node { id } } } }');
    const addressId = found.body.data.emailAddresses.edges[0].node.id;
    const led = { id: addressId, endpointId: made.endpoint.id };
    await change(account, 'updateEmailAddress', led, '... on UpdateEmailAddressPayload { emailAddress { id } }');
    return made.endpoint.id;
  }

  async function openTab(page: Page, name: string) {
    await page.getByRole('tab', { name, exact: true }).click();
    await page.getByRole('tabpanel', { name, exact: true }).waitFor();
  }

  test('a failing webhook is found with its response, and delivered by a click once its receiver is repaired', async () => {
    const account = await stage.account();
    await leadTo(account, 'Orders', '/failing');
    receiver.respond([{ status: 500, body: '{"error":"the database is down"}' }]);
    const { page, complaints, close } = await open(account, '/activity');
    await page.getByRole('heading', { name: 'No mail in the last 30 days' }).waitFor();
    await stage.mail({
      // Of a domain that exists, so that the check of DMARC has a result.
      from: 'Ada Lovelace <ada@activity.test>',
      to: account.address,
      subject: 'An order',
      text: 'Your code is 482913.',
      html: '<p>Your code is <b>482913</b>. <a href="https://shop.example/orders/7">The order</a></p><p style="display: flex"><a href="/shop">Shop</a></p>',
      attachments: [
        { filename: 'order.csv', content: 'a,b\n1,2\n' },
        { filename: 'photo.png', content: PIXEL },
        { filename: 'bill.pdf', content: '%PDF-1.4 x' },
      ],
    });
    const row = page.getByRole('listitem').filter({ hasText: 'An order' });
    await row.getByText('webhook failed 500').waitFor();
    await row.getByRole('img', { name: 'Has attachments' }).waitFor();

    await row.getByRole('link', { name: 'An order' }).click();
    await page.getByRole('heading', { level: 1, name: 'An order' }).waitFor();
    await page.getByRole('region', { name: 'Codes and links' }).getByText('482913', { exact: true }).waitFor();
    await page.getByText(/Webhook to endpoint “Orders”, attempt 1: failed, status 500/).waitFor();
    expect(await findViolations(page)).toEqual([]);

    await openTab(page, 'Deliveries');
    const delivery = page.getByRole('region', { name: /^Delivery \d to Orders$/ });
    await delivery.getByText('"error": "the database is down"').waitFor();
    await delivery.getByRole('button', { name: 'Show payload' }).click();
    await delivery.getByText('"subject": "An order"').first().waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('tab')).toBe('deliveries');
    expect(await findViolations(page)).toEqual([]);

    const overview = await page.context().newPage();
    await overview.goto(`${stage.url}/?period=month`);
    await overview.getByText('of 1 delivery, 1 failed').waitFor();
    await overview.getByRole('heading', { name: 'Emails per day' }).waitFor();
    // The keys show the values of the chart.
    const chart = overview.getByRole('slider', { name: 'Emails per day, values' });
    await chart.press('End');
    await overview.getByText(/: 1 received, 0 sent$/).waitFor();
    await chart.press('ArrowLeft');
    await overview.getByText(/: 0 received, 0 sent$/).waitFor();
    const emails = overview.getByRole('region', { name: 'Emails per day' });
    const columns = ['Day', 'Received', 'Sent', 'Delivered', 'Queued or deferred', 'Bounced', 'Failed'];
    expect(await emails.getByRole('columnheader').allInnerTexts()).toEqual(columns);
    expect(await emails.getByRole('row').last().getByRole('cell').allInnerTexts()).toEqual([
      '1',
      '0',
      '0',
      '0',
      '0',
      '0',
    ]);
    // Its axis goes to the largest value, and its bars up to there.
    await emails.getByText('1', { exact: true }).first().waitFor();
    // What a rate is a share of, on hover.
    await overview.getByText('Webhook success', { exact: true }).hover();
    const definition = overview.getByRole('tooltip').getByText('Share of attempted deliveries');
    await definition.waitFor();
    await overview.mouse.move(0, 0);
    await definition.waitFor({ state: 'detached' });
    const times = overview.getByRole('slider', { name: 'Webhook time per day, values' });
    await times.press('End');
    await overview.getByText(/: half within \d+ ms, 95 % within \d+ ms, of 1 delivery$/).waitFor();
    expect(await findViolations(overview)).toEqual([]);
    await overview.getByRole('region', { name: 'Deliverability by domain' }).waitFor();
    const idle = await stage.open(await stage.account());
    await idle.page.goto(`${stage.url}/`);
    await idle.page.getByText('No webhook was posted in this period.').waitFor();
    await idle.close();
    await overview.close();

    receiver.respond([
      {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"taken":true,"actions":[{"type":"label","name":"orders"},{"type":"read"}]}',
      },
    ]);
    await delivery.getByRole('button', { name: 'Retry', exact: true }).click();
    await delivery.first().getByText('webhook 200').waitFor();
    await delivery.first().getByText('"taken": true').waitFor();
    const actions = delivery.first().getByRole('group', { name: /^Actions of delivery \d$/ });
    await actions.getByText('label, done: Labeled “orders”.').waitFor();
    await actions.getByText('read, done: Marked as read.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(receiver.requests.at(-1)?.body).toContain('An order');

    // Each of the other tabs shows its part of the same mail.
    await openTab(page, 'HTML');
    await page.frameLocator('iframe').getByText('482913').waitFor();
    const innerWidth = () =>
      page
        .frameLocator('iframe')
        .locator('html')
        .evaluate(() => window.innerWidth);
    await expect.poll(innerWidth).toBeGreaterThan(800);
    await page.getByText('Tablet', { exact: true }).click();
    await page.getByText('768 pixels wide').waitFor();
    await expect.poll(innerWidth).toBe(768);
    await page.getByText('Phone', { exact: true }).click();
    await expect.poll(innerWidth).toBe(375);
    await openTab(page, 'Text');
    await page.getByRole('region', { name: 'Plain text' }).getByText('Your code is 482913.').waitFor();
    await openTab(page, 'Raw');
    await page.getByRole('region', { name: 'Raw source' }).getByText('Subject: An order').waitFor();
    await openTab(page, 'Headers');
    await page.getByLabel('Filter header fields').fill('subject');
    await page.getByRole('cell', { name: 'An order' }).waitFor();
    await openTab(page, 'Checks');
    await page.getByText('1 error and 1 warning.').waitFor();
    const issues = page.getByRole('list', { name: 'Issues' }).getByRole('listitem');
    await issues.first().getByText('Link without a scheme').waitFor();
    await issues.last().getByText('Not supported: Outlook (Windows), GMX (web).').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await openTab(page, 'Attachments (3)');
    await page.getByRole('button', { name: 'Preview order.csv' }).click();
    await page.getByRole('region', { name: 'Text of order.csv' }).getByText('1,2').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    const opener = page.getByRole('button', { name: 'Preview order.csv' });
    await expect.poll(() => opener.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Preview photo.png' }).click();
    const photo = page.getByRole('img', { name: 'photo.png' });
    await expect.poll(() => photo.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    await page.getByRole('button', { name: 'Close preview' }).click();
    await page.getByRole('button', { name: 'Preview bill.pdf' }).click();
    const pdf = page.getByRole('link', { name: 'Open PDF in a new tab' });
    expect(await pdf.getAttribute('href')).toMatch(/\/attachments\/2\/preview$/);
    await page.getByRole('button', { name: 'Close preview' }).click();
    const archive = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download all' }).click();
    expect((await archive).suggestedFilename()).toMatch(/-attachments\.zip$/);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: /^order\.csv/ }).click();
    expect((await download).suggestedFilename()).toBe('order.csv');
    await openTab(page, 'Authentication');
    await page.getByRole('region', { name: 'DMARC' }).getByText('none', { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await openTab(page, 'Routing');
    await page.getByRole('tabpanel').getByRole('link', { name: 'Orders' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('mail is filtered by search and filters in the URL, and a button loads more', async () => {
    const account = await stage.account();
    for (let n = 1; n <= 3; n++) await stage.mail({ to: account.address, subject: `Alpha ${n}`, text: 'One.' });
    await change(
      account,
      'sendEmail',
      { from: account.address, to: ['joe@activity.test'], subject: 'Beta', text: 'Two.' },
      '... on SendEmailPayload { email { id } }',
    );
    const { page, complaints, close } = await open(account, '/activity?direction=received');
    const list = page.getByRole('list', { name: 'Emails' });
    await list.getByText('Alpha 3').waitFor();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(3);
    await page.getByLabel('Direction').selectOption('Sent');
    await list.getByText('Beta').waitFor();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await expect.poll(() => new URL(page.url()).search).toBe('?direction=sent');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(4);
    await page.getByRole('searchbox', { name: 'Search all emails' }).fill('subject:alpha -3');
    await page.keyboard.press('Enter');
    await expect.poll(() => list.getByRole('listitem').count()).toBe(2);
    await page.reload();
    await list.getByText('Alpha 1').waitFor();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(2);
    await page.goBack();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(4);
    await page.goto(`${stage.url}/activity?q=nothing-like-it`);
    await page.getByRole('heading', { name: 'No matching emails' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('the reply of a server to sent mail is shown, and deferred mail is retried at once on request', async () => {
    const account = await stage.account();
    let isAwake = false;
    sink.respond({
      rcpt: (address) => {
        if (address.startsWith('gone')) return '550 5.1.1 No such user here';
        return address.startsWith('slow') && !isAwake ? '451 4.7.1 Greylisted, come back later' : undefined;
      },
    });
    const to = ['gone@activity.test', 'joe@activity.test'];
    const send = (subject: string, whom: string[]) =>
      change(
        account,
        'sendEmail',
        { from: account.address, to: whom, subject, text: 'Hello.' },
        '... on SendEmailPayload { email { id } }',
      );
    const { email: refused } = await send('Refused', to);
    await send('Put off', ['slow@activity.test']);

    const { page, complaints, close } = await open(account, `/emails/${refused.id}?tab=recipients`);
    const gone = page.getByRole('region', { name: 'gone@activity.test' });
    await gone.getByText('550 5.1.1 No such user here').waitFor();
    await gone.getByText('mx.activity.test').waitFor();
    await gone.getByText('The address does not exist. Check the address for typos').waitFor();
    await gone.getByText('bounced', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'joe@activity.test' }).getByText('delivered', { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);

    await page.goto(`${stage.url}/held?tab=deferred`);
    const row = page.getByRole('listitem').filter({ hasText: 'Put off' });
    await row.getByText('451 4.7.1 Greylisted, come back later').waitFor();
    await page.getByRole('tab', { name: 'Deferred 1' }).waitFor();
    expect(await findViolations(page)).toEqual([]);

    // The overview counts both by their domain, and leads to the emails. A complaint arrives.
    await stage.database.pool.query(
      `update recipient set complained_at = now() where workspace_id = $1 and address = 'joe@activity.test'`,
      [account.workspaceId],
    );
    for (const [label, subject] of [
      ['Deferred: 1', 'Put off'],
      ['Complaints: 1', 'Refused'],
    ]) {
      await page.goto(`${stage.url}/?period=week`);
      await page.getByRole('link', { name: `${account.domain}, ${label}` }).click();
      const found = page.getByRole('list', { name: 'Emails' }).getByRole('listitem');
      await found.filter({ hasText: subject ?? '' }).waitFor();
      expect([await found.count(), new URL(page.url()).searchParams.get('time')]).toEqual([1, 'week']);
    }
    expect(await findViolations(page)).toEqual([]);
    await page.goto(`${stage.url}/held?tab=deferred`);
    isAwake = true;
    await row.getByRole('button', { name: 'Retry now: “Put off”' }).click();
    await page.getByRole('heading', { name: 'No deferred emails' }).waitFor();
    await page.getByRole('tab', { name: 'Deferred 0' }).waitFor();

    await page.getByRole('tab', { name: 'Bounced 1' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Refused' }).getByText('No such user here').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('blocked mail is released one by one or all, and is routed', async () => {
    const account = await stage.account();
    await leadTo(account, 'Hook', '/released');
    const given = {
      name: 'No pills',
      type: 'EXPLICIT',
      config: { subject: { values: ['pills'] } },
      action: { action: 'BLOCK' },
    };
    await change(account, 'createGuardRule', given, '... on CreateGuardRulePayload { guardRule { id } }');
    const { page, complaints, close } = await open(account, '/held');
    await page.getByRole('heading', { name: 'No held emails' }).waitFor();
    for (let n = 1; n <= 3; n++) await stage.mail({ to: account.address, subject: `Cheap pills ${n}`, text: 'Buy.' });
    await page.getByRole('tab', { name: 'Held 3' }).waitFor();
    const row = page.getByRole('listitem').filter({ hasText: 'Cheap pills 2' });
    await row.getByRole('link', { name: 'No pills' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await row.getByRole('button', { name: 'Release “Cheap pills 2”' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Held 2' }).waitFor();

    await page.getByRole('button', { name: 'Release all 2 shown' }).click();
    await page.getByRole('button', { name: 'Release emails' }).click();
    await page.getByText('2 of 2 released. Done.').waitFor();
    await page.getByRole('heading', { name: 'No held emails' }).waitFor();
    await receiver.until((all) => all.filter(({ path }) => path === '/released').length === 3);
    expect(complaints).toEqual([]);
    await close();
  });

  test('spam is listed with its reason, and returns to the inbox when a member says so', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lunch', text: 'At noon?' });
    const listed = await account.graphql('{ emails(first: 1) { edges { node { id } } } }');
    const emailId: string = listed.body.data.emails.edges[0].node.id;
    await change(account, 'markSpam', { emailId }, '... on MarkSpamPayload { isChanged }');
    const { page, complaints, close } = await open(account, '/held?tab=spam');
    await page.getByRole('tab', { name: 'Spam 1' }).waitFor();
    const row = page.getByRole('listitem').filter({ hasText: 'Lunch' });
    await row.getByText('A member marked it as spam.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    const folder = process.env['SCREENSHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/spam.png`, fullPage: true });
    await row.getByRole('button', { name: '“Lunch” is not spam' }).click();
    await page.getByRole('heading', { name: 'No spam' }).waitFor();
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Lunch').first().waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('reprocessing shows its changes before it makes them', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Stored', text: 'Nowhere to go yet.' });
    const { page, complaints, close } = await open(account, '/activity');
    await page.getByRole('link', { name: 'Stored' }).click();
    await page.getByRole('heading', { level: 1, name: 'Stored' }).waitFor();
    await leadTo(account, 'Later', '/later');
    await page.getByRole('button', { name: 'Reprocess' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Preview changes' }).click();
    await dialog.getByText('It would be delivered to “Later”.').waitFor();
    await dialog.getByText(/fields? would change/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(receiver.requests.filter(({ path }) => path === '/later')).toEqual([]);
    await dialog.getByRole('button', { name: 'Reprocess email' }).click();
    await dialog.getByText('It is being delivered to “Later”.').waitFor();
    await receiver.until((all) => all.some(({ path }) => path === '/later'));
    await page.keyboard.press('Escape');
    await openTab(page, 'Deliveries');
    await page.getByRole('region', { name: 'Delivery 1 to Later' }).getByText('webhook 200').waitFor();
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByText('received, archived').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('another account’s email is not found, and all pages are accessible in dark colors and on a phone', async () => {
    const [owner, stranger] = [await stage.account(), await stage.account()];
    await stage.mail({ to: owner.address, subject: 'Private', text: 'Mine.' });
    const mine = await open(owner, '/activity');
    await mine.page.getByRole('link', { name: 'Private' }).click();
    await mine.page.getByRole('heading', { level: 1, name: 'Private' }).waitFor();
    const path = new URL(mine.page.url()).pathname;
    const { page, close, complaints } = await open(stranger, path);
    await page.getByRole('heading', { name: 'Email not found' }).waitFor();
    expect(await page.getByText('Private').count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
    await mine.close();

    const dark = await open(owner, '/activity', { colorScheme: 'dark', viewport: { width: 390, height: 844 } });
    for (const shown of ['/activity', path, `${path}?tab=routing`, '/held']) {
      await dark.page.goto(stage.url + shown);
      await dark.page.getByRole('heading', { level: 1 }).waitFor();
      await expect
        .poll(() =>
          dark.page
            .getByRole('status')
            .filter({ hasText: /oading/ })
            .count(),
        )
        .toBe(0);
      expect(await findViolations(dark.page), shown).toEqual([]);
      const overflow = await dark.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(overflow, shown).toBeLessThanOrEqual(0);
    }
    await dark.close();
  });
});
