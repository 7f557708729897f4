import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

const read = (file: string) => readFileSync(path.join(repository, 'docs', file), 'utf8');

test.each([
  ['Django', 'django/app.py', /\b(EMAIL_(?!TIMEOUT)\w+)=/g],
  ['Rails', 'rails/config.ru', /^ {4}(\w+): ENV|^ {4}(\w+): (?=[":t])/gm],
])('the row of %s on the page of submission names every setting of its application', (program, file, setting) => {
  const row = read('submission.md')
    .split('\n')
    .find((line) => line.startsWith(`| ${program} |`));
  const names = [...read(`recipes/web-frameworks/${file}`).matchAll(setting)].map(([, one, other]) => one ?? other);
  expect(names).toHaveLength(program === 'Django' ? 5 : 7);
  expect(names.filter((name) => !row?.includes(`${name}`))).toEqual([]);
});
