import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { base, resolve } from './test/support/vitest-base.ts';

/**
 * `npm run test:long`: experiments that take minutes (`*.long.ts`), and those of `npm test` that have a length (they import
 * chaos-figures.ts), here with more kills and longer outages.
 */
const lengthened = globSync('test/**/*.test.ts').filter((file) =>
  /^import .* from '.*\/chaos-figures\.ts';$/m.test(readFileSync(file, 'utf8')),
);

export default defineConfig({
  resolve,
  test: {
    ...base,
    include: ['test/**/*.long.ts', ...lengthened],
    env: { CHAOS_LENGTH: process.env['CHAOS_LENGTH'] ?? 'slice' },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 3,
  },
});
