import type { Browser, Page } from 'playwright-core';
import { makeMailDocument } from '../../../core/html/mail-document.ts';

/** How a mail looks to us and to its sender, both with images blocked. */
export interface Comparison {
  /** PNG of our view and of the HTML as it came */
  ours: Buffer;
  raw: Buffer;
  /** 0 to 1: pixels that differ, those that only one picture has included */
  share: number;
}

const WIDTH = 800;
const PICTURE_QUALITY = 60;
const FIRST_HEIGHT = 600;
const MAX_HEIGHT = 6_000;
/** Difference of a color of a pixel from which it counts as another, of 255: above that of the box of a blocked image on white. */
const TOLERANCE = 24;

/** Compares pictures of mail in a browser. `close` closes its pages. */
export async function openComparer(browser: Browser): Promise<{
  compare(html: string): Promise<Comparison>;
  /** Returns both pictures beside each other, ours on the left, as a small JPEG. */
  besideEachOther(pictures: Comparison): Promise<Buffer>;
  close(): Promise<void>;
}> {
  const viewport = { width: WIDTH, height: FIRST_HEIGHT };
  const still = await browser.newContext({ viewport, javaScriptEnabled: false });
  await still.route('**/*', (route) => route.abort());
  const scripted = await browser.newContext();
  const counter = await scripted.newPage();
  const [ours, raw] = [await still.newPage(), await still.newPage()];
  return {
    async compare(html) {
      const document = makeMailDocument({
        subject: 'Newsletter',
        html,
        text: null,
        hasRemoteImages: false,
        inlineImages: new Map(),
        ownHosts: new Set(),
      });
      const pictures = { ours: await readPicture(ours, document.html), raw: await readPicture(raw, html) };
      const share = await counter.evaluate(countDifferences, {
        a: pictures.ours.toString('base64'),
        b: pictures.raw.toString('base64'),
        tolerance: TOLERANCE,
      });
      return { ...pictures, share };
    },
    async besideEachOther({ ours: left, raw: right }) {
      const show = (png: Buffer) =>
        `<img style="width:396px;border:1px solid #999" src="data:image/png;base64,${png.toString('base64')}">`;
      await counter.setViewportSize({ width: 816, height: 100 });
      await counter.setContent(
        `<!doctype html><body style="margin:4px;display:flex;gap:8px;align-items:flex-start">${show(left)}${show(right)}</body>`,
      );
      return counter.screenshot({ type: 'jpeg', quality: PICTURE_QUALITY, fullPage: true });
    },
    async close() {
      await still.close();
      await scripted.close();
    },
  };
}

async function readPicture(page: Page, html: string): Promise<Buffer> {
  await page.setViewportSize({ width: WIDTH, height: FIRST_HEIGHT });
  await page.setContent(html, { waitUntil: 'load' });
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: WIDTH, height: Math.max(FIRST_HEIGHT, Math.min(height, MAX_HEIGHT)) });
  return page.screenshot({ animations: 'disabled' });
}

/** Runs in a page. */
async function countDifferences({ a, b, tolerance }: { a: string; b: string; tolerance: number }): Promise<number> {
  const read = async (png: string) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    if (context === null) throw new Error('no canvas');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [one, two] = [await read(a), await read(b)];
  const [small, large] = one.height < two.height ? [one, two] : [two, one];
  let differing = (large.height - small.height) * large.width;
  for (let at = 0; at < small.data.length; at += 4) {
    const isOther = [0, 1, 2].some((color) => {
      return Math.abs((small.data[at + color] ?? 0) - (large.data[at + color] ?? 0)) > tolerance;
    });
    if (isOther) differing++;
  }
  return differing / (large.height * large.width);
}
