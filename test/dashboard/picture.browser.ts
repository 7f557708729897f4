import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JPEG_PICTURE } from '../support/mail/pictures.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('a picture of a person', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('is chosen in Settings, cropped to a square, shown, removed, and chosen again from the same file', async () => {
    const { page, close } = await stage.open(await stage.account());
    await page.goto(`${stage.url}/settings`);
    await page.getByRole('button', { name: 'Choose picture' }).waitFor();
    expect(await page.getByLabel('Picture file').getAttribute('accept')).not.toMatch(/svg|\*/);
    await choose(page, 'Choose picture');
    await page.getByText('Your picture was saved.').waitFor();
    const remove = page.getByRole('button', { name: 'Remove picture' });
    await remove.waitFor();
    expect(await readSides(page)).toContainEqual([256, 256]);
    await remove.click();
    await remove.waitFor({ state: 'detached' });
    await choose(page, 'Choose picture');
    await remove.waitFor();
    expect(await readSides(page)).toContainEqual([256, 256]);
    await close();
  });
});

/** Chooses a picture that is wider than high. */
async function choose(page: Page, button: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: button }).click();
  await (await chooser).setFiles({ name: 'me.jpg', mimeType: 'image/jpeg', buffer: JPEG_PICTURE });
}

/** Returns the sides of the pictures of persons that the page shows, once these are loaded. */
function readSides(page: Page): Promise<number[][]> {
  return page.evaluate(async () => {
    const pictures = [...document.querySelectorAll<HTMLImageElement>('img[src*="/picture?v="]')];
    await Promise.all(pictures.map((picture) => picture.decode()));
    return pictures.map((picture) => [picture.naturalWidth, picture.naturalHeight]);
  });
}
