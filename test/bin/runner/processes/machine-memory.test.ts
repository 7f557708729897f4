import { expect, test } from 'vitest';
import { chooseNodeFlags, chooseSharedBuffers } from '../../../../bin/runner/processes/machine-memory.ts';

const GIB = 1_073_741_824;

test.each([
  [0.5, '64MB', 4],
  [1, '64MB', 4],
  [4, '128MB', 16],
  [8, '256MB', 16],
  [64, '256MB', 16],
])(
  'a machine with %d GiB gives PostgreSQL %s, and its processes young generations of %d MiB',
  (size, buffers, semiSpace) => {
    expect(chooseSharedBuffers(size * GIB)).toBe(buffers);
    expect(chooseNodeFlags(size * GIB)).toEqual([`--max-semi-space-size=${semiSpace}`]);
  },
);
