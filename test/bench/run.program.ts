import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { keepResult, type PartResult, readResults, writePages } from './results.ts';
import { runPart } from './run-part.ts';

const bench = (...words: string[]) =>
  spawnSync(process.execPath, [path.join(import.meta.dirname, 'run.ts'), ...words], { encoding: 'utf8' });

test('without a known name, the usage lists every benchmark and the exit code is 2', () => {
  const { status, stderr } = bench('unknown');
  expect(status).toBe(2);
  expect(stderr).toContain('usage: npm run bench -- NAME [options]');
  expect(stderr).toMatch(/^ {2}guard /m);
});

test('--help explains the exit codes of the guard', () => {
  const { status, stdout } = bench('guard', '--help');
  expect(status).toBe(0);
  expect(stdout).toContain('exit 3   NOISY');
});

test('a wrong option prints the help and exits with 2', () => {
  const { status, stderr } = bench('guard', '--fast');
  expect(status).toBe(2);
  expect(stderr).toContain(`Unknown option '--fast'`);
  expect(stderr).toContain('exit 1');
});

test('an unknown part is named with the known ones', () => {
  const { status, stderr } = bench('all', '--only', 'inbound,outside');
  expect(status).toBe(2);
  expect(stderr).toContain('unknown part outside: use inbound, screening, outbound');
});

const makePart = (limitMs: number) => ({
  name: 'outside',
  title: '',
  about: '',
  limitMs,
  load: () => Promise.reject(new Error()),
});

test('a part that fails says how its process ended', async () => {
  const { problems, rows } = await runPart(makePart(60_000), 'small', 'abc1234');
  expect([problems, rows]).toEqual([['ended with 1'], []]);
});

test('a part that takes too long is ended', async () => {
  expect((await runPart(makePart(0), 'small', 'abc1234')).problems).toEqual(['not done within 0 s']);
});

const result = (part: string, value: number | null, problems: string[] = []): PartResult => ({
  part,
  commit: 'abc1234',
  machine: '2 x CPU',
  at: '2026-11-23T17:00:00.000Z',
  seconds: 1,
  foreignPercent: null,
  isSmall: false,
  problems,
  rows: value === null ? [] : [{ id: part, work: part, unit: 'ms', better: 'lower', ours: [value], peer: null }],
});

test('a part replaces its previous result and keeps its rows when it fails', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'postroom-results-'));
  const order = ['inbound', 'outbound'];
  for (const each of [result('outbound', 1), result('inbound', 2), result('outbound', 3)])
    keepResult(folder, each, order);
  keepResult(folder, result('inbound', null, ['did not start']), order);
  const kept = readResults(folder).parts;
  expect(kept.map(({ part, rows, problems }) => [part, rows[0]?.ours, problems])).toEqual([
    ['inbound', [2], ['did not start']],
    ['outbound', [3], []],
  ]);
  writePages(folder, null);
  expect(readFileSync(path.join(folder, 'benchmarks.md'), 'utf8')).toContain('**Failed:** did not start');
});
