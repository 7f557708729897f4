import { defineConfig } from 'vitest/config';

/** `npm run test:long`: experiments that take minutes, or change the machine that they run on. Each says what it wants. */
export default defineConfig({
  test: {
    include: ['test/**/*.long.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 1_800_000,
    bail: 1,
  },
});
