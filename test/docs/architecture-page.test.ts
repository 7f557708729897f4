import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

const page = readFileSync(path.join(repository, 'docs/architecture.md'), 'utf8');

test.each([
  ['docs/architecture.md', 80],
  ['README.md', 20],
])('%s names only files and folders that exist', (name, least) => {
  const text = readFileSync(path.join(repository, name), 'utf8');
  const named = [...text.matchAll(/`([a-z-]+\/[^`\s]*)`/g)].map(([, file = '']) => file);
  const all = named.flatMap(expanded);
  expect(all.length).toBeGreaterThan(least);
  expect(all.filter((file) => !existsSync(path.join(repository, file)))).toEqual([]);
});

test.each(['The way in: SMTP to webhook', 'The way out: POST to MX'])(
  'every step of "%s" names its file',
  (heading) => {
    const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
    const steps = [...section.matchAll(/^\d+\. .+$/gm)].map(([step]) => step);
    expect(steps.length).toBeGreaterThan(10);
    expect(steps.filter((step) => !/`[a-z/-]+\.ts`/.test(step))).toEqual([]);
  },
);

/** Expands `{feature}` to a feature that every layer has, and `{a,b}` to each of its words. */
function expanded(name: string): string[] {
  const [whole, words = ''] = /\{([^}]*)\}/.exec(name) ?? [];
  if (whole === undefined) return [name];
  return words.split(',').flatMap((word) => expanded(name.replace(whole, word === 'feature' ? 'sending' : word)));
}
