import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  chaosPage,
  type ExperimentResult,
  makeOutcome,
  mergeResults,
  missingTests,
  readResults,
  testNamePattern,
} from './chaos-results.ts';
import { type FaultExperiment, faultExperiments } from './stages/fault-experiments.ts';

const root = path.resolve(import.meta.dirname, '../..');

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

function experiment(id: string, tests: FaultExperiment['tests'] = []): FaultExperiment {
  return { id, fault: `Fault ${id}`, expected: `Expected ${id}`, tests };
}

function result(id: string, over: Partial<ExperimentResult> = {}): ExperimentResult {
  return {
    id,
    outcome: 'held',
    reason: '',
    seconds: 1,
    tests: 1,
    ranAt: '2026-11-22T12:00:00.000Z',
    commit: 'abc1234',
    length: 'CHAOS_KILLS=20',
    machine: '2 cores',
    notes: [],
    ledger: null,
    ...over,
  };
}

describe('the list of fault experiments', () => {
  test('names only tests that exist', () => {
    const readSource = (file: string) => {
      try {
        return read(file);
      } catch {
        return null;
      }
    };
    expect(missingTests(faultExperiments, readSource)).toEqual([]);
  });

  test('has each id once', () => {
    const ids = faultExperiments.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is what docs/chaos.md shows, with the stored results', () => {
    const results = readResults(read('docs/chaos-results.jsonl'));
    expect(read('docs/chaos.md'), 'write it with: npm run chaos -- --minutes 0').toBe(
      chaosPage(faultExperiments, results),
    );
  });
});

test('a missing file, title or row of a test is reported with its experiment', () => {
  const experiments = [
    experiment('A1', [{ file: 'gone.test.ts' }]),
    experiment('A2', [{ file: 'here.test.ts', name: 'killed at', row: 'no.such.point' }]),
    experiment('A3', [{ file: 'here.test.ts', name: 'renamed' }]),
    experiment('A4', [{ file: 'here.test.ts', name: 'killed at', row: 'smtp.before-ask' }]),
  ];
  const source = "test.each(['smtp.before-ask'])('killed at %s')";
  expect(missingTests(experiments, (file) => (file === 'here.test.ts' ? source : null))).toEqual([
    'A1: gone.test.ts',
    'A2: here.test.ts: no.such.point',
    'A3: here.test.ts: renamed',
  ]);
});

test('a run replaces the results of its own experiments and keeps all others', () => {
  const experiments = ['A1', 'B1', 'C1', 'D1'].map((id) => experiment(id, [{ file: 'a.test.ts' }]));
  const older = [result('A1', { commit: 'old0001' }), result('C1', { commit: 'old0001' }), result('gone')];
  const merged = mergeResults(experiments, older, [result('C1'), result('B1', { outcome: 'failed', reason: 'a | b' })]);
  expect(merged.map(({ id, commit }) => [id, commit])).toEqual([
    ['A1', 'old0001'],
    ['B1', 'abc1234'],
    ['C1', 'abc1234'],
  ]);
  const page = chaosPage(experiments, merged);
  expect(page).toContain('4 experiments: 2 held, 1 failed, 0 skipped, 1 not run.');
  expect(page).toContain('| A1 | Fault A1 | Expected A1 | held | 2026-11-22 | old0001 |');
  expect(page).toContain('| failed: a \\| b |');
  expect(page).toContain('| D1 | Fault D1 | Expected D1 | not run |');
});

describe('the outcome of an experiment', () => {
  const tests = [{ file: 'a.test.ts', name: 'killed', row: 'smtp' }, { file: 'b.test.ts' }];
  const passed = { fullName: 'smtp killed', status: 'passed', duration: 1_250 };
  const other = { fullName: 'delivery killed', status: 'failed', failureMessages: ['not mine'] };
  const of = (a: object[] | { broken: string }, b: object[]) =>
    makeOutcome(
      experiment('A1', tests),
      new Map([
        ['a.test.ts', a],
        ['b.test.ts', b],
      ]) as Parameters<typeof makeOutcome>[1],
    );

  test('counts its own tests only', () => {
    expect(of([passed, other], [{ ...passed, fullName: 'b' }])).toEqual({
      outcome: 'held',
      reason: '',
      seconds: 2.5,
      tests: 2,
    });
  });

  test('is failed when one of them fails, is missing, or its file breaks', () => {
    const b = [{ ...passed, fullName: 'b' }];
    expect(of([passed], [{ ...other, failureMessages: ['boom\nat'] }])).toMatchObject({
      outcome: 'failed',
      reason: 'delivery killed: boom',
    });
    expect(of([other], b)).toMatchObject({ outcome: 'failed', reason: 'a.test.ts has no test "killed smtp"' });
    expect(of({ broken: 'no report' }, b)).toMatchObject({ outcome: 'failed', reason: 'a.test.ts: no report' });
  });

  test('is skipped when a test cannot run on this machine', () => {
    expect(of([passed], [{ fullName: 'b', status: 'skipped' }])).toMatchObject({ outcome: 'skipped' });
  });
});

test('the pattern of a file selects exactly the named tests', () => {
  expect(testNamePattern([{ file: 'a' }, { file: 'a', name: 'x' }])).toBeNull();
  const pattern = new RegExp(
    testNamePattern([
      { file: 'a', name: 'killed (at)', row: 'smtp.before' },
      { file: 'a', name: 'paused' },
    ]) ?? '',
  );
  const titles = ['smtp killed (at) smtp.before', 'killed (at) smtpxbefore', 'NATS paused 20 s', 'other'];
  expect(titles.filter((title) => pattern.test(title))).toEqual([titles[0], titles[2]]);
});
