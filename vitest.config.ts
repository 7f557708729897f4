import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/support/long-files-first.ts';
import { base, resolve } from './test/support/vitest-base.ts';

export default defineConfig({
  resolve,
  test: {
    ...base,
    include: ['test/**/*.test.ts'],
    // Importing the product costs more than most files, so the files of a worker share it. They leave nothing behind.
    isolate: false,
    // More than cores: many tests wait for leases, time limits and starts of real processes.
    maxWorkers: 6,
    // With 16 MiB, a fourth of the processor time of the workers is spent on collecting garbage.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: LongFilesFirst },
  },
});
