import { randomBytes, randomInt } from 'node:crypto';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import type { DatabaseRole } from '../../../db/connection/database.ts';
import { ensureLogins, loginUrl } from '../../../db/connection/logins.ts';
import { migrate } from '../../../db/migrate.ts';
import { keepLogFile } from '../kept-logs.ts';
import { ownRun, placeOfRuns, RUN_PREFIX, removeOrphans, removeRun, SHARED_FOLDERS } from '../servers/orphans.ts';
import { endSharedServers } from '../servers/shared-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clusterUrl: string;
    /** the folder of this run; what several files need, the first of them puts into `shared` there */
    runDirectory: string;
  }
}

/** The SECRET_KEY of every service on the cluster of this run: roles belong to the server, and so do their passwords. */
export const clusterSecretKey = 'cluster-of-this-run-cluster-of-this-run-000';

/** vitest globalSetup: one PostgreSQL in memory for the whole run, with a migrated template database that test files clone. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const place = await placeOfRuns();
  await removeOrphans(place);
  const parent = await mkdtemp(path.join(place, RUN_PREFIX));
  await ownRun(parent);
  await chmod(parent, 0o755);
  await mkdir(path.join(parent, SHARED_FOLDERS));
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
      // As on the connections of the service.
      jit: 'off',
    },
  });
  try {
    // Files open thousands of connections; 4,096 rounds of hashing for each, on both sides, prove nothing.
    await onServer(cluster.url, 'alter system set scram_iterations = 1');
    await onServer(cluster.url, `set scram_iterations = 1; alter role postroom password '${password}'`);
    await onServer(cluster.url, 'select pg_reload_conf()');
    await onServer(cluster.url, 'create database postroom_template');
    const template = databaseUrl(cluster.url, 'postroom_template');
    await migrate(template);
    await ensureLogins(template, Buffer.from(clusterSecretKey, 'base64url'));
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  project.provide('clusterUrl', cluster.url);
  project.provide('runDirectory', parent);
  return async () => {
    await endSharedServers(parent);
    await cluster.stop();
    keepLogFile(`postgresql-${path.basename(parent)}`, path.join(parent, 'cluster/server.log'));
    await removeRun(parent);
  };
}

/**
 * Returns the URL of the role on a migrated database of a server that serves nothing else, where it lets the roles log in first; null: the
 * owner's, as given.
 */
export async function loginAs(ownerUrl: string, role: DatabaseRole): Promise<string> {
  if (role === null) return ownerUrl;
  const secretKey = Buffer.from(clusterSecretKey, 'base64url');
  await ensureLogins(ownerUrl, secretKey);
  return loginUrl(ownerUrl, role, secretKey);
}

/** Runs one statement as the URL's role, on a connection of its own. */
export async function queryOnce<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
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

/**
 * A port of loopback that nobody has. It lies below those that the kernel gives to connections, apart from those of other workers, and is
 * not answered again soon: it stays free until a server is started with it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + ((lastPort + 1 - FIRST_PORT) % PORTS_PER_WORKER);
    lastPort = port;
    if (await isFree(port)) return port;
  }
}

const PORTS_PER_WORKER = 2_500;
const FIRST_PORT = 10_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 9) * PORTS_PER_WORKER;
let lastPort = FIRST_PORT + randomInt(PORTS_PER_WORKER);

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
