import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../support/cluster/cluster.ts';
import { chromiumPath } from '../../support/servers/chromium.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectBrowser } from '../../support/servers/shared-browser.ts';
import { findColorViolations, findViolations } from '../../support/stages/axe.ts';

let gateway: TestGateway;
let url: string;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  gateway = await openTestGateway({ config: { publicUrl: url } });
  await gateway.app.listen({ port, host: '127.0.0.1' });
});
afterAll(() => gateway.close());

test('the page needs no key and comes with a policy that allows only this server', async () => {
  const response = await fetch(`${url}/api/e2/docs`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy.match(/https?:\/\/[^\s;]+/g)).toEqual([url]);
  const page = await response.text();
  for (const [, file] of page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
    const part = await fetch(url + file);
    expect([part.status, part.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
  }
  // Only under its policy, and nowhere below it.
  expect((await fetch(`${url}/reference.html`)).status).toBe(404);
  expect((await fetch(`${url}/api/e2/docs/other`)).status).toBe(404);
});

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  const requested: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await connectBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, colorScheme: 'light' });
    page = await context.newPage();
    // For hangs, not for slowness.
    page.setDefaultTimeout(120_000);
    page.on('request', (request) => void requested.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await page.goto(`${url}/api/e2/docs#tag/emails/POST/api/e2/emails`);
    await page.getByRole('heading', { name: 'Send an email' }).waitFor();
  });
  afterAll(() => browser?.close());

  test('passes axe in light and dark, and follows the color scheme of the dashboard and of the system', async () => {
    expect(await findViolations(page)).toEqual([]);
    const scheme = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await scheme();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('body.dark-mode').waitFor();
    expect(await scheme()).not.toBe(light);
    expect(await findColorViolations(page)).toEqual([]);
    // The dashboard saves it in another tab.
    const other = await page.context().newPage();
    await other.goto(`${url}/postroom.svg`);
    await other.evaluate(() => localStorage.setItem('mantine-color-scheme-value', 'light'));
    await page.locator('body.light-mode').waitFor();
    expect(await scheme()).toBe(light);
    await other.evaluate(() => localStorage.removeItem('mantine-color-scheme-value'));
    await other.close();
    await page.locator('body.dark-mode').waitFor();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('body.light-mode').waitFor();
  });

  test('an operation shows a request in curl, TypeScript, Python and Go, and all its responses', async () => {
    const operation = page.locator('section[id$="tag/emails/POST/api/e2/emails"]');
    const sample = operation.locator('pre').first();
    const begins: Record<string, RegExp> = {
      'Go NewRequest': /^package main/,
      'TypeScript Fetch': /^fetch\('http/,
      'Python Requests': /^requests\.post\(/,
      'Shell Curl': /^curl http/,
    };
    for (const [language, begin] of Object.entries(begins)) {
      await operation.getByRole('button', { name: /^Change code sample language/ }).click();
      const options = page.getByRole('option');
      await expect.poll(() => options.count()).toBe(Object.keys(begins).length);
      await options.filter({ hasText: language.split(' ')[1] ?? '' }).click();
      await operation.getByRole('button', { name: `Change code sample language: ${language}` }).waitFor();
      await expect.poll(async () => (await sample.textContent())?.trim(), { message: language }).toMatch(begin);
      expect(await sample.textContent()).toContain('Your order');
    }
    const responses = await operation.getByRole('list', { name: 'Responses' }).getByRole('button').allTextContents();
    expect(responses.map((text) => text.trim().slice(0, 3))).toEqual([
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

  test('the sidebar lists every operation of the document', async () => {
    const document = await (await fetch(`${url}/api/e2/openapi.json`)).json();
    const { paths, webhooks } = document as Record<'paths' | 'webhooks', Record<string, object>>;
    const listed = (items: Record<string, object>, readName: (method: string, key: string) => string) =>
      Object.entries(items).flatMap(([key, item]) =>
        Object.keys(item).map((each) => readName(each.toUpperCase(), key)),
      );
    const routes = [
      ...listed(paths, (method, path) => `${method}${path}`),
      ...listed(webhooks, (method, kind) => `webhook/${method}/${kind.replaceAll('_', '-').replaceAll('*', '')}`),
    ];
    const sidebar = page.locator('aside');
    const closed = sidebar.locator('button[aria-expanded="false"]');
    await closed.first().waitFor();
    while ((await closed.count()) > 0) await closed.first().click();
    const links = await sidebar
      .locator('a[href*="#tag/"]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? ''));
    expect(links.flatMap((href) => /^#tag\/[^/]+\/(.+)$/.exec(href)?.[1] ?? []).toSorted()).toEqual(routes.toSorted());
  });

  test('sends a request to this server with the entered key, from a dialog that passes axe', async () => {
    const box = await gateway.mailbox();
    await page.goto(`${url}/api/e2/docs#tag/domains/GET/api/e2/domains`);
    await page
      .getByRole('button', { name: /Test Request.*\/api\/e2\/domains\b/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByPlaceholder('Token').fill(box.apiKey);
    await dialog.getByRole('button', { name: /^Send/ }).first().click();
    await dialog.getByText('200 OK').waitFor();
    await expect.poll(() => dialog.locator('.cm-content').last().textContent()).toContain(box.address.split('@')[1]);
    expect(await findViolations(page)).toEqual([]);
    expect(requested.some((each) => each.startsWith(`${url}/api/e2/domains?`))).toBe(true);
  });

  test('requests nothing from another host, is blocked by no policy, and logs no warning about the document', async () => {
    expect(requested.length).toBeGreaterThan(4);
    expect(requested.filter((each) => !each.startsWith(url) && !each.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
