import { expect, test } from 'vitest';
import { compare, exitCode, merged } from './guard.ts';
import type { PartResult, Results } from './results.ts';
import type { Row } from './rows.ts';

const makeRow = (id: string, better: Row['better'], ours: number, peer: number): Row => ({
  id,
  work: id,
  unit: 'messages/s',
  better,
  ours: [ours],
  peer: { name: 'Postfix', values: [peer] },
});
const makePart = (part: string, rows: Row[], problems: string[] = []): PartResult => ({
  part,
  commit: 'abc1234',
  machine: '',
  at: '2026-11-23T17:00:00.000Z',
  seconds: 1,
  foreignPercent: 1,
  isSmall: false,
  problems,
  rows,
});
const rates = ['webhook-4k-fresh', 'webhook-100k-fresh', 'send', 'list-100k', 'search-100k'];
const all = (ratio: number, cpuRatio: number) => [
  makePart('inbound', [
    ...rates.map((id) => makeRow(id, 'higher', ratio * 100, 100)),
    makeRow('quiet-cpu', 'lower', cpuRatio, 1),
  ]),
];
const page: Results = { parts: all(0.8, 4) };
const worse = (results: PartResult[]) => compare(page, results).flatMap(({ id, isWorse }) => (isWorse ? [id] : []));

test('a ratio may be worse by at most a quarter', () => {
  expect(worse(all(0.8, 4))).toEqual([]);
  expect(worse(all(0.64, 5))).toEqual([]);
  expect(worse(all(0.63, 4))).toEqual(rates);
  expect(worse(all(0.8, 5.01))).toEqual(['quiet-cpu']);
  expect(worse(all(2, 1))).toEqual([]);
});

test('the verdict names the row, both ratios and both figures', () => {
  const [verdict] = compare(page, all(0.5, 4));
  expect(verdict?.text).toBe('WORSE   webhook-4k-fresh: ratio 0.50, on the page 0.80 (50.0 messages/s beside 100)');
});

test('a row that is missing here or on the page counts as worse', () => {
  expect(worse([makePart('inbound', [])])).toHaveLength(6);
  expect(compare({ parts: [] }, all(1, 1)).map(({ text }) => text)[0]).toBe(
    'MISSING webhook-4k-fresh: docs/benchmarks.md has no ratio: run npm run bench -- all',
  );
});

test('the exit code tells worse, failed and NOISY apart', () => {
  const code = (results: PartResult[], foreignPercent: number) =>
    exitCode(compare(page, results), results, foreignPercent);
  expect(code(all(0.8, 4), 5)).toBe(0);
  expect(code(all(0.5, 4), 5)).toBe(1);
  expect(code([...all(0.8, 4), makePart('quiet', [], ['Postfix did not start'])], 0)).toBe(1);
  expect(code(all(0.5, 4), 5.1)).toBe(3);
});

test('a second measurement adds its rounds to the first', () => {
  const first = [makePart('inbound', [makeRow('send', 'higher', 50, 100)]), makePart('quiet', [])];
  const second = [makePart('inbound', [makeRow('send', 'higher', 70, 110), makeRow('post', 'higher', 1, 2)])];
  const [inbound, quiet] = merged(first, second);
  expect(inbound?.rows.map(({ id, ours, peer }) => [id, ours, peer?.values])).toEqual([
    ['send', [50, 70], [100, 110]],
    ['post', [1], [2]],
  ]);
  expect(quiet).toBe(first[1]);
});
