import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

/** The script of the page, without what it loads later. */
const MAIN_SCRIPT = /\/assets\/index-.*\.js$/;
/** Of one test on a loaded machine. Milliseconds. */
const JOURNEY_MS = 180_000;

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('while a page loads', { timeout: JOURNEY_MS }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  }, 300_000);
  afterAll(() => stage?.close());

  test('the inbox asks for the session and the list once, before its script is there', async () => {
    const { page, close } = await withMails(['First']);
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'First').waitFor();
    const asked = watchQueries(page);
    const script = await hold(page, MAIN_SCRIPT);
    await page.reload({ waitUntil: 'commit' });
    await expect.poll(() => asked.toSorted()).toEqual(['DashboardViewer', 'InboxThreads']);
    script.release();
    await row(page, 'First').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(asked.filter((name) => name === 'DashboardViewer' || name === 'InboxThreads')).toHaveLength(2);
    await close();
  });

  test('another page asks for the session only, and a browser in which no one signed in asks for nothing', async () => {
    const { page, context, close } = await withMails(['Second']);
    const asked = watchQueries(page);
    const script = await hold(page, MAIN_SCRIPT);
    await page.goto(`${stage.url}/inbox`, { waitUntil: 'commit' });
    await page.locator('#app').waitFor({ state: 'attached' });
    expect(asked).toEqual([]);
    script.release();
    await row(page, 'Second').waitFor();
    const again = await hold(page, MAIN_SCRIPT);
    asked.length = 0;
    await page.goto(`${stage.url}/domains`, { waitUntil: 'commit' });
    await expect.poll(() => asked).toEqual(['DashboardViewer']);
    again.release();
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    // The session ends elsewhere: the list that was asked for with it is not shown to the next one.
    await context.clearCookies();
    await page.goto(`${stage.url}/inbox`);
    await page.getByLabel('Email address').waitFor();
    expect(await page.evaluate('window.postroomFirstRequests?.size ?? 0')).toBe(0);
    await close();
  });

  test('the inbox has its rows in the first frame that shows anything', async () => {
    const { page, close } = await withMails(['Whole']);
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'Whole').waitFor();
    await page.addInitScript(() => {
      // The outline of the page comes after 150 ms. It never comes here, however slow the machine is.
      const wait = window.setTimeout;
      const later = (run: () => void, ms?: number) => (ms === 150 ? 0 : wait(run, ms));
      Object.assign(window, { setTimeout: later });
      const frames: number[] = [];
      Object.assign(window, { frames });
      const look = () => {
        if (document.querySelector('#app > *') !== null) frames.push(document.querySelectorAll('[data-thread]').length);
      };
      new MutationObserver(look).observe(document, { childList: true, subtree: true });
    });
    await page.reload();
    await row(page, 'Whole').waitFor();
    expect(await page.evaluate('window.frames[0]')).toBe(1);
    await close();
  });

  test('a session that ended is asked for once, and leads to the sign-in page', async () => {
    const { page, context, close } = await withMails(['Ended']);
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'Ended').waitFor();
    await page.goto('about:blank');
    await context.clearCookies();
    const asked = watchQueries(page);
    await page.goto(`${stage.url}/inbox`);
    await page.getByLabel('Email address').waitFor();
    expect(asked).toEqual(['DashboardViewer']);
    await close();
  });

  test('the list keeps its place when labels, addresses and saved views come later', async () => {
    const { page, account, close } = await withMails(['Third']);
    const id = (await threads(account))[0];
    await account.call('PATCH', `/mail/threads/${id}`, { add_labels: ['orders'] });
    await account.call('POST', '/email-addresses', {
      address: `second@${account.domain}`,
      domainId: account.domainId,
    });
    await account.call('POST', '/saved-views', { name: 'Orders', query: 'orders' });
    await page.goto(`${stage.url}/inbox`);
    await page.getByLabel('Label').waitFor();
    const below = page.getByRole('navigation', { name: 'Main' }).getByText('Domains');
    await page.getByRole('link', { name: 'Orders' }).waitFor();
    const before = [await top(page.getByRole('grid')), await top(below)];
    const late = await hold(page, '**/graphql', /InboxFrame|SavedViews/);
    await page.reload();
    await row(page, 'Third').waitFor();
    expect([await top(page.getByRole('grid')), await top(below)]).toEqual(before);
    late.release();
    await page.getByLabel('Label').getByText('orders').waitFor({ state: 'attached' });
    await page.getByRole('link', { name: 'Orders' }).waitFor();
    expect([await top(page.getByRole('grid')), await top(below)]).toEqual(before);
    await close();
  });

  test('a row that moves while it is pressed opens its conversation, not that of the row in its place', async () => {
    const { page, account, close } = await withMails(['Pressed']);
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Live', { exact: true }).waitFor();
    const box = await row(page, 'Pressed').boundingBox();
    await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 20);
    await page.mouse.down();
    await stage.mail({ to: account.address, subject: 'Above', text: 'It moves the other.' });
    await row(page, 'Above').waitFor();
    await expect.poll(async () => (await row(page, 'Pressed').boundingBox())?.y).not.toBe(box?.y);
    await page.mouse.up();
    await page.getByRole('heading', { name: 'Pressed', level: 2 }).waitFor();
    // A pointer that moved away drags.
    await page.keyboard.press('Escape');
    const above = await row(page, 'Above').boundingBox();
    await page.mouse.move((above?.x ?? 0) + 200, (above?.y ?? 0) + 20);
    await page.mouse.down();
    await page.mouse.move((above?.x ?? 0) + 200, (above?.y ?? 0) + 90);
    await page.mouse.up();
    expect(new URL(page.url()).pathname).toBe('/inbox');
    await close();
  });

  test('a conversation has its subject before its code and its messages are there', async () => {
    const { page, close } = await withMails(['Subject first']);
    const code = await hold(page, /\/thread-view-.*\.js$/);
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'Subject first').getByRole('link').click();
    await page.getByRole('heading', { name: 'Subject first', level: 2 }).waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    code.release();
    await page.getByRole('article').getByText('About the Subject first.').waitFor();
    await close();
  });

  test('a conversation is asked for when the pointer rests on its row, and the text of its last message when it is pressed', async () => {
    const { page, close } = await withMails(['Prefetched']);
    await page.goto(`${stage.url}/inbox`);
    await row(page, 'Prefetched').waitFor();
    // It is marked as read, and then read again.
    const marks = await hold(page, '**/graphql', /"query":"mutation/);
    const asked = watchQueries(page);
    await row(page, 'Prefetched').hover();
    await expect.poll(() => asked).toContain('InboxThread');
    await page.waitForTimeout(300);
    expect(asked).toEqual(['InboxThread']);
    await page.mouse.down();
    await expect.poll(() => asked.toSorted()).toEqual(['InboxMessageBody', 'InboxThread']);
    await page.mouse.up();
    await page.getByRole('article').getByText('About the Prefetched.').waitFor();
    await page.waitForTimeout(300);
    const ofThread = asked.filter((name) => name === 'InboxThread' || name === 'InboxMessageBody');
    expect(ofThread.toSorted()).toEqual(['InboxMessageBody', 'InboxThread']);
    marks.release();
    await close();
  });

  test('an unread conversation in the trash opens without an error', async () => {
    const { page, account, close } = await withMails(['Thrown away']);
    const [id] = await threads(account);
    expect(await account.call('DELETE', `/mail/threads/${id}`)).toMatchObject({ status: 200 });
    const marks: string[] = [];
    page.on('request', (request) => {
      if (/mutation \w*(?:Read|Mark)/.test(request.postData() ?? '')) marks.push(request.postData() ?? '');
    });
    await page.goto(`${stage.url}/inbox/${id}?in=trash`);
    await page.getByRole('article').getByText('About the Thrown away.').waitFor();
    // Others are marked as read after 600 ms.
    await page.waitForTimeout(2_000);
    expect(marks).toEqual([]);
    expect(await page.getByText('The action failed').count()).toBe(0);
    await close();
  });

  test('a conversation that changes between hover and click is shown as it is', async () => {
    const account = await stage.account();
    const messageId = `<changed@${account.domain}>`;
    await stage.mail({ to: account.address, subject: 'Changed', text: 'First words.', messageId });
    await expect.poll(() => threads(account)).toHaveLength(1);
    const { page, close } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    await page.locator('[data-live=live]').waitFor({ state: 'attached' });
    const asked = watchQueries(page);
    await row(page, 'Changed').hover();
    await expect.poll(() => asked).toContain('InboxThread');
    const reply = { subject: 'Re: Changed', text: 'Later words.', from: 'Bob <bob@sender.test>' };
    await stage.mail({ to: account.address, ...reply, inReplyTo: messageId, references: messageId });
    await row(page, 'Changed').getByText('Later words.').waitFor();
    await row(page, 'Changed').getByRole('link').click();
    await page.getByRole('article').getByText('Later words.').waitFor();
    await close();
  });
});

type Account = Awaited<ReturnType<BrowserStage['account']>>;

/** Opens a tab of an account that received mails of these subjects. */
async function withMails(subjects: readonly string[]) {
  const account = await stage.account();
  for (const subject of subjects)
    await stage.mail({ to: account.address, subject, text: `About the ${subject}.`, from: 'Ada <ada@sender.test>' });
  await expect.poll(() => threads(account)).toHaveLength(subjects.length);
  return { ...(await stage.open(account)), account };
}

async function threads(account: Account): Promise<string[]> {
  const { body } = await account.call('GET', '/mail/threads');
  return body.threads.map(({ id }: { id: string }) => id);
}

function row(page: Page, subject: string) {
  return page.getByRole('grid').getByRole('row').filter({ hasText: subject });
}

async function top(locator: ReturnType<Page['locator']>): Promise<number | undefined> {
  return (await locator.boundingBox())?.y;
}

/** Returns the names of the queries that the page sends from now on. */
function watchQueries(page: Page): string[] {
  const names: string[] = [];
  page.on('request', (request) => {
    const name = /"operationName":"(\w+)"/.exec(request.postData() ?? '')?.[1];
    if (name !== undefined) names.push(name);
  });
  return names;
}

/** Holds requests, with `body` those that contain it, until `release` is called. */
async function hold(page: Page, url: RegExp | string, body = /(?:)/): Promise<{ release: () => void }> {
  const gate = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    if (body.test(route.request().postData() ?? '')) await gate.promise;
    await route.continue();
  });
  return { release: () => gate.resolve() };
}
