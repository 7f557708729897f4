import pg from 'pg';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { DnsServer } from '../support/servers/dns.ts';
import { openTestGateway } from '../support/servers/gateway.ts';
import { findColorViolations, findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

/** Domains of this file that are looked up in DNS. */
const APEXES = ['wizard.test', 'waiting.test', 'gone.test'];

let zones: Map<string, Pick<DnsServer, 'set'>>;
let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('domains, addresses and suppressions', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    zones = new Map(APEXES.map((apex) => [apex, stage.service.openZone(apex)]));
  });
  afterAll(() => stage?.close());

  test('a new user adds a domain, creates an address and sees a mail arrive', async () => {
    const tab = await openTab(await emptyAccount());
    const { page } = tab;
    await page.goto(`${stage.url}/domains`);
    await page.getByText('No domains yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('main').getByRole('link', { name: 'Add domain' }).first().click();

    const name = page.getByRole('textbox', { name: 'Domain' });
    await name.fill('hello@wizard.test');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('Enter only the part after the @').waitFor();
    await expectAccessible(page);
    await name.fill('Wizard.test');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('Publish these records').waitFor();
    await expect.poll(() => page.getByText('not found', { exact: true }).count()).toBe(7);
    await expectAccessible(page);

    const records = await copyRecords(page);
    expect(records.map(({ type, host }) => `${type} ${host}`).toSorted()).toEqual([
      expect.stringMatching(/^MX mail\.wizard\.test$/),
      expect.stringMatching(/^MX wizard\.test$/),
      expect.stringMatching(/^TXT _dmarc\.wizard\.test$/),
      expect.stringMatching(/^TXT _postroom\.wizard\.test$/),
      expect.stringMatching(/^TXT mail\.wizard\.test$/),
      expect.stringMatching(/^TXT pr.*\._domainkey\.wizard\.test$/),
      expect.stringMatching(/^TXT wizard\.test$/),
    ]);
    zones.get('wizard.test')?.set('wizard.test', 'MX', [{ preference: 5, exchange: 'mx.others.test' }]);
    zones.get('wizard.test')?.set('_postroom.wizard.test', 'TXT', ['postroom-verification=somebody-else']);
    await page.getByRole('button', { name: 'Check records' }).first().click();
    await page.getByText('Found instead: postroom-verification=somebody-else').waitFor();
    await page.getByText('Found instead: 5 mx.others.test').waitFor();
    await page.getByText('Conflicting DNS records').waitFor();
    await expectAccessible(page);

    await page.evaluate(() => document.body.setAttribute('data-not-reloaded', ''));
    publish(records);
    await page.getByRole('button', { name: 'Check DNS' }).click();
    await page.getByText('wizard.test is verified').waitFor();
    await page.getByText('7 of 7 records found').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Continue' }).click();

    await page.getByRole('textbox', { name: 'Address' }).fill('hello');
    await page.getByRole('button', { name: 'Create address' }).click();
    const drawer = page.getByRole('dialog', { name: 'hello@wizard.test' });
    await drawer.getByRole('combobox', { name: 'Test email' }).selectOption('ONE_TIME_CODE');
    await drawer.getByRole('button', { name: 'Send test email' }).click();
    await drawer.getByText('The test email arrived').waitFor();
    await drawer.getByText('1 email in 24 h').waitFor();
    await expect.poll(() => drawer.getByText('swaks --server').textContent()).toContain(`:${stage.service.smtpPort} `);
    await expectAccessible(page);
    expect(await page.locator('[data-not-reloaded]').count()).toBe(1);
    const mail = drawer.getByRole('link', { name: 'Open email' });
    await expect.poll(() => mail.getAttribute('href')).toMatch(/^\/emails\/em_/);

    await drawer.getByRole('switch', { name: 'Receive mail' }).click();
    await drawer.getByText('Mail to the address is rejected (550)').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await page.getByText('off', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search addresses' }).fill('nobody');
    await page.getByText('No matching addresses').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('nobody');
    await page.getByRole('button', { name: 'Show all addresses' }).click();
    await page.getByRole('link', { name: 'hello@wizard.test' }).click();
    await page.getByRole('button', { name: 'Delete address' }).click();
    const question = page.getByRole('dialog', { name: 'Delete hello@wizard.test?' });
    await question.getByRole('button', { name: 'Delete address' }).click();
    await page.getByText('No addresses yet').waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('a server with a local name warns before its records are published, and gives each account a name of its own', async () => {
    const port = await freePort();
    const gateway = await openTestGateway({
      config: {
        publicUrl: `http://localhost:${port}`,
        mailHostname: 'localhost',
        trustedDomains: ['inbox.test', '*.inbox.test'],
      },
    });
    await gateway.app.listen({ port, host: '127.0.0.1' });
    await gateway.mailbox({ domain: 'inbox.test' });
    const { apiKey } = await gateway.mailbox({ domain: 'second.test' });
    const url = `http://localhost:${port}`;
    const tab = await openTab({ apiKey }, { at: { url, database: gateway.owner } });
    const { page } = tab;
    await page.goto(`${url}/domains?new`);
    await page.getByRole('textbox', { name: 'Domain' }).fill('inbox.test');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText(/Another account has inbox\.test\. Use [a-z0-9-]+\.inbox\.test, which is free/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Use .*\.inbox\.test/ }).click();
    await page.getByText('This service trusts the domain').waitFor();
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText(/\.inbox\.test is verified/).waitFor();

    await page.goto(`${url}/domains?new`);
    await page.getByRole('textbox', { name: 'Domain' }).fill('real.example');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('Do not publish these records yet').waitFor();
    await page.getByText('MAIL_HOSTNAME=mx.example.com').waitFor();
    expect(await page.getByRole('button', { name: /^Copy/ }).count()).toBe(0);
    const orders = () => page.getByText(/publish (?:these|the) records/i).allInnerTexts();
    expect(await orders()).toEqual(['Do not publish these records yet']);
    await expectAccessible(page);
    // On a phone, the command scrolls, and nothing of the warning is cut off.
    await page.setViewportSize({ width: 390, height: 844 });
    const warning = await page.getByText('which no other mail server can reach').boundingBox();
    expect((warning?.x ?? 0) + (warning?.width ?? 390)).toBeLessThan(390);
    await page.goto(`${url}/domains`);
    await page.getByRole('link', { name: 'real.example' }).click();
    await page.getByText('Waiting for DNS records').waitFor();
    await page.getByText('Do not publish these records yet').waitFor();
    expect(await orders()).toEqual(['Do not publish these records yet']);
    await tab.close();
    await gateway.close();
  });

  test('a domain becomes verified on the page while it is shown', async () => {
    const account = await emptyAccount();
    const { body: domain } = await account.call('POST', '/domains', { domain: 'waiting.test' });
    const tab = await openTab(account);
    const { page } = tab;
    await page.goto(`${stage.url}/domains/${domain.id}`);
    await page.getByText('Waiting for DNS records').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate(() => document.body.setAttribute('data-not-reloaded', ''));
    publish(await copyRecords(page));
    await expireNextLook(domain.id);
    await page.getByText('7 of 7 records found').waitFor();
    await page.getByText('receives', { exact: true }).waitFor();
    expect(await page.locator('[data-not-reloaded]').count()).toBe(1);

    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click();
    await page.getByText('waiting for its record', { exact: true }).waitFor();
    await page.getByText('7 of 8 records found').waitFor();
    publish(await copyRecords(page));
    await page.getByRole('button', { name: 'Check DNS' }).click();
    await page.getByText('8 of 8 records found').waitFor();
    await page.getByText('replaced', { exact: true }).waitFor();
    await expectAccessible(page);

    await page.goto(`${stage.url}/domains`);
    await page.getByRole('button', { name: 'Check all' }).click();
    await page.getByText('Done: 1 of 1 domains checked, 1 verified').waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('a domain with subdomains cannot be deleted; without them it is deleted when its name is typed', async () => {
    const account = await stage.account();
    const { body: below } = await account.call('POST', '/domains', { domain: `sub.${account.domain}` });
    const { body: endpoint, status } = await account.call('POST', '/endpoints', {
      name: 'Desk',
      type: 'webhook',
      config: { url: 'http://127.0.0.1:7999/desk' },
    });
    expect(status).toBe(201);
    const tab = await openTab(account);
    const { page } = tab;
    await page.goto(`${stage.url}/domains/${account.domainId}`);
    await page.getByPlaceholder('Choose an endpoint').click();
    await page.getByRole('option', { name: 'Desk' }).click();
    await page.getByRole('button', { name: 'Turn on catch-all' }).click();
    await page.getByText('is delivered to Desk').waitFor();
    const { body: changed } = await account.call('GET', `/domains/${account.domainId}`);
    expect(changed).toMatchObject({ isCatchAllEnabled: true, catchAllEndpointId: endpoint.id });

    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Delete them first').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('link', { name: `sub.${account.domain}` }).click();
    await page.getByRole('heading', { level: 1, name: `sub.${account.domain}` }).waitFor();
    await deleteDomain(page, `sub.${account.domain}`, '0 addresses');
    await page.getByRole('link', { name: account.domain, exact: true }).click();
    await deleteDomain(page, account.domain, '1 address');
    await page.getByText('No domains yet').waitFor();
    expect((await account.call('GET', `/domains/${below.id}`)).status).toBe(404);
    expect((await account.call('GET', '/domains')).body.data).toEqual([]);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('the list of domains counts the mail of 24 hours and of 7 days, with separators of thousands', async () => {
    const account = await stage.account();
    await stage.database.pool.query(
      `insert into email_counter (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived, count)
       select workspace_id, '*', grain, date_trunc(grain, now() - interval '3 days', 'UTC'), name, 'received', 'received', false, false, 2040
       from domain, unnest(array['hour', 'day']) grain where id = $1`,
      [account.domainId],
    );
    const tab = await openTab(account);
    await tab.page.goto(`${stage.url}/domains`);
    await tab.page.getByText('1 address, 0 emails in 24 h, 2,040 in 7 days', { exact: true }).waitFor();
    await tab.close();
  });

  test('a suppressed address shows the reason, and can be removed', async () => {
    const account = await stage.account();
    const tab = await openTab(account);
    const { page } = tab;
    await page.goto(`${stage.url}/suppressions`);
    await page.getByText('No suppressions yet').waitFor();
    await expectAccessible(page);
    await page.getByText('Live', { exact: true }).waitFor();
    await bounce(account, 'bob@gone.test', 'Your <b>order</b>');
    await page.getByText('Bounced: the server permanently refused mail').waitFor();
    const bounced = page.getByRole('link', { name: 'Your <b>order</b>' });
    await expect.poll(() => bounced.getAttribute('href')).toMatch(/^\/emails\//);

    await page.getByRole('button', { name: 'Suppress address' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Address' }).fill('nobody');
    await dialog.getByRole('button', { name: 'Suppress address' }).click();
    await dialog.getByText('Enter a complete address').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('textbox', { name: 'Address' }).fill('Eve@Example.com');
    await dialog.getByRole('textbox', { name: 'Note' }).fill('asked by phone');
    await dialog.getByRole('button', { name: 'Suppress address' }).click();
    await page.getByText('eve@example.com').waitFor();
    await page.getByText('asked by phone').waitFor();
    await expectAccessible(page);

    await page.getByRole('searchbox', { name: 'Search suppressions' }).fill('bob@');
    await page.getByText('eve@example.com').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Remove suppression of bob@gone.test' }).click();
    await page.getByText('If the address still does not exist').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }).click();
    await page.getByText('No matching suppressions').waitFor();
    expect((await account.call('GET', '/suppressions')).body.data).toMatchObject([{ address: 'eve@example.com' }]);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('a reply address is created with metadata, counts its mail, and is revoked', async () => {
    const account = await stage.account();
    const tab = await openTab(account);
    const { page } = tab;
    await page.goto(`${stage.url}/addresses`);
    await page.getByRole('tab', { name: 'Reply addresses' }).click();
    await page.getByText('No reply addresses yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create reply address' }).last().click();
    const form = page.getByRole('dialog', { name: 'Create reply address' });
    const create = form.getByRole('button', { name: 'Create reply address' });
    await form.getByRole('combobox', { name: 'Deliver to' }).fill(account.address);
    await form.getByRole('textbox', { name: 'Metadata' }).fill('{ "order": }');
    await create.click();
    await form.getByText('This is not valid JSON').waitFor();
    await form.getByRole('textbox', { name: 'Metadata' }).fill('["order"]');
    await create.click();
    await form.getByText('Enter a JSON object').waitFor();
    await form.getByRole('textbox', { name: 'Metadata' }).fill('{ "order": 4711 }');
    await form.getByRole('combobox', { name: 'Senders' }).fill('ada@sender.test');
    await page.keyboard.press('Enter');
    await form.getByRole('textbox', { name: 'Maximum messages' }).fill('5');
    await form.getByRole('combobox', { name: 'Expiry' }).click();
    await page.getByRole('option', { name: 'In 30 days' }).click();
    await form.getByRole('textbox', { name: 'Thread ID' }).fill('th_none');
    await create.click();
    await form.getByText('Thread not found').waitFor();
    await form.getByRole('textbox', { name: 'Thread ID' }).fill('');
    await expectAccessible(page);
    await create.click();

    const row = page.getByRole('list', { name: 'Reply addresses' }).getByRole('listitem');
    await row.getByText('0 of 5 messages used').waitFor();
    await row.getByText('{"order":4711}').waitFor();
    await row.getByText(`Only ada@sender.test may write; delivered to ${account.address}`).waitFor();
    const { body } = await account.call('GET', '/reply-addresses');
    expect(body.data).toMatchObject([{ metadata: { order: 4711 }, max_messages: 5, deliver_to: account.address }]);
    await stage.mail({ from: 'ada@sender.test', to: body.data[0].address, subject: 'An answer', text: 'Yes.' });
    await row.getByText('1 of 5 messages used').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await row.getByRole('button', { name: `Revoke ${body.data[0].address}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke reply address' }).click();
    await row.getByText('revoked', { exact: true }).waitFor();
    expect((await account.call('GET', '/reply-addresses')).body.data).toMatchObject([{ status: 'revoked' }]);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('the domain of another user is not found, also on a phone', async () => {
    const owner = await stage.account();
    const { body: addresses } = await owner.call('GET', '/email-addresses');
    const tab = await openTab(await stage.account(), { viewport: { width: 390, height: 844 } });
    const { page } = tab;
    await page.goto(`${stage.url}/domains/${owner.domainId}`);
    await page.getByText('Domain not found').waitFor();
    await page.goto(`${stage.url}/domains?new=${owner.domainId}&step=check`);
    await page.getByText('Domain not found').waitFor();
    await page.goto(`${stage.url}/addresses?address=${addresses.data[0].id}`);
    await page.getByText('Address not found').waitFor();
    expect(await page.content()).not.toContain(owner.domain);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /^hello@/ }).click();
    await page.getByRole('button', { name: 'Send test email' }).waitFor();
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});

type Account = Awaited<ReturnType<BrowserStage['account']>>;

/** An account without a domain. */
async function emptyAccount() {
  const account = await stage.service.createAccount();
  await account.call('DELETE', `/domains/${account.domainId}`);
  return account;
}

async function openTab(account: Parameters<BrowserStage['open']>[0], options?: Parameters<BrowserStage['open']>[1]) {
  const tab = await stage.open(account, options);
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return tab;
}

/** In light and dark; leaves the page light. */
async function expectAccessible(page: Page): Promise<void> {
  for (const [colorScheme, find] of [
    ['dark', findColorViolations],
    ['light', findViolations],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    expect(await find(page)).toEqual([]);
  }
}

interface ZoneLine {
  host: string;
  type: string;
  data: string;
}

/** The records as "Copy zone file" hands them out. */
async function copyRecords(page: Page): Promise<ZoneLine[]> {
  await page.getByRole('button', { name: 'Copy zone file' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const zone = await page.evaluate(() => navigator.clipboard.readText());
  return zone.split('\n').map((line) => {
    const [host = '', , , type = '', data = ''] = line.split('\t');
    return { host: host.replace(/\.$/, ''), type, data };
  });
}

/** Puts exactly these records into DNS. */
function publish(records: readonly ZoneLine[]): void {
  for (const { host, type } of records) {
    const data = records.filter((record) => record.host === host && record.type === type).map((record) => record.data);
    const zone = zones.get(APEXES.find((apex) => host === apex || host.endsWith(`.${apex}`)) ?? '');
    zone?.set(host, type, type === 'MX' ? data.map(toMx) : data.map(toText));
  }
}

function toMx(data: string): { preference: number; exchange: string } {
  const [preference = '', exchange = ''] = data.split(' ');
  return { preference: Number(preference), exchange: exchange.replace(/\.$/, '') };
}

/** The strings of a TXT record in one. */
function toText(data: string): string {
  return [...data.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1')).join('');
}

/** The next look of the background is a minute away; lets it be due. */
async function expireNextLook(domainId: string): Promise<void> {
  const database = new pg.Client(await stage.service.databaseUrl());
  await database.connect();
  await database.query('update domain set check_due_at = now() where id = $1', [domainId]);
  await database.end();
}

async function deleteDomain(page: Page, name: string, what: string): Promise<void> {
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog: Locator = page.getByRole('dialog', { name: `Delete ${name}?` });
  await dialog.getByText(what).first().waitFor();
  await dialog.getByRole('textbox').fill(name.slice(0, -1));
  await expect.poll(() => dialog.getByRole('button', { name: 'Delete domain' }).isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill(name);
  await dialog.getByRole('button', { name: 'Delete domain' }).click();
  await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
}

/** Sends a mail, and has it come back. */
async function bounce(account: Account, to: string, subject: string): Promise<void> {
  const sent = await account.call('POST', '/emails', { from: account.address, to: [to], subject, text: 'Hello' });
  const { body } = await account.graphql(
    'mutation ($input: SimulateInboundInput!) { simulateInbound(input: $input) { __typename ... on Error { message } } }',
    { input: { template: 'BOUNCE', emailId: sent.body.id, recipient: to } },
  );
  expect(body.data.simulateInbound.__typename).toBe('SimulateInboundPayload');
}
