import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import { LongFilesFirst } from './long-files-first.ts';

/** Resolves `graphql` as Node does. Otherwise our own imports get its CommonJS build while its other users get the ES modules. */
export const resolve: NonNullable<ViteUserConfig['resolve']> = {
  alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }],
};

/** What all tests share. */
export const base = {
  globalSetup: ['test/support/cluster/cluster.ts'],
  setupFiles: ['test/support/keep-logs.ts', 'test/support/quick-passwords.ts', 'test/support/no-cache-writes.ts'],
  // For hangs, not for slowness: a machine with other work may be ten times as slow.
  testTimeout: 240_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
  pool: 'forks',
} satisfies ViteUserConfig['test'];

/** What the commands with hundreds of files share. */
export const manyFiles = {
  ...base,
  // Importing the product costs more than most files, so the files of a worker share it. They leave nothing behind.
  isolate: false,
  // More than cores: many tests wait for leases, time limits and starts of real processes.
  maxWorkers: 6,
  // With 16 MiB, a fourth of the processor time of the workers is spent on collecting garbage.
  execArgv: ['--max-semi-space-size=64'],
  sequence: { sequencer: LongFilesFirst },
} satisfies ViteUserConfig['test'];
