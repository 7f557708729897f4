import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedCluster } from '../../db/embedded-cluster.ts';
import { migrate } from '../../db/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clusterUrl: string;
  }
}

/** vitest globalSetup: one PostgreSQL in memory for the whole run, with a migrated template database that test files clone. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const parent = await mkdtemp(path.join('/dev/shm', 'postroom-test-'));
  await chmod(parent, 0o755);
  await mkdir(parent, { recursive: true });
  const cluster = await startEmbeddedCluster({
    directory: path.join(parent, 'cluster'),
    password: randomBytes(12).toString('hex'),
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
    await onServer(cluster.url, 'create database postroom_template');
    await migrate(databaseUrl(cluster.url, 'postroom_template'));
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  project.provide('clusterUrl', cluster.url);
  return async () => {
    await cluster.stop();
    await rm(parent, { recursive: true, force: true });
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
