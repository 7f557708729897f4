import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/support/long-files-first.ts';

/** Tests of what runs within their own process, of which several files may share one. */
const WITHIN = ['test/{core,docs,gateway,schema}/**/*.test.ts'];

export default defineConfig({
  // As Node itself resolves it: otherwise our own imports get its CommonJS build while its other users get the ES modules.
  resolve: { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }] },
  test: {
    projects: [
      { test: { name: 'processes', include: ['test/**/*.test.ts'], exclude: WITHIN } },
      // Importing the product costs more than most of these tests, so that the files of a worker share it: they leave nothing behind.
      { test: { name: 'functions', include: WITHIN, isolate: false } },
    ],
    globalSetup: ['test/support/cluster/cluster.ts'],
    setupFiles: ['test/support/keep-logs.ts'],
    // For hangs, not for slowness: a machine with other work may be ten times as slow.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    pool: 'forks',
    // More than cores: many tests wait for clocks, leases and time limits of real processes.
    maxWorkers: 4,
    sequence: { sequencer: LongFilesFirst },
  },
});
