import { expect, test } from 'vitest';
import { decideRetry, GIVE_UP_SECONDS } from '../../../core/sending/sending-retry.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

test.each([
  [1, 5 * MINUTE],
  [2, 10 * MINUTE],
  [3, 20 * MINUTE],
  [4, 40 * MINUTE],
  [5, 80 * MINUTE],
  [6, 160 * MINUTE],
  [7, 4 * HOUR],
  [30, 4 * HOUR],
  [5_000, 4 * HOUR],
])('after attempt %i the next one comes in %i seconds', (attempts, delaySeconds) => {
  expect(decideRetry(attempts, 0, 0)).toEqual({ kind: 'again', delaySeconds });
});

test('delays vary by at most a tenth', () => {
  expect(decideRetry(1, 0, 0.5)).toEqual({ kind: 'again', delaySeconds: 315 });
  const most = decideRetry(1, 0, 0.999_999);
  expect(most.kind === 'again' && most.delaySeconds).toBeLessThan(330);
});

test('makes the last attempt after five days, and then gives up', () => {
  expect(GIVE_UP_SECONDS).toBe(5 * 24 * HOUR);
  expect(decideRetry(30, GIVE_UP_SECONDS - HOUR, 0.9)).toEqual({ kind: 'again', delaySeconds: HOUR });
  expect(decideRetry(31, GIVE_UP_SECONDS, 0)).toEqual({ kind: 'given-up' });
  expect(decideRetry(1, GIVE_UP_SECONDS + HOUR, 0)).toEqual({ kind: 'given-up' });
});
