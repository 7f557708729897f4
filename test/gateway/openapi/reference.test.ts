import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../support/cluster/cluster.ts';
import { chromiumPath } from '../../support/servers/chromium.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectBrowser } from '../../support/servers/shared-browser.ts';

let gateway: TestGateway;
let url: string;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  gateway = await openTestGateway({ config: { publicUrl: url } });
  await gateway.app.listen({ port, host: '127.0.0.1' });
});
afterAll(() => gateway.close());

test('the page and what it loads need no key and come with a policy that allows just that', async () => {
  for (const file of ['', '/', '/static/swagger-ui-bundle.js', '/static/swagger-ui.css', '/json', '/yaml']) {
    const response = await fetch(`${url}/api/e2/docs${file}`);
    expect(response.status, file).toBe(200);
    expect((await response.text()).length, file).toBeGreaterThan(100);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy.match(/https?:\/\/[^\s;]+/g)).toEqual([url]);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  }
  const document = await (await fetch(`${url}/api/e2/docs/json`)).json();
  expect(document).toEqual(await (await fetch(`${url}/api/e2/openapi.json`)).json());
});

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  const requested: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await connectBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    // For hangs, not for slowness.
    page.setDefaultTimeout(120_000);
    page.on('request', (request) => void requested.push(request.url()));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await page.goto(`${url}/api/e2/docs`);
    await page.waitForSelector('.opblock');
  });
  afterAll(() => browser?.close());

  test('it shows every operation of the document', async () => {
    const { paths } = (await (await fetch(`${url}/api/e2/openapi.json`)).json()) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const shown = await page.$$eval('.opblock-summary', (rows) =>
      rows.map((row) => {
        const path = row.querySelector('[data-path]')?.getAttribute('data-path');
        return `${row.querySelector('.opblock-summary-method')?.textContent} ${path}`;
      }),
    );
    expect(shown.toSorted()).toEqual(routes.toSorted());
    expect(await page.textContent('.info .title')).toContain('Postroom');
  });

  test('a request is made from it with the key that was typed in', async () => {
    const box = await gateway.mailbox();
    await page.click('.btn.authorize');
    await page.fill('.auth-container input', box.apiKey);
    await page.click('.auth-btn-wrapper .authorize');
    await page.click('.btn-done');
    await page.click('#operations-Domains-listDomains .opblock-summary-control');
    await page.click('#operations-Domains-listDomains .try-out__btn');
    await page.click('#operations-Domains-listDomains .execute');
    const answer = page.locator('#operations-Domains-listDomains .live-responses-table .microlight').first();
    await answer.waitFor();
    expect(await answer.textContent()).toContain(box.address.split('@')[1]);
  });

  test('an operation shows an example of its body and all its answers', async () => {
    const operation = page.locator('#operations-Emails-sendEmail');
    await operation.locator('.opblock-summary-control').click();
    const example = operation.locator('.body-param__example, .body-param .microlight').first();
    await example.waitFor();
    expect(await example.textContent()).toContain('"subject": "Your order"');
    const statuses = await operation.locator('.response .response-col_status').allTextContents();
    expect(statuses.map((status) => status.trim().slice(0, 3))).toEqual([
      '200',
      '201',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
  });

  test('it asks no other host for anything, and nothing that it does is refused by its policy', async () => {
    expect(requested.length).toBeGreaterThan(4);
    expect(requested.filter((each) => !each.startsWith(url) && !each.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
