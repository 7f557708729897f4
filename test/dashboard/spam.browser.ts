import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../db/connection/database.ts';
import { createAccount } from '../../db/queries/accounts/account.ts';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { EICAR, startVirusScanner } from '../support/servers/scanners.ts';
import { Service } from '../support/servers/service.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('spam in the dashboard', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('a message is marked as spam in its menu, and comes back with Not spam', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Cheap pills', text: 'Buy now' });
    const list = async (query: string) =>
      (await account.call('GET', `/emails?type=received&${query}`)).body.data as { id: string; thread_id: string }[];
    await expect.poll(async () => (await list('')).length, { timeout: 60_000 }).toBe(1);
    const tab = await stage.open(account);
    const { page } = tab;
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Cheap pills').first().click();
    await page.getByRole('button', { name: 'Actions for the message from Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'Mark as spam' }).click();
    await expect.poll(async () => (await list('spam=only')).length, { timeout: 30_000 }).toBe(1);
    expect(await list('')).toEqual([]);
    await page.goto(`${stage.url}/held`);
    await page.getByRole('tab', { name: /Spam/ }).click();
    const row = page.getByRole('list', { name: 'Spam' }).getByRole('listitem');
    await row.getByText('A member marked it as spam.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await row.getByRole('button', { name: '“Cheap pills” is not spam' }).click();
    await expect.poll(async () => (await list('')).length, { timeout: 30_000 }).toBe(1);
    await expect.poll(() => row.count(), { timeout: 30_000 }).toBe(0);
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Cheap pills').first().waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('an email is marked as spam on its page, and comes back with Not spam there', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Cheap watches', text: 'Buy now' });
    const list = async (query: string) =>
      (await account.call('GET', `/emails?type=received&${query}`)).body.data as { id: string }[];
    await expect.poll(async () => (await list('')).length, { timeout: 60_000 }).toBe(1);
    const [email] = await list('');
    const tab = await stage.open(account);
    const { page } = tab;
    await page.goto(`${stage.url}/emails/${email?.id}`);
    const actions = page.getByRole('group', { name: 'Actions' });
    await actions.getByRole('button', { name: 'Spam', exact: true }).click();
    await actions.getByRole('button', { name: 'is not spam' }).waitFor();
    expect(await list('')).toEqual([]);
    await page.getByRole('region', { name: 'Email' }).getByRole('status').getByText('spam').waitFor();
    expect(await actions.getByRole('button', { name: 'Deliver again' }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await actions.getByRole('button', { name: 'is not spam' }).click();
    await actions.getByRole('button', { name: 'Spam', exact: true }).waitFor();
    await expect.poll(async () => (await list('')).length, { timeout: 30_000 }).toBe(1);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('an email with a virus offers no reply, and its download to owners only, after a warning', async () => {
    const viruses = await startVirusScanner();
    onTestFinished(() => viruses.stop());
    const { host, port } = viruses.address;
    const service = await Service.start('single', {
      environment: { CLAMD_ADDRESS: `${host}:${port}`, VIRUS_ACTION: 'quarantine' },
    });
    const database = openDatabase({
      url: await service.databaseUrl(),
      role: null,
      poolSize: 1,
      applicationName: 'test',
      onError: () => undefined,
    });
    onTestFinished(() => database.close());
    const account = await service.createAccount();
    const to = `hello@${account.domain}`;
    await account.call('POST', '/email-addresses', { address: to, domainId: account.domainId });
    const transport = createTransport({ host: '127.0.0.1', port: service.smtpPort, secure: false, ignoreTLS: true });
    await transport.sendMail({ from: 'ann@elsewhere.test', to, subject: 'Invoice', text: EICAR });
    transport.close();
    const list = async () => (await account.call('GET', '/emails?spam=only')).body.data as { id: string }[];
    await expect.poll(async () => (await list()).length, { timeout: 60_000 }).toBe(1);
    const [email] = await list();
    const url = service.url.replace('127.0.0.1', 'localhost');
    const tab = await stage.open(account, { at: { url, database } });
    const { page } = tab;
    await page.goto(`${url}/held?tab=spam`);
    await page.getByRole('link', { name: 'Invoice' }).click();
    const note = page.getByRole('alert').filter({ hasText: 'In quarantine: Eicar-Signature.UNOFFICIAL' });
    await note.waitFor();
    expect(await page.getByRole('tab').allInnerTexts()).toEqual([
      'Timeline',
      'Headers',
      'Authentication',
      'Routing',
      'Deliveries',
    ]);
    expect(await page.getByRole('button', { name: /Reply|Forward|Deliver again|Reprocess|spam/ }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await note.getByRole('button', { name: 'Download' }).click();
    const dialog = page.getByRole('dialog', { name: 'Download an email with a virus?' });
    await dialog.getByText('can harm the computer').waitFor();
    expect(await findViolations(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download the virus' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${email?.id}.infected`);
    await dialog.waitFor({ state: 'detached' });

    expect(tab.complaints).toEqual([]);
    await tab.close();

    const admin = await createAccount(database, { email: 'bo@x.test', password: null, apiKey: null, mailbox: null });
    if (!('workspaceId' in admin)) throw new Error(admin.outcome);
    const member = [account.workspaceId, admin.workspaceId];
    await database.pool.query(
      "insert into workspace_member (workspace_id, person_id, role) values ($1, $2, 'admin')",
      member,
    );
    const other = await stage.open(null);
    const post = (path: string, data: object) =>
      other.context.request.post(`${url}/api/auth${path}`, { data, headers: { origin: url } });
    await post('/sign-in/link', { token: await makeSignInLink(database, 'bo@x.test') });
    expect((await post('/switch-workspace', { workspaceId: account.workspaceId })).status()).toBe(200);
    await other.page.goto(`${url}/emails/${email?.id}`);
    const seen = other.page.getByRole('alert').filter({ hasText: 'In quarantine' });
    await seen.waitFor();
    expect(await seen.getByRole('button', { name: 'Download' }).count()).toBe(0);
    await other.close();
    await service.stop();
  });
});
