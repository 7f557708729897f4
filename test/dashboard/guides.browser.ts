import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('guides', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('open from the page that they are about, link to each other, and are found by the palette', async () => {
    const tab = await stage.open(await stage.account());
    const { page } = tab;
    await page.goto(`${stage.url}/endpoints`);
    await page.getByRole('link', { name: 'Guide: Endpoints' }).click();
    await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^Endpoints/);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'All guides' }).click();
    await page
      .getByRole('textbox', { name: 'Search guides' })
      .or(page.getByRole('searchbox', { name: 'Search guides' }))
      .fill('dkim');
    await page.getByRole('link', { name: 'Domains', exact: true }).last().waitFor();
    expect(await findViolations(page)).toEqual([]);

    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1, name: 'Guides' }).click();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('guide routing');
    const found = page
      .getByRole('dialog', { name: 'Command palette' })
      .getByText(/^Guide: /)
      .first();
    await found.waitFor();
    await found.click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/docs\/\w+/);
    await page.goto(`${stage.url}/docs/none`);
    await page.getByText('Guide not found').waitFor();
    await page.goto(`${stage.url}/docs/constructor`);
    await page.getByText('Guide not found').waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
