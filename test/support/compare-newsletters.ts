import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { readEmlMessages } from './mail/corpora.ts';
import { NEWSLETTERS } from './mail/newsletters.ts';
import { openComparer } from './mail/pixel-differences.ts';
import { chromiumPath } from './servers/chromium.ts';

/**
 * `npm run newsletters -- [FOLDER]`: compares our view of the 20 newsletters of the corpora with the most styles with their own HTML in
 * Chromium, images blocked, and prints the share of pixels that differ. With a folder it keeps the pictures there.
 * It writes pictures of newsletters of our own to docs/screenshots.
 */
const COUNT = Number(process.env['NEWSLETTERS'] ?? 20);
const folder = process.argv[2];
const docs = path.resolve(import.meta.dirname, '../../docs/screenshots');

/** Styles of HTML: declarations in attributes and style sheets, and attributes that design. */
function countStyles(html: string): number {
  const sheets = [...html.matchAll(/<style\b[^>]*>([\s\S]*?)<\/style/gi)].map(([, css = '']) => css);
  const attributes = [...html.matchAll(/\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map(([, a, b]) => a ?? b ?? '');
  const declarations = [...sheets, ...attributes].reduce((sum, css) => sum + css.split(':').length - 1, 0);
  return declarations + html.split(/\b(?:bgcolor|background|align|valign|cellpadding|color|face)\s*=/i).length - 1;
}

const mails: { file: string; html: string; styles: number }[] = [];
for (const { file, bytes } of await readEmlMessages()) {
  const { htmlBody } = await parseMessage(bytes);
  if (htmlBody !== null) mails.push({ file, html: htmlBody, styles: countStyles(htmlBody) });
}
const chosen = mails.toSorted((a, b) => b.styles - a.styles).slice(0, COUNT);
const browser = await chromium.launch(chromiumPath === undefined ? {} : { executablePath: chromiumPath });
const comparer = await openComparer(browser);
if (folder !== undefined) await mkdir(folder, { recursive: true });
process.stdout.write('| message | styles | pixels that differ |\n|---|---|---|\n');
let most = 0;
for (const { file, html, styles } of chosen) {
  const { ours, raw, share } = await comparer.compare(html);
  most = Math.max(most, share);
  const name = path.basename(file, '.eml');
  process.stdout.write(`| ${name} | ${styles} | ${(share * 100).toFixed(1)} % |\n`);
  if (folder === undefined) continue;
  await writeFile(path.join(folder, `${name}.ours.png`), ours);
  await writeFile(path.join(folder, `${name}.raw.png`), raw);
}
for (const [name, html] of NEWSLETTERS) {
  const comparison = await comparer.compare(html);
  process.stdout.write(`| our own: ${name} | ${countStyles(html)} | ${(comparison.share * 100).toFixed(1)} % |\n`);
  await writeFile(path.join(docs, `newsletter-${name}.jpg`), await comparer.besideEachOther(comparison));
}
process.stdout.write(`\nAt most ${(most * 100).toFixed(1)} % of the pixels differ.\n`);
await comparer.close();
await browser.close();
