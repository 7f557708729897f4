import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseUrl } from '../support/cluster/cluster.ts';
import { canMakeHosts } from '../support/servers/second-host.ts';
import { until } from '../support/servers/service.ts';
import { ClusterBench, type Figures } from '../support/stages/cluster-bench.ts';

/** Of a fault, and of the load before and after it: a slice, or with CHAOS_SECONDS=45 the whole. */
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 6);
/** Messages a second, each way: of the whole, 50. */
const RATE = Number(process.env['CHAOS_RATE'] ?? 5);
/** Whether processes are started anew one by one, and not by the half of them. */
const IS_WHOLE = process.env['CHAOS_SECONDS'] !== undefined;
const LIMIT_MS = 400_000 + SECONDS * 20_000;

const rate = { inPerSecond: RATE, outPerSecond: RATE };

describe.runIf(await canMakeHosts())('the services of docker-compose.yml on two hosts', () => {
  let bench: ClusterBench;
  beforeAll(async () => {
    bench = await ClusterBench.start({
      DRAIN_DELAY_SECONDS: '3',
      // The whole world of the test has one address.
      SMTP_MAX_CONNECTIONS_PER_ADDRESS: '5000',
    });
  }, 400_000);
  afterAll(() => bench?.stop(), 120_000);

  test(
    `every process is restarted under ${RATE} messages a second in and out: clients get only temporary errors`,
    async () => {
      const { stage, traffic, ownServices } = bench;
      const load = traffic.start(rate);
      await sleep(2_000);
      const halves = ['-1', '-2'].map((end) => ownServices.filter((name) => name.endsWith(end)));
      for (const group of IS_WHOLE ? ownServices.map((name) => [name]) : halves)
        await Promise.all(group.map((name) => stage.restart(name)));
      for (const node of ['nats-1', 'nats-2', 'nats-3']) await stage.restart(node);
      await sleep(2_000);
      await load.stop();
      expectOnlyDeferrals(await bench.settle('K1'));
    },
    LIMIT_MS,
  );

  test(
    'one NATS node of three is lost and returns: nothing is lost, nothing is sent twice',
    async () => {
      const { stage, traffic } = bench;
      const load = traffic.start(rate);
      await sleep(1_000);
      await stage.end('nats-1', 'SIGKILL');
      await sleep(SECONDS * 1_000);
      stage.startService('nats-1');
      await stage.awaitReady('nats-1');
      await sleep(1_000);
      await load.stop();
      expectOnlyDeferrals(await bench.settle('K2'));
    },
    LIMIT_MS,
  );

  test(
    'all of NATS is lost and starts empty: accepted mail is delivered, and other mail is accepted afterwards',
    async () => {
      const { stage, traffic } = bench;
      const nodes = ['nats-1', 'nats-2', 'nats-3'];
      const load = traffic.start(rate);
      await sleep(1_000);
      // It keeps nothing on a disk: what is new has forgotten all.
      await Promise.all(nodes.map((node) => stage.end(node, 'SIGKILL')));
      await sleep(SECONDS * 1_000);
      for (const node of nodes) stage.startService(node);
      await Promise.all(nodes.map((node) => stage.awaitReady(node)));
      await sleep(1_000);
      await load.stop();
      const figures = await bench.settle('B2');
      expectNoRefusals(figures);
      expect([figures.doubledSends, figures.repeatedWebhooks]).toEqual([0, 0]);
    },
    LIMIT_MS,
  );

  test(
    'two schedulers send 200 emails that are due at once: each once',
    async () => {
      const [account] = bench.accounts;
      if (account === undefined) throw new Error('unreachable');
      const [due] = await bench.query<{ at: Date }>(`select postroom_now() + interval '10 minutes' as at`);
      const responses = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          account.call('POST', '/emails', {
            from: `hello@${account.domain}`,
            to: [`due${n}@elsewhere.test`],
            subject: `Due ${n}`,
            text: 'Due',
            scheduled_at: due?.at.toISOString(),
          }),
        ),
      );
      for (const [n, response] of responses.entries()) {
        expect(response.status).toBe(201);
        bench.traffic.sends.push({
          status: 201,
          id: response.body.id,
          messageId: response.body.message_id,
          recipients: [`due${n}@elsewhere.test`],
        });
      }
      await bench.query(`update clock set shift = shift + interval '10 minutes'`);
      await until(
        'all are released',
        () => bench.stage.output.slice(-2000),
        async () => {
          const rows = await bench.query(`select from email where status = 'scheduled'`);
          return rows.length === 0;
        },
      );
      const figures = await bench.settle('K3');
      expect([figures.doubledSends, figures.repeatedWebhooks]).toEqual([0, 0]);
    },
    LIMIT_MS,
  );

  test(
    'a host is cut off and returns: the other one does its work, and nothing is done twice',
    async () => {
      const load = bench.traffic.start(rate);
      await sleep(2_000);
      await bench.ground.host.cut();
      const inHand = await bench.claimed();
      await sleep(SECONDS * 1_000);
      await bench.ground.host.mend();
      await sleep(2_000);
      await load.stop();
      const figures = await bench.settle('K4', inHand);
      expectNoRefusals(figures);
      expect(figures.doubledSends).toBeLessThanOrEqual(inHand.length);
    },
    LIMIT_MS,
  );

  test(
    'a host loses its power and is started again: the other one does its work',
    async () => {
      const { stage, ground } = bench;
      const there = [...bench.ownServices, 'nats-3'].filter((name) => ground.isOnSecondHost(name));
      const load = bench.traffic.start(rate);
      await sleep(2_000);
      await Promise.all(there.map((name) => stage.end(name, 'SIGKILL')));
      const inHand = await bench.claimed();
      await sleep(SECONDS * 1_000);
      for (const name of there) stage.startService(name);
      await Promise.all(there.map((name) => stage.awaitReady(name)));
      await load.stop();
      const figures = await bench.settle('K5', inHand);
      expectNoRefusals(figures);
    },
    LIMIT_MS,
  );

  test(
    'PostgreSQL is killed and its replica promoted: every process continues with it, without a restart, and never back',
    async () => {
      const { stage, traffic } = bench;
      const { servers } = bench.ground;
      const pids = bench.ownServices.map((name) => stage.processes.get(name)?.pid);
      const load = traffic.start(rate);
      await sleep(2_000);
      const inHand = await bench.claimed();
      await servers.killFirst();
      await sleep(2_000);
      await servers.promoteSecond();
      await sleep(SECONDS * 1_000);
      // Nobody fenced it: it takes writes, on its own.
      await servers.restartFirst();
      const stored = () => countRows(servers.firstUrl);
      const before = await stored();
      await sleep(SECONDS * 1_000);
      await load.stop();
      const figures = await bench.settle('K6', inHand);
      expectNoRefusals(figures);
      expect(await stored(), 'nobody went back').toBe(before);
      expect(bench.ownServices.map((name) => stage.processes.get(name)?.pid)).toEqual(pids);
      for (const name of bench.ownServices) expect(stage.isRunning(name), name).toBe(true);
    },
    LIMIT_MS,
  );
});

/** What clients may hear while processes end and begin. How much of it there was stands in the figures (docs/chaos.md): on a machine with time, nothing over HTTP. */
function expectOnlyDeferrals(figures: Figures): void {
  expect(Object.keys(figures.smtpTrouble).filter((word) => !word.startsWith('4'))).toEqual([]);
  // A machine that is starved answers no health check in time; then the proxy has no server for a while, and says so.
  const isPassing = (word: string) => ['502', '503', '504'].includes(word) || /^[A-Z]/.test(word);
  expect(Object.keys(figures.httpTrouble).filter((word) => !isPassing(word))).toEqual([]);
  expect(figures.doubledSends).toBe(0);
  expect(figures.repeatedWebhooks, 'once more for each that went unanswered').toBeLessThanOrEqual(
    figures.unansweredWebhooks,
  );
}

/** A fault may cost a connection, never a message. */
function expectNoRefusals(figures: Figures): void {
  expect(Object.keys(figures.smtpTrouble).filter((word) => word.startsWith('5'))).toEqual([]);
}

async function countRows(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl(url, 'postroom') });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from reception');
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}
