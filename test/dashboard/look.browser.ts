import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { findColorViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { isOnTop } from '../support/stages/dashboard-pages.ts';

/** Height of a row that has nothing more to say, with its border. CSS pixels. */
const ROW_PX = 41;
const PHONE = { width: 390, height: 844 };
/** Of one test on a loaded machine. Milliseconds. */
const JOURNEY_MS = 180_000;

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the look of the dashboard', { timeout: JOURNEY_MS }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  }, 300_000);
  afterAll(() => stage?.close());

  test('pages load one font, and lists of domains, addresses and drafts are rows of 40 pixels', async () => {
    const account = await stage.account();
    await account.call('POST', '/drafts', { to: ['ann@sender.test'], subject: 'A plan' });
    const tab = await stage.open(account);
    const fonts: string[] = [];
    tab.page.on('request', (request) => void (request.resourceType() === 'font' && fonts.push(request.url())));
    for (const [path, label] of [
      ['/domains', 'Domains'],
      ['/addresses', 'Addresses'],
      ['/drafts', 'Drafts'],
    ] as const) {
      await tab.page.goto(stage.url + path);
      const row = tab.page.getByRole('list', { name: label, exact: true }).getByRole('listitem').first();
      expect([path, (await row.boundingBox())?.height]).toEqual([path, expect.toSatisfy((height) => height <= ROW_PX)]);
    }
    expect(await tab.page.evaluate(() => document.fonts.check('16px "Public Sans Variable"'))).toBe(true);
    expect(new Set(fonts)).toEqual(new Set([expect.stringMatching(/public-sans-latin-wght-normal-.*\.woff2$/)]));
    await tab.close();
  });

  test('a received email shows its route without scrolling, and its Message-ID on request', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const [id = ''] = await received(account);
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, close } = await stage.open(account, { colorScheme });
      await page.goto(`${stage.url}/emails/${id}`);
      const stops = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
      await stops.filter({ hasText: 'Accepted by SMTP' }).waitFor();
      expect((await stops.nth(2).boundingBox())?.y).toBeLessThan(page.viewportSize()?.height ?? 0);
      expect(await page.getByText('Message-ID', { exact: true }).count()).toBe(0);
      await page.getByRole('button', { name: 'Details' }).click();
      await page.getByText('Message-ID', { exact: true }).waitFor();
      expect(await findColorViolations(page)).toEqual([]);
      await close();
    }
  });

  test('a phone has its main pages in a bar at the bottom, which gives way to a conversation', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: { width: 390, height: 844 } });
    await page.goto(`${stage.url}/`);
    const bar = page.getByRole('navigation', { name: 'Quick' });
    await bar.getByRole('link', { name: 'Inbox' }).click();
    const row = page.getByRole('grid').getByRole('row').filter({ hasText: 'Lamp' });
    await row.waitFor();
    expect(await findColorViolations(page)).toEqual([]);
    const [list, below] = [await page.getByRole('grid').boundingBox(), await bar.boundingBox()];
    expect((list?.y ?? 0) + (list?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
    await row.click();
    await page.getByRole('article').getByText('It is broken.').waitFor();
    expect(await bar.isVisible()).toBe(false);
    for (const name of ['Archive (e)', 'Delete (#)'])
      expect([name, await isOnTop(page.getByRole('button', { name }))]).toEqual([name, true]);
    await page.goto(`${stage.url}/activity`);
    await bar.getByRole('link', { name: 'Write' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Subject' }).waitFor();
    await close();
  });

  test('a page of 1,024 pixels leaves at least 560 of them to the conversation', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: { width: 1024, height: 768 } });
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Lamp' }).click();
    const message = page.getByRole('article');
    await message.getByText('It is broken.').waitFor();
    expect((await message.boundingBox())?.width).toBeGreaterThan(560);
    await page.getByRole('link', { name: 'Sent', exact: true }).click();
    await page.waitForURL(/in=sent/);
    await close();
  });

  test('Back leads from an email to the filtered list that it was opened from', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account);
    await page.goto(`${stage.url}/activity?type=received`);
    await page.getByRole('main').getByRole('link', { name: 'Lamp' }).first().click();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.waitForURL(/\/activity\?type=received$/);
    await close();
  });

  test('a phone keeps the words of a heading whole beside wide actions', async () => {
    const account = await stage.account();
    const { page, close } = await stage.open(account, { viewport: PHONE });
    for (const path of ['/', '/domains', '/suppressions']) {
      await page.goto(stage.url + path);
      const heading = page.getByRole('heading', { level: 1 });
      expect([path, (await heading.boundingBox())?.height]).toEqual([path, expect.toSatisfy((height) => height < 40)]);
    }
    await close();
  });

  test('a phone shows a long name of a customer in a few lines, and the whole subject of a conversation', async () => {
    const account = await stage.account();
    const name = 'A customer whose name is much longer than anyone would like it to be';
    await account.call('POST', '/workspaces', { name, client_id: `long-${account.domain}` });
    await stage.mail({ to: account.address, subject: 'Where is the lamp that I ordered?', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: PHONE });
    await page.goto(`${stage.url}/customers`);
    const row = page.getByRole('listitem').filter({ hasText: name });
    expect((await row.boundingBox())?.height).toBeLessThan(160);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Where is' }).getByRole('link').click();
    const subject = page.getByRole('heading', { name: 'Where is the lamp that I ordered?' });
    await page.getByRole('article').getByText('It is broken.').waitFor();
    expect((await subject.boundingBox())?.width).toBeGreaterThan(200);
    await close();
  });

  test('a phone keeps the icons of an attachment with a long name, and the state of an endpoint with one', async () => {
    const account = await stage.account();
    const long = 'a very long name that goes on and on and on and never seems to come to an end';
    await account.call('POST', '/endpoints', {
      name: long,
      type: 'webhook',
      config: { url: 'https://hooks.example/x' },
    });
    await stage.mail({
      to: account.address,
      subject: 'Lamp',
      text: 'It is broken.',
      attachments: [{ filename: `${long}.docx`, content: 'x' }],
    });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: PHONE });
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Lamp' }).getByRole('link').click();
    const download = page.getByLabel('Download').first();
    await download.waitFor();
    expect((await download.boundingBox())?.width).toBe(15);
    await page.goto(`${stage.url}/endpoints`);
    const state = page.locator('.mantine-Badge-label').filter({ hasText: 'No deliveries yet' });
    await state.waitFor();
    expect(await state.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
    await close();
  });

  test('dark pages show the thumb of a switch that is on, and the marks of finished steps', async () => {
    const account = await stage.account();
    await account.call('POST', '/guard', {
      name: 'Pills',
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['pills'] } },
      action: { action: 'block' },
    });
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { colorScheme: 'dark' });
    await page.goto(`${stage.url}/rules`);
    await page.getByRole('switch').first().waitFor({ state: 'attached' });
    expect(await readLightness(page, '.mantine-Switch-thumb', 'background-color')).toBeLessThan(90);
    await page.goto(`${stage.url}/welcome`);
    await page.getByText('Your email has arrived').waitFor();
    expect(await readLightness(page, '.mantine-Stepper-stepCompletedIcon', 'color')).toBeLessThan(90);
    await close();
  });

  test('colors that the user chose for all pages leave marked what is chosen, checked, open and selected', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'In any color', text: 'Hello.' });
    const { page, close } = await stage.open(account);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('row').filter({ hasText: 'In any color' }).getByRole('link').click();
    await page.getByRole('article').first().waitFor();
    const isMarked = (part: Locator) =>
      part.evaluate((element) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return outlineStyle !== 'none' && outlineWidth !== '0px';
      });
    const marked = {
      place: page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).first(),
      row: page.getByRole('row').filter({ hasText: 'In any color' }),
      folder: page.getByRole('radiogroup', { name: 'Folder' }).locator('label', { hasText: 'Inbox' }),
    };
    for (const [name, part] of Object.entries(marked)) expect([name, await isMarked(part)]).toEqual([name, true]);
    await page.keyboard.press('r');
    const box = page.getByRole('checkbox', { name: 'Include original message' });
    const checked = await box.screenshot();
    await box.uncheck();
    await page.mouse.move(0, 0);
    expect(checked.equals(await box.screenshot())).toBe(false);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('set');
    const action = page.locator('[role=dialog] [data-selected]');
    await action.waitFor();
    expect(await isMarked(action)).toBe(true);
    await page.goto(stage.url);
    const period = page.locator('label[data-active]', { hasText: '24 hours' });
    await period.waitFor();
    expect(await isMarked(period)).toBe(true);
    await close();
  });

  test('laptops show all places of the navigation without scrolling', async () => {
    const account = await stage.account();
    for (const [width, height] of [
      [1440, 900],
      [1024, 768],
    ] as const) {
      const { page, close } = await stage.open(account, { viewport: { width, height } });
      await page.goto(`${stage.url}/settings`);
      const places = page.getByRole('navigation', { name: 'Main' }).getByRole('group', { name: 'Pages' });
      await places.getByRole('link', { name: 'Settings' }).waitFor();
      expect(await places.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
      await close();
    }
  });

  test('a notice covers no row, and its text has the width of the notice above the Undo button', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: { width: 1440, height: 900 } });
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Lamp' }).getByRole('link').click();
    await page.getByRole('article').getByText('It is broken.').waitFor();
    await page.keyboard.press('e');
    const text = await page.getByText('Conversation archived').boundingBox();
    const undo = await page.getByRole('button', { name: 'Undo' }).boundingBox();
    const list = await page.getByRole('searchbox').first().boundingBox();
    if (text === null || undo === null || list === null) throw new Error('the notice or the list is not shown');
    expect(undo.y).toBeGreaterThanOrEqual(text.y + text.height);
    expect(text.width).toBeGreaterThan(100);
    expect(Math.max(text.x + text.width, undo.x + undo.width)).toBeLessThan(list.x);
    // With a link beside the button, both are whole.
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Lamp' }).getByRole('link').click();
    await page.getByRole('article').getByText('It is broken.').waitFor();
    await page.keyboard.press('r');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('It will be repaired.');
    await page.evaluate(() => localStorage.setItem('postroom-undo-seconds', '30'));
    await page.keyboard.press('Control+Enter');
    const notice = page.locator('.mantine-Notification-root').filter({ hasText: 'Show email' });
    await notice.getByRole('button', { name: 'Undo' }).waitFor();
    const label = notice.getByText('Undo', { exact: true });
    expect(await label.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
    await close();
  });

  test('badges are in lower case, and mail without a subject is called the same on all pages', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: '', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: { width: 1440, height: 900 } });
    await page.goto(`${stage.url}/members`);
    await expect.poll(() => page.locator('main .mantine-Badge-label').allInnerTexts()).toEqual(['owner', 'you']);
    for (const path of ['/activity', '/inbox']) {
      await page.goto(stage.url + path);
      await page.getByRole('main').getByText('(no subject)', { exact: true }).first().waitFor();
    }
    await page.getByRole('grid').getByRole('row').getByRole('link').click();
    await page.getByRole('heading', { name: '(no subject)', level: 2 }).waitFor();
    await close();
  });

  test('a long subject has three lines in its conversation, and its outline covers no line below', async () => {
    const account = await stage.account();
    const subject =
      'Where is the lamp that I ordered in the week before last, together with a shade and two bulbs of glass?';
    await stage.mail({ to: account.address, subject, text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: { width: 1024, height: 768 } });
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').getByRole('link').click();
    await page.getByRole('article').getByText('It is broken.').waitFor();
    const heading = page.getByRole('heading', { name: subject });
    const lines = await heading.evaluate(
      (element) => element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight),
    );
    expect(Math.round(lines)).toBe(3);
    const below = await page.getByText('1 message', { exact: true }).boundingBox();
    const outlineEnd = await heading.evaluate((element) => {
      element.tabIndex = -1;
      element.focus();
      const { outlineOffset, outlineWidth } = getComputedStyle(element);
      return (
        element.getBoundingClientRect().bottom + Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth)
      );
    });
    expect(outlineEnd).toBeLessThanOrEqual((below?.y ?? 0) + 1);
    await close();
  });

  test('a table that is much wider than the page keeps the size of its letters and scrolls', async () => {
    const account = await stage.account();
    const cells = Array.from({ length: 40 }, (_, column) => `<td>Column number ${column}</td>`).join('');
    await stage.mail({
      to: account.address,
      subject: 'Figures',
      html: `<table style="white-space: nowrap"><tr>${cells}</tr></table>`,
    });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Figures' }).getByRole('link').click();
    const mail = page.frameLocator('iframe').locator('html');
    await mail.getByText('Column number 39').waitFor({ state: 'attached' });
    await expect.poll(() => mail.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(true);
    expect(await mail.evaluate(({ style }) => style.zoom)).toBe('');
    await close();
  });

  test.each([
    ['a desktop', { width: 1440, height: 900 }],
    ['a laptop', { width: 1024, height: 768 }],
    ['a phone', PHONE],
  ])(
    'on %s the composer of a reply is in sight with Send, and stays when another conversation is opened',
    async (_size, viewport) => {
      const account = await stage.account();
      const long = Array.from({ length: 200 }, (_, n) => `Line ${n} of the letter.`).join('\n');
      await stage.mail({ to: account.address, subject: 'Lamp', text: 'Another one.' });
      await stage.mail({ to: account.address, subject: 'Long letter', text: long });
      await expect.poll(() => received(account)).toHaveLength(2);
      const { page, close } = await stage.open(account, { viewport });
      await page.goto(`${stage.url}/inbox`);
      const row = (subject: string) => page.getByRole('grid').getByRole('row').filter({ hasText: subject });
      await row('Long letter').getByRole('link').click();
      await page.getByRole('article').getByText('Line 0 of the letter.').waitFor();
      await page.keyboard.press('r');
      const message = page.getByRole('textbox', { name: 'Message', exact: true });
      const send = page.getByRole('region', { name: 'Reply' }).getByRole('button', { name: 'Send', exact: true });
      await message.fill('Half an answer');
      expect([await isOnTop(message), await isOnTop(send)]).toEqual([true, true]);
      if (viewport !== PHONE) {
        await row('Lamp').getByRole('link').click();
        await page.getByRole('article').getByText('Another one.').waitFor();
        expect(await message.innerText()).toBe('Half an answer');
        expect([await isOnTop(message), await isOnTop(send)]).toEqual([true, true]);
      }
      await close();
    },
  );

  test('the tools of a conversation say what they do on hover, and Delete is not the first, nor for selected ones', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'It is broken.' });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Lamp' }).getByRole('link').click();
    const remove = page.getByRole('button', { name: 'Delete (#)' });
    const archive = page.getByRole('button', { name: 'Archive (e)' });
    expect((await archive.boundingBox())?.x).toBeLessThan((await remove.boundingBox())?.x ?? 0);
    for (const [tool, words] of [
      [archive, 'Archive (e)'],
      [remove, 'Delete (#)'],
    ] as const) {
      await tool.hover();
      await page.getByRole('tooltip', { name: words }).waitFor();
    }
    await page.getByRole('grid').getByRole('checkbox').first().check();
    const tools = page.getByRole('toolbar', { name: 'Selected conversations' }).getByRole('button');
    await expect.poll(() => tools.nth(2).getAttribute('aria-label')).toBe('Archive (e)');
    await close();
  });

  test('wide pages keep mail in lines of 90 characters, and put settings and first steps side by side', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Lamp', text: 'Words of a letter. '.repeat(60) });
    await expect.poll(() => received(account)).toHaveLength(1);
    const { page, close } = await stage.open(account, { viewport: { width: 1920, height: 1080 } });
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Lamp' }).getByRole('link').click();
    const text = page.getByRole('article').getByText('Words of a letter.');
    const characters = await text.evaluate((element) => {
      const zero = document.createElement('span');
      zero.textContent = '0';
      element.append(zero);
      const { width } = zero.getBoundingClientRect();
      zero.remove();
      return element.getBoundingClientRect().width / width;
    });
    expect(characters).toBeLessThanOrEqual(90.5);
    for (const tab of ['account', 'security', 'service']) {
      await page.goto(`${stage.url}/settings?tab=${tab}`);
      const sections = page.getByRole('tabpanel').locator('section');
      await sections.nth(1).waitFor();
      const lefts = await sections.evaluateAll((all) => all.map((section) => section.getBoundingClientRect().x));
      expect([tab, Math.max(...lefts) - Math.min(...lefts)]).toEqual([tab, expect.toSatisfy((px) => px > 400)]);
    }
    await page.goto(`${stage.url}/welcome`);
    const readWidth = (name: string) => page.getByRole('region', { name }).evaluate(({ clientWidth }) => clientWidth);
    await page.getByRole('heading', { name: 'Next steps' }).waitFor();
    expect(await readWidth('Your email has arrived')).toBeGreaterThan(600);
    expect(await readWidth(`Send an email to ${account.address}`)).toBeGreaterThan(1_200);
    await close();
  });
});

/** Returns the mean of red, green and blue of a property of the first such element, 0 to 255. */
async function readLightness(page: Page, selector: string, property: string): Promise<number> {
  const value = await page
    .locator(selector)
    .first()
    .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
  const [red = 0, green = 0, blue = 0] = (value.match(/\d+/g) ?? []).map(Number);
  return (red + green + blue) / 3;
}

/** Returns the ids of received mail. */
async function received(account: TestAccount): Promise<string[]> {
  const { body } = await account.call('GET', '/emails?type=received');
  return body.data.map(({ id }: { id: string }) => id);
}
