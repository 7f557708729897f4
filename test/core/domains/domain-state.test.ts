import { describe, expect, test } from 'vitest';
import type { DomainCheck } from '../../../core/domains/domain-check.ts';
import {
  type DomainFacts,
  type DomainStatus,
  type DomainVerdict,
  findReason,
  judgeProof,
  lostRecords,
  readDelay,
} from '../../../core/domains/domain-state.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const now = new Date('2026-11-22T12:00:00Z');
const ago = (milliseconds: number) => new Date(now.getTime() - milliseconds);
const facts = (more: Partial<DomainFacts>): DomainFacts => ({
  status: 'pending',
  isTrusted: false,
  isInherited: false,
  createdAt: ago(MINUTE),
  verifiedAt: null,
  proofLostAt: null,
  waitingKeySince: null,
  ...more,
});
const check = (more: Partial<DomainCheck> = {}): DomainCheck => ({
  records: [],
  hasMx: false,
  spf: null,
  mtaSts: [],
  tlsReports: [],
  hasDmarc: false,
  conflict: null,
  provider: null,
  error: null,
  unanswered: 0,
  reason: null,
  ...more,
});

describe('the result of a check decides', () => {
  test.each<[DomainStatus, number, boolean | null, DomainVerdict]>([
    ['pending', MINUTE, true, 'claim'],
    ['pending', MINUTE, false, 'keep'],
    ['pending', 72 * HOUR - 1, false, 'keep'],
    ['pending', 72 * HOUR, false, 'fail'],
    ['pending', 99 * HOUR, true, 'claim'],
    ['pending', 99 * HOUR, null, 'keep'],
    ['failed', 99 * HOUR, true, 'claim'],
    ['failed', 99 * HOUR, false, 'keep'],
    ['verified', DAY, true, 'keep'],
    ['verified', DAY, false, 'lose proof'],
    ['verified', DAY, null, 'keep'],
  ])('on a %s domain of %d ms, its proof seen: %s -> %s', (status, age, isProven, verdict) => {
    expect(judgeProof(facts({ status, createdAt: ago(age) }), isProven, now)).toBe(verdict);
  });

  test.each([{ isTrusted: true }, { isInherited: true }])('a domain that is %j needs no proof', (more) => {
    for (const isProven of [true, false, null])
      for (const status of ['pending', 'verified', 'failed'] as const)
        expect(judgeProof(facts({ ...more, status, createdAt: ago(9 * DAY) }), isProven, now)).toBe('keep');
  });
});

describe('the next check is', () => {
  test.each<[string, Partial<DomainFacts>, boolean, number]>([
    ['a minute later at first', { createdAt: now }, false, MINUTE],
    ['as long as all before', { createdAt: ago(7 * MINUTE) }, false, 7 * MINUTE],
    ['an hour later at most', { createdAt: ago(2 * DAY) }, false, HOUR],
    ['hourly after it failed', { status: 'failed', createdAt: ago(4 * DAY) }, false, HOUR],
    ['daily after a week of it', { status: 'failed', createdAt: ago(8 * DAY) }, false, DAY],
    ['daily when all is there', { status: 'verified', verifiedAt: ago(MINUTE) }, true, DAY],
    ['growing while something is not', { status: 'verified', verifiedAt: ago(3 * MINUTE) }, false, 3 * MINUTE],
    [
      'growing from the day that a key waits',
      { status: 'verified', verifiedAt: ago(90 * DAY), waitingKeySince: ago(5 * MINUTE) },
      false,
      5 * MINUTE,
    ],
  ])('%s', (_name, more, isComplete, delay) => {
    expect(readDelay(facts(more), check(), isComplete, now)).toBe(delay);
  });

  test('soon after failed lookups, and never later than otherwise', () => {
    const verified = facts({ status: 'verified', verifiedAt: ago(DAY) });
    const delays = [1, 2, 3, 7, 50].map((unanswered) => readDelay(verified, check({ unanswered }), true, now));
    expect(delays).toEqual([MINUTE, 2 * MINUTE, 4 * MINUTE, HOUR, HOUR]);
    expect(readDelay(facts({ createdAt: now }), check({ unanswered: 9 }), false, now)).toBe(MINUTE);
  });
});

test('records are lost if they were found with the same value', () => {
  const record = (name: string, isSeen: boolean) =>
    ({ type: 'TXT', name, value: 'v', isSeen, isAnswered: true, error: null }) as const;
  const former = check({ records: [record('a', true), record('b', true), record('c', false)] });
  const after = check({ records: [record('a', false), record('b', true), record('c', false), record('d', false)] });
  expect(lostRecords(former, after)).toEqual([{ type: 'TXT', name: 'a' }]);
  expect(lostRecords(null, after)).toEqual([]);
});

test.each<[DomainCheck['reason'], DomainVerdict, boolean | null, boolean, DomainCheck['reason']]>([
  [null, 'claim', true, true, 'taken'],
  ['taken', 'claim', true, false, null],
  ['taken', 'keep', false, false, null],
  ['taken', 'keep', null, false, 'taken'],
  ['lost', 'keep', false, false, 'lost'],
  ['unproven', 'keep', false, false, 'unproven'],
  [null, 'fail', false, false, 'unproven'],
  [null, 'lose proof', false, false, null],
])('after %s, %s (proven: %s, taken: %s) the reason is %s', (reason, verdict, isProven, isTaken, expected) => {
  expect(findReason(check({ reason }), { verdict, isProven, isTaken })).toBe(expected);
});
