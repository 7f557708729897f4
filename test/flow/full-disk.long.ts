import { execFile } from 'node:child_process';
import { realpath, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryOnce } from '../support/cluster/cluster.ts';
import { findPostmaster, logRecords } from '../support/servers/postgresql-process.ts';
import { until } from '../support/servers/service.ts';
import { mountSmallDisk, type SmallDisk, smallDiskRefusal } from '../support/servers/small-disk.ts';
import { FaultBench } from '../support/stages/fault-bench.ts';

/** A hang, not a measure. Milliseconds. */
const LIMIT_MS = 300_000;

const refusal = await smallDiskRefusal();
const where = refusal === null ? '' : ` (skipped: ${refusal})`;

let bench: FaultBench;
let disk: SmallDisk;
const about = () => bench.service.output.slice(-3_000);
const runner = () => bench.service.processes.get('runner');

/** Moves a folder of DATA_DIR, or all of it, to the disk. */
async function moveToDisk(directory: string): Promise<void> {
  const target = path.join(disk.directory, path.basename(directory));
  await promisify(execFile)('cp', ['-a', directory, target]);
  await rm(directory, { recursive: true });
  await symlink(target, directory);
}

async function awaitAccepted(): Promise<void> {
  await until('a message is accepted', about, async () => (await bench.offer(1))[0]?.code === 250);
}

describe.skipIf(refusal !== null)(`the disk of DATA_DIR is full${where}`, () => {
  beforeAll(async () => {
    disk = await mountSmallDisk(256);
    bench = await FaultBench.start('single', { prepare: moveToDisk });
  }, LIMIT_MS);
  afterAll(async () => {
    await bench?.stop();
    await disk?.remove();
  }, LIMIT_MS);

  test(
    'a full disk is 452 4.3.1 at MAIL FROM, mail can be read, and 250 returns with disk space without a restart',
    async () => {
      await bench.offer(5);
      await bench.settle();
      // A fresh segment, so that what is still written finds room in it.
      await queryOnce(await bench.service.databaseUrl(), 'select pg_switch_wal()');
      await queryOnce(await bench.service.databaseUrl(), 'checkpoint');
      const postmaster = await findPostmaster(await realpath(path.join(bench.service.directory, 'data/postgresql')));
      await disk.fill();

      await until('MAIL is refused', about, async () => {
        const [result] = await bench.offer(1);
        return result?.reply.startsWith('452') === true;
      });
      for (const { reply, isDataSent } of await bench.offer(5)) {
        expect(reply).toMatch(/^452 4\.3\.1/);
        expect(isDataSent).toBe(false);
      }
      const list = await bench.account.call('GET', '/emails');
      expect(list.status).toBe(200);
      expect(list.body.data.length).toBeGreaterThanOrEqual(5);
      const email = await bench.account.call('GET', `/emails/${list.body.data[0].id}`);
      expect([email.status, email.body.subject]).toEqual([200, expect.stringMatching(/^Ledger \d+$/)]);

      await disk.free();
      await awaitAccepted();
      expect(runner()?.exitCode).toBeNull();
      expect(await findPostmaster(await realpath(path.join(bench.service.directory, 'data/postgresql')))).toBe(
        postmaster,
      );
      await bench.offerAgain();
      await bench.settle();
    },
    LIMIT_MS,
  );
});

describe.skipIf(refusal !== null)(`the disk of pg_wal is full${where}`, () => {
  beforeAll(async () => {
    disk = await mountSmallDisk(64);
    bench = await FaultBench.start('single', {
      prepare: (dataDirectory) => moveToDisk(path.join(dataDirectory, 'postgresql/pg_wal')),
    });
  }, LIMIT_MS);
  afterAll(async () => {
    await bench?.stop();
    await disk?.remove();
  }, LIMIT_MS);

  test(
    'PostgreSQL ends without room for its log; clients get 451 and 503, and all returns with disk space',
    async () => {
      await bench.offer(5);
      await bench.settle();
      const before = bench.service.output.length;
      const away = () => logRecords(bench.service.output.slice(before)).some(({ event }) => event === 'database.away');
      await disk.fill();

      const replies: string[] = [];
      await until('the log is full', about, async () => {
        replies.push(...(await bench.offer(4, { sessions: 4, sizeBytes: 400_000 })).map(({ reply }) => reply));
        return away();
      });
      replies.push(...(await bench.offer(10)).map(({ reply }) => reply));
      expect(replies.filter((reply) => !/^(?:250 2\.0\.0|451 4\.3\.0)/.test(reply))).toEqual([]);
      expect(replies.some((reply) => reply.startsWith('451'))).toBe(true);
      const { status, headers } = await bench.account.call('GET', '/emails');
      if (status !== 200) expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);

      await disk.free();
      await awaitAccepted();
      expect(runner()?.exitCode).toBeNull();
      await bench.offerAgain();
      await bench.settle();
    },
    LIMIT_MS,
  );
});
