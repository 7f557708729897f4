import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillAccount, type SampleAccount } from '../support/rows/sample-account.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, type BrowserTab, openBrowserStage } from '../support/stages/browser-stage.ts';
import { dashboardPaths, settle } from '../support/stages/dashboard-pages.ts';

let stage: BrowserStage;
let full: TestAccount;
let empty: TestAccount;
let sample: SampleAccount;

describe.skipIf(chromiumPath === undefined)('every page', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    const filled = await stage.service.createAccount();
    full = filled;
    sample = await fillAccount({ account: filled, ...filled, smtpPort: stage.service.smtpPort, webhookUrl: null });
    empty = await stage.service.createAccount();
  });
  afterAll(() => stage?.close());

  /** Opens each page in one tab; answers what is wrong with each, by its path. */
  async function look(
    tab: BrowserTab,
    paths: readonly string[],
    find: () => Promise<string[]>,
  ): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const path of paths) {
      await tab.page.goto(stage.url + path);
      await settle(tab.page);
      const wrong = [...(await find()), ...tab.complaints.splice(0)];
      if (wrong.length > 0) found[path] = wrong;
    }
    return found;
  }

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    test('of a full account is open to everybody, by axe, and keeps to its policy', { timeout: 300_000 }, async () => {
      const tab = await stage.open(full, { colorScheme });
      expect(await look(tab, dashboardPaths(sample), () => findViolations(tab.page))).toEqual({});
      await tab.context.close();
    });

    test('of an empty account, too', { timeout: 300_000 }, async () => {
      const tab = await stage.open(empty, { colorScheme });
      expect(await look(tab, dashboardPaths(null), () => findViolations(tab.page))).toEqual({});
      await tab.context.close();
    });

    test('that needs no session, too', async () => {
      const tab = await stage.open(null, { colorScheme });
      const paths = ['/sign-in', '/sign-up', '/forgot-password', '/reset-password', '/sign-in/link'];
      expect(await look(tab, paths, () => findViolations(tab.page))).toEqual({});
      await tab.context.close();
    });
  });

  test('fits on a phone: nothing makes the page wider than its window', { timeout: 300_000 }, async () => {
    const tab = await stage.open(full, { viewport: { width: 360, height: 740 } });
    const widths = async () => {
      const { page, window } = await tab.page.evaluate(() => ({
        page: document.documentElement.scrollWidth,
        window: document.documentElement.clientWidth,
      }));
      return page > window ? [`${page} px in a window of ${window}`] : [];
    };
    expect(await look(tab, dashboardPaths(sample), widths)).toEqual({});
    await tab.context.close();
  });

  test('has one heading of the first level, a title of its own, and a place in the navigation or a way there', async () => {
    const tab = await stage.open(full);
    const titles: string[] = [];
    const wrong = await look(tab, dashboardPaths(sample), async () => {
      titles.push(await tab.page.title());
      const count = await tab.page.locator('h1').count();
      return count === 1 ? [] : [`${count} headings of the first level`];
    });
    expect(wrong).toEqual({});
    expect(titles.filter((title) => !title.endsWith('· Postroom'))).toEqual([]);
    await tab.context.close();
  });
});
