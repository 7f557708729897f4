import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedCluster } from '../../db/embedded-cluster.ts';
import { migrate } from '../../db/migrate.ts';
import { keepLogFile } from './kept-logs.ts';
import { ownRun, placeOfRuns, RUN_PREFIX, removeOrphans, removeRun } from './orphans.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clusterUrl: string;
    /** the folder of this run; what several files need, the first of them puts into `shared` there */
    runDirectory: string;
  }
}

/** vitest globalSetup: one PostgreSQL in memory for the whole run, with a migrated template database that test files clone. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const place = await placeOfRuns();
  await removeOrphans(place);
  const parent = await mkdtemp(path.join(place, RUN_PREFIX));
  await ownRun(parent);
  await chmod(parent, 0o755);
  await mkdir(path.join(parent, 'shared'));
  const password = randomBytes(12).toString('hex');
  const cluster = await startEmbeddedCluster({
    directory: path.join(parent, 'cluster'),
    password,
    port: await freePort(),
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '400',
      shared_buffers: '128MB',
    },
  });
  try {
    // Files open thousands of connections; 4,096 rounds of hashing for each, on both sides, prove nothing.
    await onServer(cluster.url, `set scram_iterations = 1; alter role postroom password '${password}'`);
    await onServer(cluster.url, 'create database postroom_template');
    await migrate(databaseUrl(cluster.url, 'postroom_template'));
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  project.provide('clusterUrl', cluster.url);
  project.provide('runDirectory', parent);
  return async () => {
    await cluster.stop();
    keepLogFile(`postgresql-${path.basename(parent)}`, path.join(parent, 'cluster/server.log'));
    await removeRun(parent);
  };
}

/** The URL of another database on the same server. */
export function databaseUrl(clusterUrl: string, name: string): string {
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
