import { defineConfig } from 'vitest/config';
import { manyFiles, resolve } from './test/support/vitest-base.ts';

/** `npm test`: tests that start no process but PostgreSQL, nats-server and tools of the system (`*.test.ts`). */
export default defineConfig({
  resolve,
  test: {
    ...manyFiles,
    include: ['test/**/*.test.ts'],
    setupFiles: [...manyFiles.setupFiles, 'test/support/no-programs.ts'],
  },
});
