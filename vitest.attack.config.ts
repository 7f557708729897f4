import { defineConfig } from 'vitest/config';
import { manyFiles, resolve } from './test/support/vitest-base.ts';

/**
 * `npm run test:attack`: kills and outages, exhaustion of memory and processor, and every operation tried by other accounts, roles and keys
 * (`*.attack.ts`). `.ci/run` runs them; `npm test` leaves them out, so that it takes minutes.
 */
export default defineConfig({ resolve, test: { ...manyFiles, include: ['test/**/*.attack.ts'], execArgv: [] } });
