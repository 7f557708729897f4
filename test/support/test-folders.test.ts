import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from './runner.ts';
import { isTestFile } from './test-files.ts';

/** Checks the row of README.md that says where tests are. */

const row = /^\| `test\/` \| .*$/m.exec(readFileSync(path.join(repository, 'README.md'), 'utf8'))?.[0] ?? '';

/** Folders that the row names, such as `flow`. */
const named = [...row.matchAll(/`test\/([a-z/]+)\/`/g)].map(([, folder = '']) => folder);

/** Tests of the whole tree. */
const OF_ALL = ['architecture.test.ts'];

const tests = readdirSync(path.join(repository, 'test'), { recursive: true, encoding: 'utf8' }).filter(
  (file) => isTestFile(file) && !OF_ALL.includes(file),
);

test('every test is in a folder of the sources, or in one that README.md names', () => {
  expect(tests.length).toBeGreaterThan(500);
  const isNamed = (file: string) => named.some((folder) => file.startsWith(`${folder}/`));
  const isBesideSources = (file: string) => existsSync(path.join(repository, path.dirname(file)));
  expect(tests.filter((file) => !isNamed(file) && !isBesideSources(file))).toEqual([]);
});

test('every folder that README.md names for tests has tests', () => {
  expect(named.length).toBeGreaterThan(6);
  expect(named.filter((folder) => !tests.some((file) => file.startsWith(`${folder}/`)))).toEqual([]);
});
