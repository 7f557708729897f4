import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('a table in the composer', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('survives pasting, is edited, kept in the draft and sent with its text', { timeout: 300_000 }, async () => {
    const account = await stage.account();
    const { page, complaints } = await stage.open(account);
    page.setDefaultTimeout(30_000);
    await page.goto(`${stage.url}/inbox?compose=new`);
    await page.getByLabel('Subject').fill('Prices');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.click();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData(
        'text/html',
        '<table style="width:100%"><thead><tr><th onclick="x()">Item</th><th colspan="2">Price</th></tr></thead><tbody><tr><td>Tea</td><td>3</td><td>EUR</td></tr></tbody></table>',
      );
      document.activeElement?.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    });
    await message.locator('td').filter({ hasText: 'Tea' }).click();
    await page.keyboard.press('End');
    await page.keyboard.type(' green');
    const stored = async () =>
      (await account.graphql('{ drafts(first: 1) { edges { node { html text } } } }')).body.data.drafts.edges[0]?.node;
    await expect.poll(async () => (await stored())?.text, { timeout: 20_000 }).toContain('Tea green | 3 | EUR');
    const { html, text } = await stored();
    expect(text).toContain('Item | Price');
    expect(html).toContain('<table border="1" cellpadding="4" cellspacing="0">');
    expect(html).toContain('<th colspan="2">');
    expect(html).not.toContain('onclick');
    // The page learns a moment after the store that the draft is there.
    await page.getByText('Draft saved').waitFor();
    await page.reload();
    await message.locator('td').filter({ hasText: 'Tea green' }).waitFor();
    expect(await page.getByText('This draft has HTML that the editor cannot show').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
