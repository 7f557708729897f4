import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../support/cluster/cluster.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { chromiumPath } from '../../support/servers/chromium.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectBrowser } from '../../support/servers/shared-browser.ts';
import { findColorViolations, findViolations } from '../../support/stages/axe.ts';

let gateway: TestGateway;
let box: TestMailbox;
let url: string;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  gateway = await openTestGateway({ config: { publicUrl: url } });
  box = await gateway.mailbox();
  await gateway.app.listen({ port, host: '127.0.0.1' });
});
afterAll(() => gateway.close());

test('browsers get the page without a key, and API clients get 401', async () => {
  const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';");
  expect((await fetch(`${url}/graphql`)).status).toBe(401);
  const query = await fetch(`${url}/graphql?query={viewer{id}}`, { headers: { accept: 'text/html' } });
  expect(query.status).toBe(401);
});

test('the parts of the page are sent compressed, and not again while they are unchanged', async () => {
  const file = `${url}/graphql/explorer/graphiql.js`;
  const first = await fetch(file, { headers: { 'accept-encoding': 'gzip' } });
  expect([first.status, first.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  expect((await first.text()).length).toBeGreaterThan(1_000_000);
  const again = await fetch(file, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
  expect((await fetch(`${url}/graphql/explorer/other.js`)).status).toBe(404);
});

describe.skipIf(chromiumPath === undefined)('in Chromium, the explorer', () => {
  let browser: Browser;
  let page: Page;
  const requested: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await connectBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme: 'light' });
    // For hangs, not for slowness.
    page.setDefaultTimeout(120_000);
    page.on('request', (request) => void requested.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => void complaints.push(String(error)));
  });
  afterAll(() => browser?.close());

  test('asks for a key', async () => {
    await page.goto(`${url}/graphql`);
    await page.waitForFunction(() => document.querySelector('#key-state')?.textContent === 'not signed in');
    expect(await page.textContent('#welcome')).toContain('Paste an API key above');
    expect(await findViolations(page)).toEqual([]);
    // The question without a key that it asked on the way.
    expect(complaints).toEqual([expect.stringMatching(/401/)]);
    complaints.length = 0;
  });

  test('runs the first operation with a pasted key and shows its result', async () => {
    await page.fill('#key', box.apiKey);
    await page.click('#key-form button');
    await page.waitForFunction(() => /signed in as/.test(document.querySelector('#key-state')?.textContent ?? ''));
    await page.waitForSelector('.graphiql-container .graphiql-execute-button');
    await page.click('.graphiql-execute-button');
    await page.waitForFunction(
      (email) => (document.querySelector('.graphiql-response')?.textContent ?? '').includes(email),
      `${box.workspaceId}@account.test`,
    );
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer-root-type').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    await page.locator('.monaco-editor.vs-dark').first().waitFor();
    expect(await findColorViolations(page)).toEqual([]);
    if (process.env['SCREENSHOTS'] !== undefined)
      await page.screenshot({ path: `${process.env['SCREENSHOTS']}/explorer.png` });
  });

  test('loads everything from the gateway, and nothing is blocked', () => {
    expect(requested.filter((each) => !each.startsWith(url) && !/^(blob|data):/.test(each))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
