import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isQuick, killsPerPoint } from '../support/chaos-figures.ts';
import { processTree } from '../support/servers/process-tree.ts';
import { greets, until } from '../support/servers/service.ts';
import { FaultBench } from '../support/stages/fault-bench.ts';

/** PostgreSQL stays paused for at least this time. */
const PAUSE_MS = isQuick ? 0 : 20_000;

async function signalPostgres(databaseUrl: string, signal: NodeJS.Signals): Promise<() => void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ setting: string }>(
    `select setting from pg_settings where name = 'data_directory'`,
  );
  await client.end();
  const postmaster = Number(
    (await readFile(path.join(rows[0]?.setting ?? '', 'postmaster.pid'), 'utf8')).split('\n')[0],
  );
  const pids = () => processTree(postmaster).map((each) => each.pid);
  // The postmaster first: while it is stopped, a backend that ends stays as a zombie, so signalling it cannot fail.
  process.kill(postmaster, signal);
  const stopped = pids();
  for (const pid of stopped) process.kill(pid, signal);
  return () => {
    // The postmaster last: it would collect a backend that has ended meanwhile, whose number is then unknown.
    for (const pid of [...new Set([...stopped, ...pids()])].toReversed()) process.kill(pid, 'SIGCONT');
  };
}

describe('on one machine', () => {
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await FaultBench.start('single');
  }, 300_000);
  afterAll(() => bench?.stop());

  const output = () => bench.service.output.slice(-2000);

  /** Kills while messages arrive; resolves when the kill met some of them. */
  async function killUnderLoad(kill: () => Promise<unknown>): Promise<void> {
    await until('SMTP greets', output, () => greets(bench.service.smtpPort));
    const load = bench.offerContinuously(100);
    await until('mail comes in', output, async () => load.results.some(({ code }) => code === 250));
    await kill();
    await until('the kill met the load', output, async () => load.results.some(({ code }) => code !== 250));
    await load.stop();
  }

  /** Kills while messages arrive, which all go on arriving. */
  async function killBesideLoad(kill: () => Promise<unknown>): Promise<void> {
    const load = bench.offerContinuously(100);
    const count = () => load.results.filter(({ code }) => code === 250).length;
    await until('mail comes in', output, async () => count() > 0);
    await kill();
    const before = count();
    await until('mail goes on coming in', output, async () => count() > before + 100);
    const results = await load.stop();
    expect(results.filter(({ code }) => code !== 250)).toEqual([]);
  }

  test.each(['mail', 'gateway'])(
    'kill -9 of the %s process under load loses no mail and doubles no row',
    async (name) => {
      const find = () =>
        processTree(bench.service.processes.get('runner')?.pid ?? 0).find((each) =>
          each.command.includes(`parts/${name}.`),
        );
      const kill = async () => {
        // Mail goes on without the gateway process, so that the next kill may come before it is back.
        await until(`the ${name} process runs`, output, async () => find() !== undefined);
        process.kill(find()?.pid ?? 0, 'SIGKILL');
      };
      for (let count = 0; count < killsPerPoint; count++)
        if (name === 'mail') await killUnderLoad(kill);
        else await killBesideLoad(kill);
      await bench.service.awaitReady();
      await bench.offerAgain();
      await bench.settle();
    },
  );

  test('kill -9 of the whole service while messages arrive loses nothing', async () => {
    await killUnderLoad(() => bench.service.end('runner', 'SIGKILL'));
    await bench.service.start();
    await bench.offerAgain();
    await bench.settle();
  });

  test.each([
    ['receiving.before-commit', 'before the statement that takes it'],
    ['receiving.after-commit', 'after its commit, before the 250'],
    ['delivery.claimed', 'before its webhook is posted'],
    ['delivery.posted', 'before the outcome of its webhook is stored'],
  ])('mail is taken in groups: killed at %s, %s, nothing is lost or doubled', async (point) => {
    for (let kill = 0; kill < killsPerPoint; kill++) {
      await bench.service.end('runner', 'SIGKILL');
      await bench.service.start({ FAULT: point });
      const since = bench.service.output.length;
      // As many as arrive at the same time are taken together.
      const load = bench.offer(40, { sessions: 20 });
      await bench.service.awaitPartDeath(since);
      // Before the part is back, which would die there again.
      await bench.service.end('runner', 'SIGKILL');
      await load;
    }
    await bench.service.start();
    await bench.offerAgain();
    await bench.settle();
  });

  test('PostgreSQL paused: clients get 451 or 503 with Retry-After, and it recovers without intervention', async () => {
    await bench.offer(20);
    const resume = await signalPostgres(await bench.service.databaseUrl(), 'SIGSTOP');
    try {
      const smtp = bench.offer(4, { sessions: 4 });
      const startedAt = Date.now();
      const list = await bench.account.call('GET', '/emails');
      expect(list.status).toBe(503);
      expect(list.headers.get('retry-after')).toMatch(/^\d+$/);
      for (const result of await smtp) expect(result.reply).toMatch(/^451 4\.3\.0/);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, PAUSE_MS - (Date.now() - startedAt))));
    } finally {
      resume();
    }
    await bench.offerAgain();
    await bench.settle();
  });

  const testAtLength = isQuick ? null : test;
  testAtLength?.(
    'after these faults a stranger is told nothing of that mail by any route or field, and changes nothing',
    {
      timeout: 900_000,
    },
    async () => {
      const { complaints, routes, fields } = await bench.sweep();
      expect(complaints).toEqual([]);
      expect(routes).toBeGreaterThan(60);
      expect(fields).toBeGreaterThan(60);
    },
  );
});
