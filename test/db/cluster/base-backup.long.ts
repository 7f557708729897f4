import { access, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { takeBaseBackup } from '../../../db/cluster/base-backup.ts';
import { sumOfFile } from '../../../db/cluster/durable-copy.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { findNativePostgresql } from '../../../db/cluster/native-postgresql.ts';
import { freePort } from '../../support/cluster/cluster.ts';
import { copyCluster } from '../../support/cluster/data-template.ts';
import { makeServiceDirectory } from '../../support/servers/orphans.ts';

let directory: string;
let password: string;
let source: EmbeddedCluster;

beforeAll(async () => {
  directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-base-backup-');
  password = await copyCluster(path.join(directory, 'source'));
  source = await startEmbeddedCluster({
    directory: path.join(directory, 'source'),
    password,
    port: await freePort(),
    // small, so that a slot is needed to keep what is written meanwhile
    settings: { min_wal_size: '32MB', max_wal_size: '32MB' },
  });
  await onDatabase(source.url, (client) => client.query('create table tally (writer int, n int, filler text)'));
});
afterAll(async () => {
  await source.stop();
  await rm(directory, { recursive: true, force: true });
});

test('a copy of a cluster in use starts, and has everything that was committed before and nothing torn', async () => {
  const writers = startWriters(3);
  await writers.reached(300);
  const committed = writers.counts();
  const { user } = await findNativePostgresql();
  const target = path.join(directory, 'copy');
  const backup = await takeBaseBackup({
    url: source.url,
    target,
    owner: user,
    // Much WAL while the files are copied: without the slot its first segments would be recycled.
    onProgress: (done) => void (done > 0 && writers.hurry()),
  });
  await writers.stop();
  const after = writers.counts();

  for (const left of ['postmaster.pid', 'server.log', 'pg_replslot/x'])
    await expect(access(path.join(target, left))).rejects.toThrow();
  expect([...backup.files.keys()].filter((file) => file.startsWith('pg_wal/')).length).toBeGreaterThan(1);
  for (const [file, written] of backup.files) {
    expect(await sumOfFile(path.join(target, file))).toEqual(written);
    expect((await stat(path.join(target, file))).mode & 0o777).toBe(0o600);
  }
  const onDisk = await readdir(target, { recursive: true, withFileTypes: true });
  expect(onDisk.filter((entry) => entry.isFile())).toHaveLength(backup.files.size);

  const copy = await startEmbeddedCluster({ directory: target, password, port: await freePort() });
  try {
    await onDatabase(copy.url, async (client) => {
      const { rows } = await client.query<{ writer: number; count: number; last: number }>(
        'select writer, count(*)::int as count, max(n)::int + 1 as last from tally group by writer order by writer',
      );
      expect(rows).toHaveLength(3);
      for (const { writer, count, last } of rows) {
        // Each writer counts: a gap would be a commit that was lost in the middle.
        expect(count).toBe(last);
        expect(count).toBeGreaterThanOrEqual(committed[writer] ?? Number.NaN);
        expect(count).toBeLessThanOrEqual(after[writer] ?? Number.NaN);
      }
      await client.query('create extension if not exists amcheck');
      await client.query(
        `select bt_index_check(c.oid, true) from pg_class c join pg_am a on a.oid = c.relam where a.amname = 'btree' and c.relkind = 'i'`,
      );
    });
  } finally {
    await copy.stop();
  }
});

test('a folder that is not empty is refused and left unchanged', async () => {
  const target = path.join(directory, 'copy');
  const before = await readdir(target);
  await expect(takeBaseBackup({ url: source.url, target, owner: null })).rejects.toThrow('is not empty');
  expect(await readdir(target)).toEqual(before);
});

test('no slot and no backup mode remain, also after a failure', async () => {
  await onDatabase(source.url, async (client) => {
    await expect
      .poll(async () => (await client.query('select from pg_replication_slots')).rowCount, { timeout: 60_000 })
      .toBe(0);
  });
});

async function onDatabase(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Writers that each commit one row after the other, numbered without a gap. */
function startWriters(count: number) {
  const done = Array.from({ length: count }, () => 0);
  let isStopped = false;
  let filler = 'x'.repeat(200);
  const all = done.map((_, writer) =>
    onDatabase(source.url, async (client) => {
      for (; !isStopped; done[writer] = (done[writer] ?? 0) + 1) {
        await client.query('insert into tally values ($1, $2, $3)', [writer, done[writer], filler]);
        if (filler.length > 200) await client.query('select pg_switch_wal()');
      }
    }),
  );
  return {
    counts: () => [...done],
    hurry() {
      filler = 'y'.repeat(300);
    },
    reached: (rows: number) => expect.poll(() => Math.min(...done), { timeout: 120_000 }).toBeGreaterThan(rows),
    async stop() {
      isStopped = true;
      await Promise.all(all);
    },
  };
}
