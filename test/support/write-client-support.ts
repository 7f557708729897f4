import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/**
 * `npm run client-support -- FILE`: writes core/html/client-support.json from the data of caniemail.com, which is `data/caniemail.json` of
 * the npm package `caniemail` (decision 92). Only features that one of the chosen mail clients lacks are kept.
 */

/** Features that no reader misses, or that every message has. */
const LEFT_OUT =
  /^(?:amp|bimi|css-(?:comments|cursor|orphans|widows)|html-(?:abbr|acronym|aria-\w+|body|comments|doctype|lang|loading-attribute|role|target))$/;

const supportByVersion = z.record(z.string(), z.string());
const source = z.object({
  last_update_date: z.string(),
  data: z.array(
    z.object({
      slug: z.string(),
      title: z.string(),
      stats: z.record(z.string(), z.record(z.string(), supportByVersion)),
    }),
  ),
});

/** Mail clients that most recipients use, by family and platform of the data. */
const CLIENTS: readonly (readonly [family: string, platform: string, name: string])[] = [
  ['gmail', 'desktop-webmail', 'Gmail (web)'],
  ['gmail', 'ios', 'Gmail (iOS)'],
  ['gmail', 'android', 'Gmail (Android)'],
  ['apple-mail', 'macos', 'Apple Mail (macOS)'],
  ['apple-mail', 'ios', 'Apple Mail (iOS)'],
  ['outlook', 'windows', 'Outlook (Windows)'],
  ['outlook', 'outlook-com', 'Outlook.com'],
  ['outlook', 'macos', 'Outlook (macOS)'],
  ['outlook', 'ios', 'Outlook (iOS)'],
  ['outlook', 'android', 'Outlook (Android)'],
  ['yahoo', 'desktop-webmail', 'Yahoo Mail (web)'],
  ['yahoo', 'ios', 'Yahoo Mail (iOS)'],
  ['yahoo', 'android', 'Yahoo Mail (Android)'],
  ['samsung-email', 'android', 'Samsung Email'],
  ['thunderbird', 'macos', 'Thunderbird'],
  ['protonmail', 'desktop-webmail', 'Proton Mail (web)'],
  ['fastmail', 'desktop-webmail', 'Fastmail (web)'],
  ['gmx', 'desktop-webmail', 'GMX (web)'],
];

const LICENSE =
  'MIT License. Copyright (c) 2019 HTeuMeuLeu. Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.';

const [, , file = ''] = process.argv;
const read = source.parse(JSON.parse(readFileSync(file, 'utf8')));
const features = read.data.flatMap(({ slug, title, stats }) => {
  const clientsWith = (letter: string) =>
    CLIENTS.flatMap(([family, platform], at) => (newest(stats[family]?.[platform]).startsWith(letter) ? [at] : []));
  const none = clientsWith('n');
  const partial = clientsWith('a');
  return none.length === 0 || LEFT_OUT.test(slug) ? [] : [[slug, { title: title.trim(), none, partial }] as const];
});
const lines = features.map(([slug, feature]) => `    ${JSON.stringify(slug)}: ${JSON.stringify(feature)}`);
const head = {
  source: 'https://www.caniemail.com',
  license: LICENSE,
  version: read.last_update_date.slice(0, 10),
  clients: CLIENTS.map(([, , name]) => name),
};
const opening = JSON.stringify(head, null, 2).slice(0, -2);
writeFileSync(
  path.resolve(import.meta.dirname, '../../core/html/client-support.json'),
  `${opening},\n  "features": {\n${lines.join(',\n')}\n  }\n}\n`,
);

/** Support in the newest version that was tested: `y`, `n`, `a` (in part) or `u` (unknown), with the numbers of notes. */
function newest(versions: z.infer<typeof supportByVersion> | undefined): string {
  const tested = Object.entries(versions ?? {});
  // JavaScript moves keys such as `13` before `12.4`; dates stay in their order.
  if (tested.every(([version]) => /^\d+(?:\.\d+)*$/.test(version)))
    tested.sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  return tested.at(-1)?.[1] ?? 'u';
}
