import { describe, expect, test } from 'vitest';
import { refusalReason } from '../../../core/sending/refusal-reason.ts';
import { suppressesAddress } from '../../../core/sending/suppression.ts';
import { UNKNOWN_RECIPIENTS, UNKNOWN_THINGS } from './subject-refusals.ts';

function suppresses(text: string, recipient: string | null = null): boolean {
  const status = /(?<!\d)[45]\.\d\.\d{1,3}/.exec(text)?.[0] ?? null;
  return suppressesAddress({ code: 550, status, text, recipient });
}

describe('a refusal about a missing key, list or backend suppresses no recipient', () => {
  test.each(UNKNOWN_THINGS)('%s', (text) => {
    expect([suppresses(text), suppresses(text, 'joe@dest.test')]).toEqual([false, false]);
  });
});

describe('a recipient is suppressed who is missing', () => {
  test.each(UNKNOWN_RECIPIENTS)('%s', (text) => {
    expect([suppresses(text), suppresses(text, 'joe@dest.test')]).toEqual([true, true]);
  });
});

describe('a recipient is suppressed whose local part alone is said to be missing', () => {
  test.each(['550 joe does not exist', '550 "joe" not found', '550 Joe: not found', '550 5.1.0 joe is unknown'])(
    '%s',
    (text) => {
      expect(suppresses(text, 'joe@dest.test')).toBe(true);
    },
  );

  test.each([
    ['550 joe does not exist', 'jim@dest.test'],
    ['550 Boundary does not exist', 'boundary@dest.test'],
    ['550 Message for joe: boundary does not exist', 'joe@dest.test'],
    ['550 You have no account here, joe', 'joe@dest.test'],
  ])('%s to %s suppresses no recipient', (text, recipient) => {
    expect(suppresses(text, recipient)).toBe(false);
  });
});

test('the time to find the subject of a refusal grows with its length', () => {
  const part = 'the policy for the user database of account joe does not exist, no account joe unknown template for ';
  const measureTime = (length: number) => {
    const text = part.repeat(length / 100);
    const times = Array.from({ length: 9 }, (_, at) => {
      const start = performance.now();
      refusalReason({ code: 550, status: null, text: `${text}${at}`, recipient: 'joe@dest.test' });
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  measureTime(1_000);
  expect(measureTime(2_000)).toBeLessThan(Math.max(8 * measureTime(500), 20));
});
