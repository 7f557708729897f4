import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/support/long-files-first.ts';
import { base, resolve } from './test/support/vitest-base.ts';

/** Register an OpenTelemetry SDK, which a process can do only once: tracers keep the first one. */
const TRACING = [
  'test/actors/bus/traces.test.ts',
  'test/actors/mail-spans.test.ts',
  'test/gateway/admission/request-spans.test.ts',
];

export default defineConfig({
  resolve,
  test: {
    ...base,
    projects: [
      { test: { name: 'tracing', include: TRACING } },
      // Importing the product costs more than most files, so the files of a worker share it. They leave nothing behind.
      { test: { name: 'all', include: ['test/**/*.test.ts'], exclude: TRACING, isolate: false } },
    ],
    // More than cores: many tests wait for leases, time limits and starts of real processes.
    maxWorkers: 5,
    sequence: { sequencer: LongFilesFirst },
  },
});
