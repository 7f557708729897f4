import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSeen } from '../../../core/screening/seen-text.ts';
import { addHtmlText } from '../../../core/sending/unseen-html.ts';
import { PieceList } from '../../../core/sending/unseen-text.ts';
import { chromiumPath } from '../../support/servers/chromium.ts';
import { HIDING_TRICKS } from './hiding-tricks.ts';

/** Two texts of the same width in letters of the same width: a place that looks the same with both shows none of them. */
const [TEXT, OTHER] = ['HHHHHHHH HHHHHHHH', 'iiiiiiii iiiiiiii'];
/** Difference of a color that a person notices, and pixels of it that are a letter. */
const NOTICED = 40;
const LETTER_PIXELS = 30;

/** Where the screening says something else than Chromium, and why. */
const EXCEPTIONS: Readonly<Record<string, 'seen' | 'hidden'>> = {
  // Other programs show it, or a click does.
  noscript: 'seen',
  'a conditional comment of Outlook': 'seen',
  'an iframe': 'seen',
  'an object': 'seen',
  'closed details': 'seen',
  'an option': 'seen',
  // Other programs take another of the values.
  'a rule that another undoes': 'hidden',
  'a rule that the style undoes': 'hidden',
  // Chromium makes such letters larger; a person cannot read what lies on itself.
  'font size by percent within percent': 'hidden',
  'letters upon each other': 'hidden',
  // No layout is computed.
};

describe.skipIf(chromiumPath === undefined)('text that Chromium does not show', () => {
  let browser: Browser;
  let page: Page;
  let compared: Page;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
    page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 800, height: 400 } });
    compared = await browser.newPage();
  });

  afterAll(async () => {
    await browser.close();
  });

  async function photograph(html: string): Promise<string> {
    await page.setContent(`<!doctype html><style>*{font-family:monospace}</style>${html}`);
    return (await page.screenshot()).toString('base64');
  }

  async function isShown(html: (text: string) => string): Promise<boolean> {
    const pictures = [await photograph(html(TEXT)), await photograph(html(OTHER))];
    const differing = await compared.evaluate(
      async ([noticed, ...all]) => {
        const [one, other] = await Promise.all(
          all.map(async (picture) => {
            const response = await fetch(`data:image/png;base64,${picture}`);
            const bitmap = await createImageBitmap(await response.blob());
            const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
            context?.drawImage(bitmap, 0, 0);
            return context?.getImageData(0, 0, bitmap.width, bitmap.height).data ?? new Uint8ClampedArray();
          }),
        );
        let count = 0;
        for (let at = 0; at < (one?.length ?? 0); at += 4)
          if (
            [0, 1, 2].some((color) => Math.abs((one?.[at + color] ?? 0) - (other?.[at + color] ?? 0)) > Number(noticed))
          )
            count++;
        return count;
      },
      [String(NOTICED), ...pictures],
    );
    return differing >= LETTER_PIXELS;
  }

  test.each(HIDING_TRICKS)('the screening sees what Chromium shows of $name', async ({ name, html }) => {
    const list = new PieceList(10_000);
    expect(addHtmlText(html(TEXT), list)).toBe(true);
    const own = list.finish().filter(({ text }) => text.includes('HHHH'));
    const isSeenHere = own.some((piece) => isSeen(piece));
    const shown = await isShown(html);
    const expected = EXCEPTIONS[name] === undefined ? shown : EXCEPTIONS[name] === 'seen';
    expect({ name, isSeenHere, why: own.map(({ unseen }) => unseen?.detail) }).toMatchObject({ isSeenHere: expected });
  });
});
