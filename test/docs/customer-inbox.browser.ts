import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { repository } from '../support/runner.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { callers } from '../support/servers/service.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { readBlocks } from './page-blocks.ts';

const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;
/** with the page and the product of the guide */
let folder: string;

describe.skipIf(chromiumPath === undefined)('workspaces for customers in the browser', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    folder = await mkdtemp(path.join(tmpdir(), 'postroom-product-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await stage?.close();
  });

  /** Starts the product of the guide for a customer, as the guide says, on another port. Returns its URL. */
  async function startProduct(environment: { KEY: string; WORKSPACE: string }) {
    const blocks = readBlocks(await readFile(path.join(repository, 'docs/workspaces.md'), 'utf8'));
    const port = await freePort();
    for (const [name, language] of [
      ['inbox.html', 'html'],
      ['product.mjs', 'js'],
    ] as const) {
      const found = blocks.filter((block) => block.language === language);
      expect([name, found.length]).toEqual([name, 1]);
      await writeFile(path.join(folder, name), (found[0]?.text ?? '').replaceAll('4000', String(port)));
    }
    const env = { ...process.env, BASE: stage.url, ...environment };
    const started = spawn(process.execPath, ['product.mjs'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const url = `http://localhost:${port}/`;
    const responds = () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(responds).toBe(true);
    return { url, stop: () => stopProgram(started) };
  }

  async function stopProgram(program: ChildProcess): Promise<void> {
    const ended = once(program, 'exit');
    program.kill();
    await ended;
  }

  /** Returns a name that the service trusts and no account has. */
  async function freeDomain(): Promise<string> {
    const account = await stage.service.createAccount();
    const { domain, domainId } = account;
    expect((await account.call('DELETE', `/domains/${domainId}`)).status).toBe(200);
    return domain;
  }

  /** Makes the workspace of a customer with an address that receives mail. */
  async function makeCustomer(parent: Awaited<ReturnType<BrowserStage['account']>>, clientId: string) {
    const made = await parent.call('POST', '/workspaces', { client_id: clientId, name: `Inbox of ${clientId}` });
    const { id } = made.body;
    const key = await parent.call('POST', `/workspaces/${id}/api-keys`, {
      name: clientId,
      scopes: ['read', 'send', 'manage'],
    });
    const { call } = callers(stage.url, key.body.token);
    const domain = await freeDomain();
    const added = await call('POST', '/domains', { domain });
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    const address = `hello@${domain}`;
    const created = await call('POST', '/email-addresses', { address, domain_id: added.body.id });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    return { id, address };
  }

  test(
    'two customers see their own mail on the page that the product of the guide serves, as it comes',
    LIMIT,
    async () => {
      const parent = await stage.account();
      const customers = [await makeCustomer(parent, 'ann'), await makeCustomer(parent, 'bob')];
      for (const { id, address } of customers) {
        await stage.mail({ to: address, subject: `First for ${address}`, text: 'Hello' });
        const product = await startProduct({ KEY: parent.apiKey, WORKSPACE: id });
        const tab = await stage.open(null);
        await tab.page.goto(product.url);
        await tab.page.getByText(`First for ${address}`).waitFor();
        await stage.mail({ to: address, subject: `Live for ${address}`, text: 'Hello' });
        await tab.page.getByText(`Live for ${address}`).waitFor();
        expect(await tab.page.getByRole('listitem').count()).toBe(2);
        expect(tab.complaints).toEqual([]);
        await tab.close();
        await product.stop();
      }
    },
  );

  test('the owner of a product lists, limits, suspends, resumes and deletes workspaces', LIMIT, async () => {
    const parent = await stage.account();
    await makeCustomer(parent, 'carol');
    const { page: shown, complaints } = await stage.open(parent);
    await shown.goto(`${stage.url}/customers`);
    await shown.getByRole('button', { name: 'Create workspace' }).click();
    const dialog = shown.getByRole('dialog', { name: 'Create workspace' });
    await dialog.getByLabel('Customer ID').fill('dave');
    await dialog.getByLabel('Emails per day').fill('5');
    await dialog.getByRole('button', { name: 'Create workspace' }).click();
    const rows = shown.getByRole('list', { name: 'Workspaces of customers' });
    await rows.getByText('Customer dave').waitFor();
    await shown.getByRole('button', { name: 'Usage of dave' }).click();
    await rows.getByText('0 emails of 5 today').waitFor();
    await shown.getByRole('button', { name: 'Quotas of dave' }).click();
    await shown.getByLabel('Stored mail, MB').fill('10');
    await shown.getByRole('button', { name: 'Save quotas' }).click();
    await rows.getByText('of 10 MB').waitFor();
    expect(await findViolations(shown)).toEqual([]);

    await shown.getByRole('button', { name: 'Suspend dave' }).click();
    await shown.getByRole('button', { name: 'Suspend workspace' }).click();
    await shown.getByRole('button', { name: 'Resume dave' }).click();
    await shown.getByRole('button', { name: 'Suspend dave' }).waitFor();
    await shown.getByRole('button', { name: 'Delete Inbox of carol' }).click();
    await shown.getByRole('button', { name: 'Delete workspace' }).click();
    await rows.getByText('being deleted').waitFor();
    // Until its data is erased.
    await rows.getByText('Customer carol').waitFor({ state: 'detached' });
    await rows.getByText('Customer dave').waitFor();
    expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);
  });

  test('the audit log shows what the owner did to a workspace, filters by it, and exports it', LIMIT, async () => {
    const parent = await stage.account();
    const { id } = await makeCustomer(parent, 'erin');
    await parent.call('PATCH', `/workspaces/${id}`, { is_suspended: true });
    const { page: shown, context, complaints } = await stage.open(parent);
    await shown.goto(`${stage.url}/audit`);
    await shown.getByText('customer_workspace.suspended').first().waitFor();
    await shown.goto(`${stage.url}/audit?id=${id}`);
    await shown.getByText('customer_workspace.created').first().waitFor();
    await expect.poll(() => shown.getByText('session.created').count()).toBe(0);
    const href = await shown.getByRole('link', { name: 'Export' }).getAttribute('href');
    const exported = await context.request.get(`${stage.url}${href}`);
    const lines = (await exported.text()).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).object_id)).toEqual(lines.map(() => id));
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(await findViolations(shown)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
