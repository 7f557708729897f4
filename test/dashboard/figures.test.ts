import { describe, expect, test } from 'vitest';
import { describeStats } from '../../gateway/dashboard/pages/endpoints/endpoint-values.ts';
import { counted, formatCount, relativeTime } from '../../gateway/dashboard/parts/words.ts';

const NOW = Date.UTC(2026, 10, 29, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('figures of the dashboard', () => {
  test.each([
    [30 * 1_000, 'in 30 seconds'],
    [-60_000, '1 minute ago'],
    [-25 * HOUR_MS, '25 hours ago'],
    [3 * DAY_MS, 'in 3 days'],
    [9 * DAY_MS, 'in 9 days'],
    [40 * DAY_MS, 'in 6 weeks'],
    [-120 * DAY_MS, '4 months ago'],
    [-500 * DAY_MS, '17 months ago'],
    [-900 * DAY_MS, '2 years ago'],
  ])('a time that is %i ms away reads %s', (away, words) => {
    expect(relativeTime(new Date(NOW + away).toISOString(), NOW)).toBe(words);
  });

  test('attempts of an endpoint are not counted as deliveries', () => {
    expect(describeStats({ total: 1_004, successful: 0, failed: 1_008 })).toContain(
      '0 delivered, 1,008 failed attempts',
    );
    expect(formatCount(3_385)).toBe('3,385');
  });

  test('a count of one has a singular, and thousands have a separator', () => {
    expect([0, 1, 2, 2_040].map((count) => counted(count, 'email'))).toEqual([
      '0 emails',
      '1 email',
      '2 emails',
      '2,040 emails',
    ]);
  });
});
