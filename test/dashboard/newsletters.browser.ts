import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NEWSLETTERS } from '../support/mail/newsletters.ts';
import { openComparer } from '../support/mail/pixel-differences.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { connectBrowser } from '../support/servers/shared-browser.ts';

/** Share of the pixels that may differ; `npm run newsletters` compares mail of the corpora. */
const MAX_SHARE = 0.05;

describe.skipIf(chromiumPath === undefined)('newsletters look as their sender made them', () => {
  let browser: Awaited<ReturnType<typeof connectBrowser>>;
  let comparer: Awaited<ReturnType<typeof openComparer>>;

  beforeAll(async () => {
    browser = await connectBrowser();
    comparer = await openComparer(browser);
  });
  afterAll(async () => {
    await comparer?.close();
    await browser?.close();
  });

  test.each([...NEWSLETTERS])('%s looks right with images blocked', async (_, html) => {
    const { share } = await comparer.compare(html);
    expect(share).toBeLessThan(MAX_SHARE);
  });

  test('a changed design changes the picture', async () => {
    const html = NEWSLETTERS.get('shop') ?? '';
    const [shop, plain] = [
      await comparer.compare(html),
      await comparer.compare(html.replace(/<style>.*<\/style>/s, '')),
    ];
    expect(shop.ours.equals(plain.ours)).toBe(false);
  });
});
