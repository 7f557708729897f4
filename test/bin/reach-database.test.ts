import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readConfig } from '../../bin/config.ts';
import { asOwner, onDatabase } from '../../bin/runner/reach-database.ts';
import { writeRunRecord, writeSecrets } from '../../db/cluster/data-directory.ts';
import { onServer } from '../support/cluster/cluster.ts';

/** DATA_DIR of a service that runs, as far as its files tell: its database is one of the tests' server. */
let dataDirectory: string;

beforeAll(async () => {
  dataDirectory = await mkdtemp(path.join(tmpdir(), 'postroom-on-database-'));
  const { port, password } = new URL(inject('clusterUrl'));
  await onServer(inject('clusterUrl'), 'create database postroom');
  await writeSecrets(dataDirectory, { databasePassword: password, secretKey: Buffer.alloc(32, 1) });
  await writeRunRecord(dataDirectory, {
    pid: process.pid,
    databasePort: Number(port),
    socketDirectory: null,
    httpUrl: null,
    smtpAddress: null,
  });
});
afterAll(async () => {
  await rm(dataDirectory, { recursive: true, force: true });
  await onServer(inject('clusterUrl'), 'drop database if exists postroom with (force)');
});

/** Loses its connection at the first time; begins before, or does not. */
async function runs(isBeginning: boolean): Promise<{ times: number; outcome: unknown }> {
  let times = 0;
  const done = onDatabase(readConfig({ DATA_DIR: dataDirectory }), 'test', async (reached, begin) => {
    times++;
    if (isBeginning) begin();
    return asOwner(reached.url, 'test', async (database) => {
      if (times === 1) await database.pool.query('select pg_terminate_backend(pg_backend_pid())');
      return 'done';
    });
  });
  const outcome = await done.catch((error: Error) => error.message);
  return { times, outcome };
}

test('work that lost its connection is retried', async () => {
  expect(await runs(false)).toEqual({ times: 2, outcome: 'done' });
});

test('work that had begun to write is not retried', async () => {
  expect(await runs(true)).toEqual({
    times: 1,
    outcome: expect.stringMatching(/^The database connection was lost: .+\. Run the command again$/),
  });
});

test("statements have a time limit on client and server, except with 'unlimited'", async () => {
  const limits = (patience: 'limited' | 'unlimited') =>
    asOwner(
      inject('clusterUrl'),
      'test',
      async ({ pool }) => {
        const { rows } = await pool.query<{ statement_timeout: string }>('show statement_timeout');
        return [rows[0]?.statement_timeout, (pool.options as { query_timeout?: number }).query_timeout];
      },
      patience,
    );
  expect(await limits('limited')).toEqual(['10s', 12_000]);
  expect(await limits('unlimited')).toEqual(['0', 0]);
});
