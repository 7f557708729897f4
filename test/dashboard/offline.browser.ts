import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the dashboard without a network', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('opens its shell and says that it is offline, and has kept no mail', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Private matters', text: 'The secret is 4711.' });
    const { page, context, close } = await stage.open(account);
    page.setDefaultTimeout(20_000);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('row').filter({ hasText: 'Private matters' }).getByRole('link').click();
    await page.getByRole('heading', { name: 'Private matters' }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'Messages' }).innerText()).toContain('4711');
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    // With the worker in control, pages and mail are read once more.
    await page.reload();
    await page.getByRole('row').filter({ hasText: 'Private matters' }).waitFor();
    await expect.poll(() => page.evaluate(() => caches.has('postroom-shell-1'))).toBe(true);
    await expect
      .poll(() =>
        page.evaluate(
          async () => (await (await caches.open('postroom-shell-1')).match('/offline-shell')) !== undefined,
        ),
      )
      .toBe(true);
    try {
      await context.setOffline(true);
      await page.goto(`${stage.url}/activity`);
      await page.getByText('You are offline').waitFor();
      await page.getByText('Held and blocked').waitFor();
      expect(await findViolations(page)).toEqual([]);
      const kept = await page.evaluate(async () => {
        const paths: string[] = [];
        const texts: string[] = [];
        for (const name of await caches.keys())
          for (const request of await (await caches.open(name)).keys()) {
            paths.push(new URL(request.url).pathname);
            texts.push((await (await (await caches.open(name)).match(request))?.text()) ?? '');
          }
        return { paths, texts: texts.join('\n') };
      });
      expect(
        kept.paths.filter((path) => !/^\/(assets\/|offline-shell$|postroom\.svg$|site\.webmanifest$)/.test(path)),
      ).toEqual([]);
      expect(kept.texts).not.toContain('4711');
      expect(kept.texts).not.toContain('Private matters');
      expect(kept.texts).not.toContain(account.address);
    } finally {
      await context.setOffline(false);
    }
    // It tries again by itself.
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await close();
  });
});
