import { expect, test } from 'vitest';
import { loadOnce } from '../../../core/shared/load-once.ts';

test('loads at the first call, and only once', async () => {
  let loads = 0;
  const load = loadOnce(async () => ++loads);
  expect(loads).toBe(0);
  expect(await Promise.all([load(), load()])).toEqual([1, 1]);
  expect(await load()).toBe(1);
});

test('tries again after a failure', async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    if (++loads === 1) throw new Error('too many open files');
    return loads;
  });
  const failures = await Promise.allSettled([load(), load()]);
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await load()).toBe(2);
});
