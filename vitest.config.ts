import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/support/long-files-first.ts';
import { base, resolve } from './test/support/vitest-base.ts';

/** Tests that run within one process. Several files can share a worker. */
const WITHIN = ['test/{actors,core,db,docs,gateway,operations,schema}/**/*.test.ts'];
/** Register an OpenTelemetry SDK, which a process can do only once: tracers keep the first one. */
const ALONE = [
  'test/actors/bus/traces.test.ts',
  'test/actors/mail-spans.test.ts',
  'test/gateway/admission/request-spans.test.ts',
];

export default defineConfig({
  resolve,
  test: {
    ...base,
    projects: [
      { test: { name: 'processes', include: ['test/**/*.test.ts'], exclude: WITHIN } },
      { test: { name: 'tracing', include: ALONE } },
      // Importing the product costs more than most of these tests, so the files of a worker share it. They leave nothing behind.
      { test: { name: 'functions', include: WITHIN, exclude: ALONE, isolate: false } },
    ],
    // More than cores: many tests wait for leases, time limits and starts of real processes.
    maxWorkers: 5,
    sequence: { sequencer: LongFilesFirst },
  },
});
