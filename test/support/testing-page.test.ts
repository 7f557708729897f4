import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { missingTests } from './chaos-results.ts';
import { readLastResults } from './last-results.ts';
import { securityCases } from './stages/security-cases.ts';
import { longFiles } from './test-files.ts';
import { testingPage, testingRow } from './testing-page.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('docs/testing.md is the page that npm run testing-page writes', () => {
  const page = readFileSync(path.join(root, 'docs/testing.md'), 'utf8');
  expect(page, 'write it with: npm run testing-page').toBe(testingPage(longFiles(root), readLastResults(root)));
});

test('the security cases name only tests that exist', () => {
  const readSource = (file: string) => {
    try {
      return readFileSync(path.join(root, file), 'utf8');
    } catch {
      return null;
    }
  };
  const cases = securityCases.map(({ id, attempt, expected, tests }) => ({ id, fault: attempt, expected, tests }));
  expect(missingTests(cases, readSource)).toEqual([]);
});

test('a case without a test is visible', () => {
  expect(testingRow('S99', 'An attempt', 'Nothing', [])).toBe('| S99 | An attempt | Nothing | **no test** |');
});

// Chromium ends what it loads when the machine's addresses change, and cluster-faults.long.ts changes them. The exception needs the
// scanners of the long experiments, and opens its pages within seconds.
test('no long experiment opens a browser, except one', () => {
  const withBrowser = longFiles(root).filter((file) =>
    /playwright|shared-browser|browser-stage/.test(readFileSync(path.join(root, file), 'utf8')),
  );
  expect(withBrowser).toEqual(['test/flow/screening-dashboard.long.ts']);
});
