import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

/** The code of what opens after the first page. */
const PALETTE = /command-palette-.*\.js$/;
const COMPOSER = /(new-email|composer|rich-text|reading)-.*\.js$/;

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('what is typed', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('goes to the palette from Ctrl+K on, while its code loads, and runs no shortcut', async () => {
    const { page, account, threadId } = await conversation('Palette');
    const held = await holdRequests(page, PALETTE);
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('endpoimt');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('nt #e');
    await held.release();
    const search = page.getByRole('textbox', { name: 'Search pages, actions' });
    await expect.poll(() => search.inputValue()).toBe('endpoint #e');
    await page.keyboard.type(' more');
    await expect.poll(() => search.inputValue()).toBe('endpoint #e more');
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe(`/inbox/${threadId}`);
    expect(await threadOf(account, threadId)).toMatchObject({ isArchived: false, trashedAt: null });
    // The next time its code is there.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('create rule');
    await expect.poll(() => search.inputValue()).toBe('create rule');
  });

  test('goes to the palette from Ctrl+K on, also when the page has not started yet', async () => {
    const { page } = await conversation('Early');
    const held = await holdRequests(page, /\/get-session/);
    await page.goto(`${stage.url}/inbox`);
    await page.locator('#app > :not(style)').first().waitFor({ state: 'attached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('endpoint');
    await held.release();
    const search = page.getByRole('textbox', { name: 'Search pages, actions' });
    await expect.poll(() => search.inputValue()).toBe('endpoint');
  });

  test('stays in the draft of a composer that is closed before the address is a tag', async () => {
    const { page, account } = await conversation('Unfinished');
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').first().waitFor();
    await page.keyboard.press('c');
    await page.keyboard.type('zed@elsewhere.test');
    await page.getByRole('dialog').getByLabel('To', { exact: true }).and(page.locator('input:visible')).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const drafts = async () => (await account.call('GET', '/drafts')).body.data;
    await expect.poll(drafts).toEqual([expect.objectContaining({ to: ['zed@elsewhere.test'] })]);
  });

  test.each([
    ['?', 'Keyboard shortcuts'],
    ['Control+k', null],
  ])('goes on in the list after Esc closed what %s opened', async (key, name) => {
    const { page } = await conversation('Focus');
    await page.goto(`${stage.url}/inbox`);
    const row = page.getByRole('grid').getByRole('row').filter({ hasText: 'Focus' });
    await row.focus();
    await page.keyboard.press(key);
    const dialog = name === null ? page.getByRole('dialog') : page.getByRole('dialog', { name });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => row.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test('goes to the address of the sign-in page without a click', async () => {
    const { page } = await stage.open(null);
    await page.goto(`${stage.url}/sign-in`);
    const address = page.getByLabel('Email address');
    await expect.poll(() => address.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('ann@elsewhere.test');
    expect(await address.inputValue()).toBe('ann@elsewhere.test');
  });

  test('goes on through the palette to the form that it opens', async () => {
    const { page } = await conversation('Through');
    const held = await holdRequests(page, PALETTE, /domains-page-.*\.js$/);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('add domain');
    await page.keyboard.press('Enter');
    await page.keyboard.type('example.com');
    await held.release();
    const field = page.getByRole('textbox', { name: 'Domain' });
    await expect.poll(() => field.inputValue()).toBe('example.com');
  });

  test('closes the palette before it is loaded when Esc is pressed, and shortcuts work again', async () => {
    const { page, threadId } = await conversation('Early Esc');
    const held = await holdRequests(page, PALETTE);
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('drop');
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.waitForURL(/\/drafts$/);
    await held.release();
  });

  test('goes to the recipients, subject and message of a new email, in the order of the fields', async () => {
    const { page } = await conversation('Write');
    const held = await holdRequests(page, COMPOSER);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').first().waitFor();
    await page.keyboard.press('c');
    await page.keyboard.type('eve@friend.test');
    await page.keyboard.press('Enter');
    await held.release();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('eve@friend.test').waitFor();
    await expect.poll(() => focusedLabel(page)).toBe('To');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // With its code there, from the button.
    await page.getByRole('button', { name: 'Write email' }).click();
    await page.keyboard.type('jules#e@friend.test');
    await expect.poll(() => page.getByRole('combobox', { name: 'To' }).inputValue()).toBe('jules#e@friend.test');
  });

  test.each([
    ['r', 'Message', COMPOSER],
    ['f', 'To', COMPOSER],
  ])(
    'after %s goes to the field "%s" of the composer, which Esc closes before the conversation',
    async (key, label, code) => {
      const { page, account, threadId } = await conversation(`Answer ${key}`);
      const held = await holdRequests(page, code);
      await page.goto(`${stage.url}/inbox/${threadId}`);
      await page.getByRole('grid').getByRole('row').first().waitFor();
      await page.keyboard.press(key);
      await page.keyboard.type('e#lazy u');
      await held.release();
      const field =
        label === 'To'
          ? page.getByRole('combobox', { name: 'To' })
          : page.getByRole('textbox', { name: label, exact: true });
      await field.waitFor();
      await expect.poll(() => (label === 'To' ? field.inputValue() : field.innerText())).toBe('e#lazy u');
      expect(await threadOf(account, threadId)).toMatchObject({ isArchived: false, trashedAt: null });
      // The focus is elsewhere: Esc closes the composer first, then the conversation.
      await page.getByRole('article').first().getByText('Hello there').click();
      await page.keyboard.press('Escape');
      await field.waitFor({ state: 'detached' });
      expect(new URL(page.url()).pathname).toBe(`/inbox/${threadId}`);
      await page.keyboard.press('Escape');
      await expect.poll(() => new URL(page.url()).pathname).toBe('/inbox');
    },
  );

  test('in a conversation that was opened by its address labels, archives and deletes it, before it is loaded', async () => {
    const { page, account, threadId } = await conversation('Address');
    // Outside of the list that is shown.
    await page.goto(`${stage.url}/inbox/${threadId}?in=archived`);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('l');
    await page.keyboard.type('e#later');
    await page.keyboard.press('Enter');
    await expect.poll(() => threadOf(account, threadId)).toMatchObject({ labels: ['e#later'], isArchived: false });
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('e');
    await expect.poll(() => threadOf(account, threadId)).toMatchObject({ isArchived: true });
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('#');
    await expect.poll(async () => (await threadOf(account, threadId)).trashedAt).not.toBeNull();
  });

  test.each([
    ['/domains', 'Add domain', 'Domain'],
    ['/addresses', 'Create address', 'Address'],
    ['/keys', 'Create key', 'Name'],
    ['/endpoints', 'Create endpoint', 'Name'],
    ['/rules', 'Create rule', 'Name'],
    ['/suppressions', 'Suppress address', 'Address'],
  ])('on %s goes to the first field of the form behind "%s"', async (path, button, label) => {
    const account = await stage.account();
    const { page } = await stage.open(account);
    await page.goto(stage.url + path);
    await page
      .locator('main')
      .getByRole('button', { name: button })
      .or(page.locator('main').getByRole('link', { name: button }))
      .first()
      .click();
    await page.keyboard.type('gigi');
    const field = page.getByRole('textbox', { name: label, exact: true }).last();
    await expect.poll(() => field.inputValue()).toBe('gigi');
    expect(new URL(page.url()).pathname.startsWith(path)).toBe(true);
  });
});

type Account = Awaited<ReturnType<BrowserStage['account']>>;

/** Opens a tab of an account that has one conversation. */
async function conversation(subject: string) {
  const account = await stage.account();
  await stage.mail({ to: account.address, subject, text: 'Hello there' });
  const find = async () =>
    (await account.graphql('{ inbox(first: 1) { edges { node { id } } } }')).body.data.inbox.edges;
  await expect.poll(find).toHaveLength(1);
  const [edge] = await find();
  const tab = await stage.open(account);
  return { ...tab, account, threadId: String(edge.node.id) };
}

async function threadOf(account: Account, id: string) {
  const query = 'query($id: ID!) { thread(id: $id) { isArchived trashedAt labels } }';
  return (await account.graphql(query, { id })).body.data.thread;
}

/** Holds the requests of code until `release` is called. */
async function holdRequests(page: Page, ...patterns: RegExp[]): Promise<{ release: () => Promise<void> }> {
  const gate = Promise.withResolvers<void>();
  for (const pattern of patterns)
    await page.route(pattern, async (route) => {
      await gate.promise;
      await route.continue();
    });
  return {
    async release() {
      gate.resolve();
    },
  };
}

function focusedLabel(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const field = document.activeElement;
    return field instanceof HTMLInputElement ? (field.labels?.[0]?.textContent ?? null) : null;
  });
}
