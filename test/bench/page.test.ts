import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { benchmarksPage, figure, README_MARKS, readmeTable } from './page.ts';
import { parts } from './parts.ts';
import { type PartResult, readmeFile, readResults, resultsFolder, withTable } from './results.ts';
import { computeRatio, measuredRows, type Row } from './rows.ts';

const row: Row = {
  id: 'webhook-4k-fresh',
  work: '4 KB to the webhook',
  unit: 'messages/s',
  better: 'higher',
  ours: [300, 280, 320],
  peer: { name: 'Postfix', values: [600, 590, 610] },
};
const result: PartResult = {
  part: 'inbound',
  commit: 'abc1234',
  machine: '2 x CPU',
  at: '2026-11-23T17:00:00.000Z',
  seconds: 60,
  foreignPercent: 2,
  isSmall: false,
  problems: [],
  rows: [row],
};
const makePage = (...results: PartResult[]) => benchmarksPage({ parts: results });

test('docs/benchmarks.md is what docs/benchmarks.json says', () => {
  const page = benchmarksPage(readResults(resultsFolder));
  expect(readFileSync(path.join(resultsFolder, 'benchmarks.md'), 'utf8'), 'write it with: npm run bench -- page').toBe(
    page,
  );
});

test('the table of README.md quotes docs/benchmarks.json', () => {
  const readme = readFileSync(readmeFile, 'utf8');
  const table = readmeTable(readResults(resultsFolder));
  expect(withTable(readme, table), 'write it with: npm run bench -- page').toBe(readme);
});

test('a row shows medians, spreads and the ratio', () => {
  expect(makePage(result)).toContain(
    '| 4 KB to the webhook | 300 messages/s (280–320) | Postfix | 600 messages/s (590–610) | 0.50 |',
  );
});

test('a section shows command, commit, date, machine and noise', () => {
  expect(makePage(result)).toContain(
    '`npm run bench -- all --only inbound`, commit abc1234, 2026-11-23, 2 x CPU. Other processes used 2 % of the machine.',
  );
  expect(makePage({ ...result, foreignPercent: 5.1 })).toContain('used 5 % of the machine: **NOISY**');
  expect(makePage({ ...result, foreignPercent: 5 })).not.toContain('NOISY');
  expect(makePage({ ...result, foreignPercent: null })).not.toContain('Other processes');
});

test('a section shows what failed, and a part without a result that it was not measured', () => {
  expect(makePage({ ...result, problems: ['Postfix: gone\n  at line 1'] })).toContain('**Failed:** Postfix: gone\n');
  expect(makePage(result).split('Not measured yet.').length - 1).toBe(parts.length - 1);
});

test('small runs are marked, and README.md does not quote them', () => {
  const small = { ...result, isSmall: true };
  expect(makePage(small)).toContain('**A small run');
  expect(readmeTable({ parts: [small] })).toBe('Not measured yet.\n');
  expect(readmeTable({ parts: [result] })).toContain(
    '| 4 KB to the webhook | 300 messages/s | Postfix: 600 messages/s | 0.50 |',
  );
});

test('a row without a peer, or with one that used nothing, has no ratio', () => {
  expect(computeRatio({ ...row, peer: null })).toBeNull();
  expect(computeRatio({ ...row, peer: { name: 'Postfix', values: [0] } })).toBeNull();
  expect(computeRatio(row)).toBe(0.5);
});

test('rounds without a value are left out, and so are rows without any', () => {
  const values = [Number.NaN, 5];
  expect(measuredRows([{ ...row, ours: [Number.NaN] }])).toEqual([]);
  expect(measuredRows([{ ...row, ours: values, peer: { name: 'Postfix', values: [Number.NaN] } }])).toEqual([
    { ...row, ours: [5], peer: null },
  ]);
});

test('figures have three digits and thousands', () => {
  expect([0.123, 1.234, 12.34, 123.4, 12_345, 1_234_567].map(figure)).toEqual([
    '0.12',
    '1.23',
    '12.3',
    '123',
    '12,345',
    '1,234,567',
  ]);
});

test('the table replaces only the text between the marks', () => {
  const text = `before\n${README_MARKS[0]}\nold\n${README_MARKS[1]}\nafter\n`;
  expect(withTable(text, 'new\n')).toBe(`before\n${README_MARKS[0]}\n\nnew\n\n${README_MARKS[1]}\nafter\n`);
  expect(() => withTable('no marks', 'new')).toThrow('does not have the marks');
});
