import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { UserError } from '../../../core/shared/errors.ts';
import { requireGuardBudget, runWithinGuardBudget } from '../../../operations/routing/guard-budget.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Milliseconds pass while work is done for the user. */
const work = (workspaceId: string, ms: number) =>
  runWithinGuardBudget(workspaceId, () => void vi.advanceTimersByTime(ms));

function readRefusal(workspaceId: string): Pick<UserError, 'code' | 'retryAfterSeconds'> | null {
  try {
    requireGuardBudget(workspaceId);
    return null;
  } catch (error) {
    return error as UserError;
  }
}

test('evaluation time is repaid with a tenth of the elapsed time', () => {
  work('usr_a', 1_900);
  work('usr_a', 1_300);
  // The second's own time paid back a tenth of the first.
  expect(readRefusal('usr_a')).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 11 });
  expect(() => work('usr_a', 1)).toThrow('too long');
  expect(readRefusal('usr_b')).toBeNull();
  vi.advanceTimersByTime(10_600);
  expect(readRefusal('usr_a')).not.toBeNull();
  vi.advanceTimersByTime(200);
  expect(readRefusal('usr_a')).toBeNull();
});

test('work that throws counts too, and debts outlast those of a thousand others', () => {
  expect(() =>
    runWithinGuardBudget('usr_c', () => {
      vi.advanceTimersByTime(5_000);
      throw new Error('no');
    }),
  ).toThrow('no');
  for (let n = 0; n < 2_000; n++) work(`usr_${n}`, 1);
  expect(readRefusal('usr_c')).not.toBeNull();
});
