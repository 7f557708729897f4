import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

const dist = path.join(repository, 'gateway/dashboard/dist');
/** What the inbox loads before it is shown: page, script, style and font. Bytes, compressed. */
const MAX_FIRST_LOAD = 220_000;

test('the inbox loads at most 220 KB before it is shown', () => {
  const html = readFileSync(path.join(dist, 'index.html'), 'utf8');
  const named = [...html.matchAll(/(?:src|href)="\/?(assets\/[^"]+)"/g)].map(([, name = '']) => name);
  const files = ['index.html', ...named];
  for (const part of [/\/index-.*\.js$/, /\.css$/, /\/public-sans-latin-wght-normal-.*\.woff2$/])
    expect(files).toContainEqual(expect.stringMatching(part));
  const bytes = files.map((name) => {
    const file = path.join(dist, name);
    return statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size;
  });
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_FIRST_LOAD);
});
