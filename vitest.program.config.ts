import { defineConfig } from 'vitest/config';
import { manyFiles, resolve } from './test/support/vitest-base.ts';

/**
 * `npm run test:program`: tests that start Node as a process (`*.program.ts`): the service, its programs, an actor, the command line, a
 * client. test/support/no-programs.ts says why they are apart. `.ci/run` runs them.
 */
export default defineConfig({ resolve, test: { ...manyFiles, include: ['test/**/*.program.ts'] } });
