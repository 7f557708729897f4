import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';

/** Resolves `graphql` as Node does. Otherwise our own imports get its CommonJS build while its other users get the ES modules. */
export const resolve: NonNullable<ViteUserConfig['resolve']> = {
  alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }],
};

/** What `npm test`, `npm run test:attack` and `npm run test:long` share. */
export const base: NonNullable<ViteUserConfig['test']> = {
  globalSetup: ['test/support/cluster/cluster.ts'],
  setupFiles: ['test/support/keep-logs.ts', 'test/support/quick-passwords.ts', 'test/support/no-cache-writes.ts'],
  // For hangs, not for slowness: a machine with other work may be ten times as slow.
  testTimeout: 240_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
  pool: 'forks',
};
