import { expect, test } from 'vitest';
import { hasRoom, watchCapacity } from '../../../actors/receiving/actor.ts';

const GB = 1_000_000_000;

test.each([
  ['a small disk needs one and a half of the largest message', 22_499_999, GB / 4, false],
  ['a small disk with that has room', 22_500_000, GB / 4, true],
  ['a large disk needs a twentieth', 0.049 * 100 * GB, 100 * GB, false],
  ['a large disk with a twentieth has room', 0.05 * 100 * GB, 100 * GB, true],
])('the disk has room or not: %s', (_, free, size, expected) => {
  expect(hasRoom(free, size)).toBe(expected);
});

test('a disk of unknown size has room', async () => {
  expect(await watchCapacity(null)()).toBe(true);
});
