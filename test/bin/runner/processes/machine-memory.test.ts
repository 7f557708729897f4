import { expect, test } from 'vitest';
import { chooseNodeFlags, chooseSharedBuffers } from '../../../../bin/runner/processes/machine-memory.ts';

const GIB = 1_073_741_824;

test.each([
  [0.5, '64MB', '--max-semi-space-size=4'],
  [1, '64MB', '--max-semi-space-size=4'],
  [4, '128MB', '--max-semi-space-size=16 --no-memory-reducer --heap-growing-percent=200'],
  [8, '256MB', '--max-semi-space-size=16 --no-memory-reducer --heap-growing-percent=200'],
  [64, '256MB', '--max-semi-space-size=16 --no-memory-reducer --heap-growing-percent=200'],
])('a machine with %d GiB gives PostgreSQL %s, and its processes %s', (size, buffers, flags) => {
  expect(chooseSharedBuffers(size * GIB)).toBe(buffers);
  expect(chooseNodeFlags(size * GIB).join(' ')).toBe(flags);
});
