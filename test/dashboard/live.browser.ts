import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the dashboard updates by itself', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('a mail that arrives appears in both open tabs, over one subscription and without a reload', async () => {
    const account = await stage.account();
    const first = await stage.open(account);
    await first.page.goto(`${stage.url}/inbox`);
    await first.page.getByText('Live', { exact: true }).waitFor();
    const page = await first.context.newPage();
    const requested: string[] = [];
    page.on('request', (request) => void requested.push(request.headers()['accept'] ?? ''));
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Live', { exact: true }).waitFor();
    await stage.mail({ to: account.address, subject: 'News of the day', text: 'Hello.' });
    await Promise.all([first.page, page].map((tab) => tab.getByText('News of the day').first().waitFor()));
    expect(requested.filter((accept) => accept.startsWith('text/event-stream'))).toEqual([]);
    expect(first.complaints).toEqual([]);
    await first.close();
  });

  test('shows a mail that arrives while the first page of the list is still on its way', async () => {
    const account = await stage.account();
    const first = await stage.open(account);
    await first.page.goto(`${stage.url}/inbox`);
    await first.page.getByText('Live', { exact: true }).waitFor();
    const page = await first.context.newPage();
    const arrived = Promise.withResolvers<void>();
    let isHeld = false;
    await page.route('**/graphql', async (route) => {
      const isList = (route.request().postData() ?? '').includes('inbox(');
      if (!isList || isHeld) return route.continue();
      isHeld = true;
      const response = await route.fetch();
      await arrived.promise;
      await route.fulfill({ response });
    });
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => isHeld).toBe(true);
    await stage.mail({ to: account.address, subject: 'News of the day', text: 'Hello.' });
    await first.page.getByText('News of the day').first().waitFor();
    arrived.resolve();
    await page.getByText('News of the day').first().waitFor();
    await first.close();
  });

  test('loads the inbox with at most 150 kB of script in at most 20 requests, and recovers when the service is back', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'News of the day', text: 'Hello.' });
    const { page, context, close } = await stage.open(account);
    // A browser that is never idle loads only what the page needs.
    await page.addInitScript(() => void (window.requestIdleCallback = () => 0));
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    const scripts = new Map<string, number>();
    session.on('Network.responseReceived', ({ requestId, type }) => {
      if (type === 'Script') scripts.set(requestId, 0);
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (scripts.has(requestId)) scripts.set(requestId, encodedDataLength);
    });
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('News of the day').first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(scripts.size).toBeLessThanOrEqual(20);
    const bytes = [...scripts.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(150_000);

    // Its data, and the code of a page that was not opened yet.
    await page.route('**/graphql', (route) => route.abort());
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Postroom is unreachable.').waitFor();
    await page.unroute('**/graphql');
    await page.getByText('News of the day').first().waitFor();
    await page.route(/\/(assets|health)\b/, (route) => route.abort());
    await page.getByRole('link', { name: 'Domains' }).click();
    await page.getByText('Could not load this page').waitFor();
    await page.unroute(/\/(assets|health)\b/);
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    await close();
  });

  test('shows a mail that arrived after the empty list was read and before the feed was open', async () => {
    const account = await stage.account();
    // Without an event the feed has no cursor to start after, so this mail is not in it.
    expect((await account.call('GET', '/events')).body.data).toEqual([]);
    const { page, close } = await stage.open(account);
    const isArrived = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if ((route.request().postData() ?? '').includes('DashboardEvents')) await isArrived.promise;
      await route.continue();
    });
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('No mail yet').waitFor();
    await stage.mail({ to: account.address, subject: 'News of the day', text: 'Hello.' });
    const threads = async () => (await account.graphql('{ threads(first: 1) { totalCount } }')).body.data.threads;
    await expect.poll(async () => (await threads()).totalCount).toBe(1);
    isArrived.resolve();
    await page.getByText('News of the day').first().waitFor();
    await close();
  });
});
