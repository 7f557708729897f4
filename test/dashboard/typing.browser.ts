import type { BrowserContext, Locator, Page } from 'playwright-core';
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
    expect(await readThread(account, threadId)).toMatchObject({ isArchived: false, trashedAt: null });
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

  test('of an address that is not complete is named when the composer closes, since the draft cannot have it', async () => {
    const { page, account } = await conversation('Incomplete');
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').first().waitFor();
    await page.keyboard.press('c');
    await page.keyboard.type('hello@in');
    await page.getByRole('dialog').getByLabel('Subject').fill('A plan');
    await page.keyboard.press('Escape');
    await page.getByText('"hello@in" is not a valid address').last().waitFor();
    const drafts = async () => (await account.call('GET', '/drafts')).body.data;
    await expect.poll(drafts).toEqual([expect.objectContaining({ subject: 'A plan' })]);
  });

  test.each(['mouse', 'Enter', ' '])('goes to Cc from the press of "Cc, Bcc" on (%s)', async (way) => {
    const tab = await conversation('Copies');
    const { page } = tab;
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').first().waitFor();
    await page.keyboard.press('c');
    const button = page.getByRole('button', { name: 'Cc, Bcc' });
    await button.waitFor();
    if (way === 'mouse') await clickAndType(tab, button, 'eve@friend.test');
    else {
      await button.focus();
      await page.keyboard.press(way);
      await page.keyboard.type('eve@friend.test');
    }
    const field = page.getByRole('dialog').getByLabel('Cc', { exact: true }).and(page.locator('input:visible'));
    await expect.poll(() => field.inputValue()).toBe('eve@friend.test');
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

  test('goes from the recipients to the subject and the message by Tab, and opens nothing between them', async () => {
    const { page } = await conversation('Tab');
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').first().waitFor();
    const held = await holdRequests(page, /rich-text/);
    await page.keyboard.press('c');
    await page.keyboard.type('eve@friend.test');
    await page.keyboard.press('Tab');
    await expect.poll(() => focusedLabel(page)).toBe('Subject');
    await page.keyboard.type('A new plan');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Dear Eve, see below');
    await held.release();
    const dialog = page.getByRole('dialog');
    const message = dialog.getByRole('textbox', { name: 'Message' });
    await expect.poll(() => message.innerText()).toBe('Dear Eve, see below');
    expect(await dialog.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('A new plan');
    expect(await dialog.getByRole('combobox', { name: 'Cc', exact: true }).count()).toBe(0);
    // The buttons between them are reached the other way.
    for (let n = 0; n < 20 && (await focusedLabel(page)) !== 'Subject'; n += 1) await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await dialog.getByRole('combobox', { name: 'Cc', exact: true }).waitFor();
  });

  test('goes on behind what was written when a reply is opened again', async () => {
    const { page, threadId } = await conversation('Again');
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    const message = page.getByRole('textbox', { name: 'Message', exact: true });
    await page.keyboard.press('r');
    await page.keyboard.type('First words');
    await expect.poll(() => message.innerText()).toBe('First words');
    await page.getByText('Draft saved').waitFor();
    await page.keyboard.press('Escape');
    await message.waitFor({ state: 'detached' });
    await page.keyboard.press('r');
    await page.keyboard.type(', and more');
    await expect.poll(() => message.innerText()).toBe('First words, and more');
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
      expect(await readThread(account, threadId)).toMatchObject({ isArchived: false, trashedAt: null });
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
    await expect.poll(() => readThread(account, threadId)).toMatchObject({ labels: ['e#later'], isArchived: false });
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('e');
    await expect.poll(() => readThread(account, threadId)).toMatchObject({ isArchived: true });
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('#');
    await expect.poll(async () => (await readThread(account, threadId)).trashedAt).not.toBeNull();
  });

  test.each([
    ['/domains', 'Add domain', 'Domain'],
    ['/addresses', 'Create address', 'Address'],
    ['/keys', 'Create key', 'Name'],
    ['/endpoints', 'Create endpoint', 'Name'],
    ['/rules', 'Create rule', 'Name'],
    ['/suppressions', 'Suppress address', 'Address'],
  ])('on %s goes to the first field of the form behind "%s"', async (path, name, label) => {
    const account = await stage.account();
    const { page } = await stage.open(account);
    await page.goto(stage.url + path);
    await opener(page, name).click();
    await page.keyboard.type('gigi');
    const field = page.getByRole('textbox', { name: label, exact: true }).last();
    await expect.poll(() => field.inputValue()).toBe('gigi');
    expect(new URL(page.url()).pathname.startsWith(path)).toBe(true);
  });

  describe('while the page is busy', () => {
    test.each([
      ['/domains', 'Add domain', 'Domain'],
      ['/addresses', 'Create address', 'Address'],
      ['/addresses?tab=reply', 'Create reply address', 'Deliver to'],
      ['/keys', 'Create key', 'Name'],
      ['/endpoints', 'Create endpoint', 'Name'],
      ['/rules', 'Create rule', 'Name'],
      ['/suppressions', 'Suppress address', 'Address'],
      ['/members', 'Invite person', 'Email address'],
      ['/customers', 'Create workspace', 'Customer ID'],
    ])('on %s goes to the form behind "%s" before that is painted', async (path, name, label) => {
      const account = await stage.account();
      const tab = await stage.open(account, { reducedMotion: 'no-preference' });
      await tab.page.goto(stage.url + path);
      await clickAndType(tab, opener(tab.page, name), 'gigi');
      const named = { name: label, exact: true };
      const field = tab.page.getByRole('textbox', named).or(tab.page.getByRole('combobox', named)).last();
      await expect.poll(() => field.inputValue()).toBe('gigi');
      expect(new URL(tab.page.url()).pathname.startsWith(path.replace(/\?.*/, ''))).toBe(true);
    });

    test('goes on in the second field after Tab, from which no dialog takes the focus back', async () => {
      const account = await stage.account();
      const tab = await stage.open(account, { reducedMotion: 'no-preference' });
      await tab.page.goto(`${stage.url}/suppressions`);
      await clickAndType(tab, opener(tab.page, 'Suppress address'), 'gigi@friend.test\tseen twice');
      await expect.poll(() => tab.page.getByLabel('Note').inputValue()).toBe('seen twice');
      expect(await tab.page.getByLabel('Address', { exact: true }).inputValue()).toBe('gigi@friend.test');
    });

    test('goes to the reason of a rejection, and not to a button of its dialog', async () => {
      const account = await stage.account();
      await stage.database.pool.query('update email_address set send_policy = $2 where workspace_id = $1', [
        account.workspaceId,
        { approval: 'always' },
      ]);
      await account.call('POST', '/emails', { from: account.address, to: ['a@b.test'], subject: 'Odd', text: 'Hi' });
      const tab = await stage.open(account, { reducedMotion: 'no-preference' });
      await tab.page.goto(`${stage.url}/approvals`);
      const reject = tab.page.getByRole('button', { name: 'Reject' });
      await reject.waitFor();
      await clickAndType(tab, reject, 'gigi');
      await expect.poll(() => tab.page.getByLabel('Reason').inputValue()).toBe('gigi');
    });

    test('is kept for a form whose data come later', async () => {
      const account = await stage.account();
      const tab = await stage.open(account, { reducedMotion: 'no-preference' });
      await tab.page.goto(`${stage.url}/settings`);
      const held = await holdQueries(tab.page, 'DomainChoices');
      await tab.page.evaluate(() => history.pushState(null, '', '/addresses'));
      await clickAndType(tab, opener(tab.page, 'Create address'), 'gi');
      await tab.page.keyboard.type('gi');
      await tab.page.getByRole('dialog').waitFor();
      await held.release();
      const field = tab.page.getByRole('textbox', { name: 'Address', exact: true });
      await expect.poll(() => field.inputValue()).toBe('gigi');
    });

    test('runs shortcuts at once after Esc closed a dialog', async () => {
      const account = await stage.account();
      const tab = await stage.open(account, { reducedMotion: 'no-preference' });
      await tab.page.goto(`${stage.url}/suppressions`);
      await opener(tab.page, 'Suppress address').click();
      await tab.page.getByRole('dialog').waitFor();
      await typeAhead(tab, '\u001bgd');
      await tab.page.waitForURL(/\/drafts$/);
    });
  });

  test('goes to the labels of a selected row while the code of its toolbar loads', async () => {
    const { page, account, threadId } = await conversation('Toolbar');
    const held = await holdRequests(page, /selection-bar-.*\.js$/);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Toolbar' }).focus();
    await page.keyboard.press('x');
    await page.keyboard.press('l');
    await page.keyboard.type('e#later');
    await page.keyboard.press('Enter');
    await held.release();
    await expect.poll(() => readThread(account, threadId)).toMatchObject({ labels: ['e#later'], isArchived: false });
  });

  test('stays in a form beside a list when a reload of its record fails', async () => {
    const account = await stage.account();
    const { page } = await stage.open(account);
    await page.goto(`${stage.url}/addresses`);
    await page.getByRole('link', { name: account.address }).click();
    const signature = page.getByRole('textbox', { name: 'Signature' });
    await signature.fill('Kind regards');
    let failed = 0;
    await page.route('**/graphql', (route) => {
      if (!isQuery(route.request().postData(), 'emailAddress')) return route.continue();
      failed += 1;
      return route.abort();
    });
    await stage.mail({ to: account.address, subject: 'Reload', text: 'Now' });
    await expect.poll(() => failed).toBeGreaterThan(0);
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await signature.inputValue()).toBe('Kind regards');
    await page.unroute('**/graphql');
    await page.getByRole('dialog').getByRole('alert').waitFor({ state: 'detached' });
    expect(await signature.inputValue()).toBe('Kind regards');
  });

  test('into a reply is there when its composer is closed and opened again before the draft is stored', async () => {
    const { page, account, threadId } = await conversation('Reopened');
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('r');
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await field.waitFor();
    const held = await holdQueries(page, 'CreateDraft');
    await page.keyboard.type('Typed in a hurry');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.keyboard.press('r');
    await page.keyboard.type(', then more');
    await held.release();
    await expect.poll(() => field.innerText()).toBe('Typed in a hurry, then more');
    await page.getByText('Draft saved').waitFor();
    await expect.poll(() => draftTexts(account)).toEqual([expect.stringContaining('Typed in a hurry, then more')]);
  });

  test('into a new email starts while a reply is being stored, and only its first save is announced', async () => {
    const { page, threadId } = await conversation('Slow');
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('r');
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await field.waitFor();
    const held = await holdQueries(page, 'CreateDraft');
    await page.keyboard.type('Typed in a hurry');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.keyboard.press('c');
    await field.fill('Another');
    await held.release();
    const state = page.getByText('Draft saved');
    await expect.poll(() => state.getAttribute('aria-live')).toBe('polite');
    await field.fill('Another word');
    await page.getByText('Saving draft').waitFor();
    await expect.poll(() => state.getAttribute('aria-live')).toBe('off');
  });

  test('of an input method runs no shortcut', async () => {
    const { page, threadId } = await conversation('Composed');
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    const browser = await page.context().newCDPSession(page);
    await browser.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: 'c', windowsVirtualKeyCode: 229 });
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('INPUT');
    expect(page.url()).not.toContain('compose');
  });

  test('in the palette offers no action of the open conversation while others are selected', async () => {
    const { page, threadId } = await conversation('Ticked');
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    const reply = page.getByRole('dialog').getByText('Reply to all');
    await page.keyboard.press('Control+k');
    await reply.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('x');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByText('Write email').waitFor();
    expect(await reply.count()).toBe(0);
  });

  test('is not held for a form whose choices cannot be read', async () => {
    const account = await stage.account();
    const { page } = await stage.open(account);
    await page.route('**/graphql', (route) =>
      isQuery(route.request().postData(), 'DomainChoices') ? route.abort() : route.continue(),
    );
    await page.goto(`${stage.url}/addresses?new`);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Try again' }).focus();
    await page.unroute('**/graphql');
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Address', exact: true }).waitFor();
  });

  test('into a new email stays when the addresses to send from are read again', async () => {
    const { page, account } = await conversation('Senders');
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').first().waitFor();
    await page.keyboard.press('c');
    const to = page.getByRole('dialog').getByRole('combobox', { name: 'To' });
    await to.waitFor();
    await page.keyboard.press('Escape');
    await to.waitFor({ state: 'detached' });
    const gate = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      const body = route.request().postData();
      if (isQuery(body, 'ComposerSignatures') && body?.includes('newest@') === true) return;
      if (!isQuery(body, 'ComposerSenders')) return route.continue();
      const response = await route.fetch();
      const json = await response.json();
      json.data.senders.unshift({ ...json.data.senders[0], address: `newest@${account.domain}` });
      await gate.promise;
      return route.fulfill({ response, json });
    });
    await page.keyboard.press('c');
    await page.keyboard.type('eve@friend.test');
    await expect.poll(() => to.inputValue()).toBe('eve@friend.test');
    gate.resolve();
    await page.getByRole('dialog').getByRole('combobox', { name: 'From' }).fill('newest');
    await page.getByRole('option', { name: `newest@${account.domain}` }).waitFor();
    // It became a tag when the focus left its field.
    await page.getByRole('dialog').getByText('eve@friend.test').waitFor();
  });

  test('into a reply is stored before the first pause', async () => {
    const { page, account, threadId } = await conversation('On and on');
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('r');
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    let isTyping = true;
    const typed = (async () => {
      while (isTyping) await page.keyboard.type('word ', { delay: 50 });
    })();
    await expect.poll(() => draftTexts(account)).toEqual([expect.stringContaining('word word')]);
    isTyping = false;
    await typed;
  });

  test.each([
    ['before its draft is there', 1],
    ['on a slow machine', 12],
  ])('into a reply with a saved draft stays in one piece and is saved %s', async (_when, slowness) => {
    const { page, context, account, threadId } = await conversation('Draft');
    await page.goto(`${stage.url}/inbox/${threadId}`);
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('r');
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await field.fill('Saved words.');
    await page.getByText('Draft saved').waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });

    const held = await holdQueries(page, 'ComposerDraftsOf');
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowness });
    await page.keyboard.press('r');
    await page.keyboard.type('The quick brown fox ');
    await held.release();
    await page.keyboard.type('jumps over the lazy dog and then goes home. ');
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await expect
      .poll(() => field.innerText())
      .toBe('Saved words.The quick brown fox jumps over the lazy dog and then goes home. ');
    await page.getByText('Draft saved').waitFor();
    await expect
      .poll(() => draftTexts(account))
      .toEqual([expect.stringMatching(/^Saved words\.The quick brown fox jumps .* goes home\./)]);
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

async function readThread(account: Account, id: string) {
  const query = 'query($id: ID!) { thread(id: $id) { isArchived trashedAt labels } }';
  return (await account.graphql(query, { id })).body.data.thread;
}

/** Returns the texts of the drafts of the account, newest first. */
async function draftTexts(account: Account): Promise<string[]> {
  const { drafts } = (await account.graphql('{ drafts(first: 5) { edges { node { text } } } }')).body.data;
  return drafts.edges.map(({ node }: { node: { text: string } }) => node.text);
}

/** Returns the button or link of the page that opens a form. */
function opener(page: Page, name: string): Locator {
  const main = page.locator('main');
  return main.getByRole('button', { name }).or(main.getByRole('link', { name })).first();
}

type Tab = { page: Page; context: BrowserContext };

/** How long the page handles nothing. Milliseconds. */
const BUSY_MS = 400;
const NAMED_KEYS: Record<string, { key: string; windowsVirtualKeyCode: number }> = {
  '\t': { key: 'Tab', windowsVirtualKeyCode: 9 },
  '\u001b': { key: 'Escape', windowsVirtualKeyCode: 27 },
};

/** Clicks and types while the page is busy: it handles all of that before it paints and before its timers. */
async function clickAndType(tab: Tab, button: Locator, text: string): Promise<void> {
  const box = await button.boundingBox();
  if (box === null) throw new Error('The button is not on the page');
  await typeAhead(tab, text, { x: box.x + box.width / 2, y: box.y + box.height / 2 });
}

/** Types while the page is busy, after a click at a place. */
async function typeAhead({ page, context }: Tab, text: string, click?: { x: number; y: number }): Promise<void> {
  const session = await context.newCDPSession(page);
  if (click !== undefined) await session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...click });
  const busy = page.evaluate((ms) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  }, BUSY_MS);
  const events: Promise<unknown>[] = [];
  if (click !== undefined)
    for (const type of ['mousePressed', 'mouseReleased'] as const)
      events.push(session.send('Input.dispatchMouseEvent', { type, ...click, button: 'left', clickCount: 1 }));
  for (const letter of text) {
    const named = NAMED_KEYS[letter];
    const key = named ?? { key: letter };
    events.push(
      session.send('Input.dispatchKeyEvent', { type: 'keyDown', ...key, ...(named ? {} : { text: letter }) }),
    );
    events.push(session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key }));
  }
  await Promise.all([busy, ...events]);
  await session.detach();
}

/** Whether a request asks for the operation with this name. */
function isQuery(body: string | null, name: string): boolean {
  return body !== null && new RegExp(`"operationName":"${name}"`).test(body);
}

/** Holds GraphQL operations with this name until `release` is called, which throws when there were none: then a test has held nothing. */
async function holdQueries(page: Page, name: string): Promise<{ release: () => Promise<void> }> {
  const gate = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  await page.route('**/graphql', async (route) => {
    if (isQuery(route.request().postData(), name)) {
      first.resolve();
      await gate.promise;
    }
    await route.fallback();
  });
  return {
    async release() {
      const late = setTimeout(() => first.reject(new Error(`no ${name} was sent`)), 10_000);
      await first.promise.finally(() => clearTimeout(late));
      gate.resolve();
    },
  };
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
