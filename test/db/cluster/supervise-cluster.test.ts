import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';
import {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  startEmbeddedCluster,
} from '../../../db/cluster/embedded-cluster.ts';
import { findNativePostgresql, type SystemUser } from '../../../db/cluster/native-postgresql.ts';
import { readPostmaster } from '../../../db/cluster/postmaster.ts';
import { type ClusterSupervision, superviseCluster } from '../../../db/cluster/supervise-cluster.ts';
import { freePort, queryOnce } from '../../support/cluster/cluster.ts';
import { copyCluster } from '../../support/cluster/data-template.ts';
import { makeServiceDirectory } from '../../support/servers/orphans.ts';

/** A hang, not a measure: of a machine that is busy. Milliseconds. */
const LIMIT_MS = 90_000;

interface Failure {
  error: Error;
  failures: number;
  pauseMs: number;
}

let parent: string;
let user: SystemUser | null;
let options: EmbeddedClusterOptions;
let cluster: EmbeddedCluster;
let supervision: ClusterSupervision;
let seen: { ended: number; restarted: number; failed: Failure[] };

beforeAll(async () => {
  ({ user } = await findNativePostgresql());
  parent = await makeServiceDirectory(inject('runDirectory'), 'postroom-supervision-');
  const directory = path.join(parent, 'cluster');
  const password = await copyCluster(directory);
  options = { directory, password, port: await freePort(), socketDirectory: `${directory}.socket` };
});
beforeEach(async () => {
  cluster = await startEmbeddedCluster(options);
  seen = { ended: 0, restarted: 0, failed: [] };
  supervision = superviseCluster(options, {
    ended: () => void seen.ended++,
    restarted: () => void seen.restarted++,
    failed: (failure) => void seen.failed.push(failure),
  });
}, LIMIT_MS);
afterEach(async () => {
  await supervision.stop();
  await cluster.stop();
}, LIMIT_MS);
afterAll(() => rm(parent, { recursive: true, force: true }));

const happens = (condition: () => void | Promise<void>) => vi.waitFor(condition, { timeout: LIMIT_MS, interval: 50 });
const select = () => queryOnce(cluster.url, 'select 1 as one');

async function postmaster(): Promise<number> {
  const server = await readPostmaster(options.directory);
  if (server === null) throw new Error('no server runs');
  return server.pid;
}

async function readPid(backendType: string): Promise<number> {
  const rows = await queryOnce<{ pid: number }>(
    cluster.url,
    'select pid from pg_stat_activity where backend_type = $1',
    [backendType],
  );
  return rows[0]?.pid ?? 0;
}

test('a killed server is started again in its folder, with everything that was committed', async () => {
  const { port, socketDirectory } = cluster;
  await queryOnce(cluster.url, 'create table kept (n int)');
  await queryOnce(cluster.url, 'insert into kept values (42)');
  const first = await postmaster();
  process.kill(first, 'SIGKILL');
  await happens(() => expect(seen).toEqual({ ended: 1, restarted: 1, failed: [] }));
  expect(await postmaster()).not.toBe(first);
  expect(await readPostmaster(options.directory)).toMatchObject({ port, socketDirectory });
  expect(await queryOnce(cluster.url, 'select n from kept')).toEqual([{ n: 42 }]);
});

test('a stopped process of a killed server is ended, so that the new server can start', async () => {
  const walWriter = await readPid('walwriter');
  process.kill(walWriter, 'SIGSTOP');
  process.kill(await postmaster(), 'SIGKILL');
  await happens(() => expect(seen.restarted).toBe(1));
  // Its zombie stays until it is reaped.
  await happens(() => expect(() => process.kill(walWriter, 0)).toThrow('ESRCH'));
  expect(await select()).toEqual([{ one: 1 }]);
  expect(seen.failed).toEqual([]);
});

test('a running query of a killed server is ended', async () => {
  const client = new pg.Client({ connectionString: cluster.url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  // It never waits for anything, so that it does not notice the end of its server.
  const endless = client.query('select count(*) from generate_series(1, 1e15::bigint)').catch((error: Error) => error);
  await happens(async () => {
    const [row] = await queryOnce(cluster.url, 'select state from pg_stat_activity where pid = $1', [rows[0]?.pid]);
    expect(row).toEqual({ state: 'active' });
  });
  process.kill(await postmaster(), 'SIGKILL');
  await happens(() => expect(seen.restarted).toBe(1));
  expect(await endless).toBeInstanceOf(Error);
  expect(await select()).toEqual([{ one: 1 }]);
});

test('a server whose processes crashed restarts them by itself, and is not started a second time', async () => {
  const before = await postmaster();
  const client = new pg.Client({ connectionString: cluster.url });
  const lost = once(client, 'error');
  await client.connect();
  const checkpointer = await readPid('checkpointer');
  process.kill(checkpointer, 'SIGKILL');
  await lost;
  await happens(async () => expect(await readPid('checkpointer')).not.toBe(checkpointer));
  expect(await postmaster()).toBe(before);
  expect(seen).toEqual({ ended: 0, restarted: 0, failed: [] });
});

test('a server that is paused is not restarted', async () => {
  const before = await postmaster();
  process.kill(before, 'SIGSTOP');
  const client = new pg.Client({ connectionString: cluster.url, connectionTimeoutMillis: 1_500 });
  client.on('error', () => undefined);
  await expect(client.connect()).rejects.toThrow('timeout expired');
  process.kill(before, 'SIGCONT');
  expect(await select()).toEqual([{ one: 1 }]);
  expect(await postmaster()).toBe(before);
  expect(seen).toEqual({ ended: 0, restarted: 0, failed: [] });
});

test('a server that does not start is tried with growing pauses, and its own error is reported', async () => {
  const control = path.join(options.directory, 'global/pg_control');
  await rename(control, `${control}.away`);
  process.kill(await postmaster(), 'SIGKILL');
  await happens(() => expect(seen.failed.length).toBeGreaterThanOrEqual(3));
  await rename(`${control}.away`, control);
  await happens(() => expect(seen.restarted).toBe(1));
  expect(seen.ended).toBe(1);
  expect(seen.failed.map(({ failures }) => failures)).toEqual(seen.failed.map((_, n) => n + 1));
  expect(seen.failed.slice(0, 3).map(({ pauseMs }) => pauseMs)).toEqual([500, 1_000, 2_000]);
  expect(seen.failed[0]?.error.message).toContain('pg_control');
  expect(await select()).toEqual([{ one: 1 }]);
});

test('a cluster whose files have vanished is never replaced by an empty one', async () => {
  process.kill(await postmaster(), 'SIGKILL');
  await rename(options.directory, `${options.directory}.away`);
  await happens(() => expect(seen.failed.length).toBeGreaterThanOrEqual(1));
  await expect(access(path.join(options.directory, 'PG_VERSION'))).rejects.toThrow('ENOENT');
  expect(seen.failed[0]?.error.message).toContain('holds no PostgreSQL cluster');
  await rm(options.directory, { recursive: true, force: true });
  await rename(`${options.directory}.away`, options.directory);
  await happens(() => expect(seen.restarted).toBe(1));
  expect(await select()).toEqual([{ one: 1 }]);
});

test('a stop right after the end of the server, or during its restart, leaves no server behind', async () => {
  const first = await postmaster();
  process.kill(first, 'SIGKILL');
  await happens(() => expect(seen.ended).toBe(1));
  await supervision.stop();
  await cluster.stop();
  expect(await readPostmaster(options.directory)).toBeNull();

  cluster = await startEmbeddedCluster(options);
  supervision = superviseCluster(options, { ended() {}, restarted() {}, failed() {} });
  const second = await postmaster();
  process.kill(second, 'SIGKILL');
  await happens(async () => expect(await postmaster()).not.toBe(second));
  await supervision.stop();
  await cluster.stop();
  expect(await readPostmaster(options.directory)).toBeNull();
});

test('lock files that name another program, or nothing, do not keep the server from starting', async () => {
  await supervision.stop();
  await cluster.stop();
  const identity = user === null ? {} : { uid: user.uid, gid: user.gid };
  // Of the server's own user: PostgreSQL takes no other for a server.
  const other = spawn('sleep', ['600'], { ...identity, stdio: 'ignore' });
  try {
    const text = [other.pid, options.directory, 1, options.port, `${options.directory}.socket`, 'localhost', ''].join(
      '\n',
    );
    const pidFile = path.join(options.directory, 'postmaster.pid');
    const socketFile = path.join(`${options.directory}.socket`, `.s.PGSQL.${options.port}.lock`);
    for (const [first, second] of [
      [text, text],
      ['', ''],
    ] as const) {
      await writeLock(pidFile, first);
      await writeLock(socketFile, second);
      cluster = await startEmbeddedCluster(options);
      expect(await select()).toEqual([{ one: 1 }]);
      await cluster.stop();
    }
  } finally {
    other.kill('SIGKILL');
  }
});

async function writeLock(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 });
  if (user !== null) await chown(file, user.uid, user.gid);
}
