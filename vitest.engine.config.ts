import { defineConfig } from 'vitest/config';

/** `npm run test:engine`: Dockerfile and docker-compose.yml on a Docker engine. Needs root, and changes the machine it runs on. */
export default defineConfig({
  test: {
    include: ['test/deploy/engine/*.docker.ts'],
    globalSetup: ['test/deploy/engine/require-engine.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 1_800_000,
    bail: 1,
  },
});
