import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { findColorViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

/** Height of a row that has nothing more to say, with its border. CSS pixels. */
const ROW_PX = 41;
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
});

/** Returns the ids of received mail. */
async function received(account: TestAccount): Promise<string[]> {
  const { body } = await account.call('GET', '/emails?type=received');
  return body.data.map(({ id }: { id: string }) => id);
}
