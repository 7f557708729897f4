import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isEveryPageOpened } from '../support/browser-length.ts';
import { fillAccount, type SampleAccount } from '../support/rows/sample-account.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { findColorViolations, findViolations, findViolationsInMail } from '../support/stages/axe.ts';
import { type BrowserStage, type BrowserTab, openBrowserStage } from '../support/stages/browser-stage.ts';
import { dashboardPaths, settle } from '../support/stages/dashboard-pages.ts';

const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 860 };

/** Pages of a quick run that are checked in the dark, too: between them, they show nearly every part. A long run checks all. */
const DARK_SLICE = /^\/(?:inbox|emails|endpoints|domains)\/|^\/(?:inbox|keys|settings|sign-in)?$/;
const isInDarkSlice = (path: string): boolean => isEveryPageOpened || (DARK_SLICE.test(path) && !path.includes('?'));

/** Pages that only a full account has anything on, besides those that members of all roles open. */
const MORE_PATHS = [
  '/customers',
  '/docs',
  '/docs/webhooks',
  '/addresses?tab=reply',
  '/inbox?in=sent',
  '/inbox?compose=new',
  '/suppressions?new',
  '/settings?tab=security',
  '/settings?tab=snippets',
  '/settings?tab=service',
];

let stage: BrowserStage;
let full: TestAccount;
let empty: TestAccount;
let sample: SampleAccount;

describe.skipIf(chromiumPath === undefined)('every page', { timeout: 900_000 }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    const filled = await stage.service.createAccount();
    full = filled;
    sample = await fillAccount({ account: filled, ...filled, smtpPort: stage.service.smtpPort, webhookUrl: null });
    empty = await stage.service.createAccount();
  });
  afterAll(() => stage?.close());

  /** Opens each page once in one tab, and returns what axe finds and what the page complains of, by its path. */
  async function check(
    { page, complaints, warnings }: BrowserTab,
    paths: readonly string[],
    { isDarkChecked = isInDarkSlice, isFollowed = true } = {},
  ): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const path of paths) {
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'light' });
      if (isEveryPageOpened || !isFollowed || path === paths[0]) await page.goto(stage.url + path);
      else await follow(page, path);
      await settle(page);
      const overflow = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      await expect.poll(overflow, { message: `pixels of ${path} beside a phone` }).toBeLessThanOrEqual(0);
      await page.setViewportSize(DESKTOP);
      await settle(page);
      await expect.poll(() => page.locator('h1').count(), { message: `h1 of ${path}` }).toBe(1);
      await expect.poll(() => page.title(), { message: `title of ${path}` }).toMatch(/· Postroom$/);
      // What surrounds the pages is the same on each.
      const part = isEveryPageOpened || path === paths[0] ? null : 'main';
      const light = await findViolations(page, part);
      const dark = isDarkChecked(path) ? await findDarkViolations(page) : [];
      const wrong = [
        ...light,
        ...(await findViolationsInMail(page)).map((violation) => `in the mail: ${violation}`),
        ...dark.map((violation) => `dark: ${violation}`),
        ...complaints.splice(0),
        ...warnings.splice(0),
      ];
      if (wrong.length > 0) found[path] = wrong;
    }
    return found;
  }

  /** Goes to a page as a link of another page does: opening each anew costs most of the processor time of these tests. */
  async function follow(page: Page, path: string): Promise<void> {
    const notFound = page.getByRole('heading', { level: 1, name: 'Page not found' });
    await page.evaluate(() => history.pushState(null, '', '/nowhere'));
    await notFound.waitFor();
    await page.evaluate((to) => history.pushState(null, '', to), path);
    if (path !== '/no-such-page') await notFound.waitFor({ state: 'detached' });
  }

  async function findDarkViolations(page: Page): Promise<string[]> {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    return findColorViolations(page);
  }

  test('of a full account passes axe in light and dark, keeps to its policy, fits on a phone, and has one h1 and a title', async () => {
    const tab = await stage.open(full);
    expect(await check(tab, [...dashboardPaths(sample), ...MORE_PATHS])).toEqual({});
    await tab.close();
  });

  test('with a mail whose words are hard to read says so: the frame of the mail is looked at, too', async () => {
    const account = await stage.account();
    await stage.mail({
      to: account.address,
      subject: 'Pale',
      html: '<p style="background:#fff;color:#ddd">Pale words</p>',
    });
    const tab = await stage.open(account);
    await tab.page.goto(`${stage.url}/inbox`);
    await tab.page.getByRole('grid').getByRole('row').filter({ hasText: 'Pale' }).getByRole('link').click();
    await tab.page.frameLocator('iframe').getByText('Pale words').waitFor();
    expect(await findViolationsInMail(tab.page)).toEqual([expect.stringMatching(/^color-contrast: .*Pale words/)]);
    await tab.close();
  });

  test('of an empty account passes axe, keeps to its policy, fits on a phone, and has one h1 and a title', async () => {
    const tab = await stage.open(empty);
    expect(await check(tab, dashboardPaths(null), { isDarkChecked: () => false })).toEqual({});
    await tab.close();
  });

  test('without a session passes axe in light and dark, keeps to its policy, fits on a phone, and has one h1 and a title', async () => {
    const tab = await stage.open(null);
    const paths = ['/sign-in', '/sign-up', '/forgot-password', '/reset-password', '/sign-in/link'];
    // Without a session, an unknown path leads to signing in.
    expect(await check(tab, paths, { isFollowed: false })).toEqual({});
    await tab.close();
  });
});
