import { defineConfig } from 'vitest/config';
import { longFiles } from './test/support/test-files.ts';
import { base, resolve } from './test/support/vitest-base.ts';

/**
 * `npm run test:long`: experiments that take minutes (`*.long.ts`), and those of `npm test` that have a length (they import
 * chaos-figures.ts), here with more kills and longer outages.
 */
export default defineConfig({
  resolve,
  test: {
    ...base,
    include: longFiles(import.meta.dirname),
    env: { CHAOS_LENGTH: process.env['CHAOS_LENGTH'] ?? 'slice' },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 3,
  },
});
