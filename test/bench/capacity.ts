import { readFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { onGround } from './ground.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { AUTHOR, makeRecipient, naturalText } from './messages.ts';
import { allProcesses, eachActorTwice, type SplitServer, startSplit } from './postroom-server.ts';
import { BACKGROUND, type Cost, CostMeter, residentMiB } from './stage-cost.ts';

/** All of a pass's messages must be done by then; milliseconds. */
const PASS_LIMIT_MS = 600_000;
const POLL_MS = 100;
/** Messages that warm every process before the first count. */
const WARMING = 200;
/** Messages whose statements are written down: the log of them costs time, so they are counted apart. */
const LOGGED = 100;
const NAMES = ['smtp', 'receiving', 'threading', 'delivery', 'gateway', 'sending', 'scheduling', BACKGROUND];

interface Way {
  name: string;
  /** hands that many messages in */
  feed: (count: number, perSecond: number | null) => Promise<void>;
  /** counts those that are through */
  done: string;
}

export const help = `What one message costs each process of a split deployment: CPU, PostgreSQL's CPU behind it, write-ahead log and statements.
First at a steady rate, where actors claim rows one by one, then in bulk, where they claim many at once.

  --count N          messages in bulk; default 2000
  --size N           bytes of the text; default 4096
  --rate N           messages per second; default 10
  --seconds N        at that rate; default 60
  --idle-seconds N   default 60
  --twice            run each actor twice`;

/** Each process is measured by its own pid and by its own connections. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      count: { type: 'string', default: '2000' },
      size: { type: 'string', default: '4096' },
      rate: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '60' },
      'idle-seconds': { type: 'string', default: '60' },
      twice: { type: 'boolean', default: false },
    },
  });
  const [rate, seconds, count] = [Number(values.rate), Number(values.seconds), Number(values.count)];
  await onGround(async (ground) => {
    describeMachine();
    const sink = ground.child('./sink-process.ts');
    const { port: sinkPort } = await sink.readResponse<{ port: number }>();
    const receiver = await startWebhookReceiver();
    ground.keep(receiver);
    const logDirectory = path.join(ground.directory, 'log');
    await mkdir(logDirectory);
    await chmod(logDirectory, 0o777);
    const server = await startSplit(
      path.join(ground.directory, 'split'),
      values.twice ? eachActorTwice : allProcesses,
      {
        dnsServer: ground.dns.address,
        environment: { OUTBOUND_PORT: String(sinkPort) },
        settings: {
          logging_collector: 'on',
          log_directory: logDirectory,
          log_filename: 'statements.log',
          log_line_prefix: '%a|',
          max_wal_size: '2GB',
        },
      },
    );
    ground.keep(server);
    await describePostgresql('Postroom', server.databaseUrl);
    const meter = await CostMeter.open(server.databaseUrl, server.postmaster, server.pids);
    ground.keep({ stop: () => meter.close() });
    const ways = await prepareWays(server, receiver.url, Number(values.size));
    for (const way of ways) await pass(meter, way, WARMING, null);
    await printIdle(meter, Number(values['idle-seconds']));
    for (const way of ways) {
      const steady = await measure(meter, way, rate * seconds, rate);
      print(`${way.name}, ${rate}/s for ${seconds} s`, steady);
      print(`${way.name}, ${count} as fast as they go`, await measure(meter, way, count, null));
      printStatements(way.name, await countStatements(meter, way, path.join(logDirectory, 'statements.log')));
    }
    const memory = Object.entries(server.pids).map(([name, pids]) => `${name} ${residentMiB(pids)} MiB`);
    console.log(`memory: ${memory.join(', ')}`);
  });
}

async function prepareWays(server: SplitServer, webhookUrl: string, sizeBytes: number): Promise<Way[]> {
  const address = await server.createWebhookAddress(`box@${AUTHOR.domain}`, webhookUrl);
  let fed = 0;
  return [
    {
      name: 'in: SMTP to webhook',
      feed: async (count, perSecond) => {
        const from = fed;
        fed += count;
        const results = await smtpLoad({
          host: '127.0.0.1',
          port: server.smtpPort,
          count,
          sessions: perSecond === null ? 20 : 4,
          isReusingConnections: perSecond === null,
          reversePath: 'someone@elsewhere.test',
          recipients: () => [address],
          message: (n) => toWireForm(Buffer.from(composeMessage(from + n, address, sizeBytes))),
          ...(perSecond === null ? {} : { perSecond }),
        });
        const refused = results.find(({ code }) => code !== 250);
        if (refused !== undefined) throw new Error(`refused: ${refused.reply}`);
      },
      done: `select count(*) from delivery where status = 'success'`,
    },
    {
      name: 'out: POST /emails to the MX',
      feed: async (count, perSecond) => {
        const begin = performance.now();
        const send = async (n: number) => {
          if (perSecond !== null) await sleep(Math.max(0, begin + (n * 1000) / perSecond - performance.now()));
          const text = naturalText(sizeBytes);
          await server.call('POST', '/emails', {
            from: AUTHOR.text,
            to: makeRecipient(n),
            subject: `Capacity ${n}`,
            text,
          });
        };
        let next = 0;
        const sender = async () => {
          while (next < count) await send(next++);
        };
        await Promise.all(Array.from({ length: perSecond === null ? 20 : 4 }, sender));
      },
      done: `select count(*) from email where type = 'sent' and status = 'delivered'`,
    },
  ];
}

/** Distinct, one in ten a reply to the one before it. */
function composeMessage(n: number, address: string, sizeBytes: number): string {
  return [
    `Message-ID: <${n}@capacity.test>`,
    'From: Someone <someone@elsewhere.test>',
    `To: ${address}`,
    `Subject: Capacity ${n}`,
    'Date: Sun, 22 Nov 2026 10:00:00 +0000',
    ...(n % 10 === 9 ? [`In-Reply-To: <${n - 1}@capacity.test>`] : []),
    '',
    naturalText(sizeBytes),
    '',
  ].join('\r\n');
}

/** Hands messages in and waits until all are through. */
async function pass(meter: CostMeter, way: Way, count: number, perSecond: number | null): Promise<void> {
  const expected = (await meter.count(way.done)) + count;
  await way.feed(count, perSecond);
  const deadline = Date.now() + PASS_LIMIT_MS;
  while ((await meter.count(way.done)) < expected) {
    if (Date.now() > deadline) throw new Error(`${way.name}: not through in time`);
    await sleep(POLL_MS);
  }
}

interface Measured {
  costs: Map<string, Cost>;
  perSecond: number;
  /** what PostgreSQL wrote, until a checkpoint at the end: to tables and indexes, and to the log; bytes for each message */
  written: { data: number; log: number };
  /** by which the database grew; bytes for each message */
  storedBytes: number;
}

async function measure(meter: CostMeter, way: Way, count: number, perSecond: number | null): Promise<Measured> {
  const size = () => meter.count('select pg_database_size(current_database()) as count');
  await meter.tell('checkpoint');
  const before = { size: await size(), written: await meter.written() };
  await meter.start();
  const begin = performance.now();
  await pass(meter, way, count, perSecond);
  const took = performance.now() - begin;
  const costs = await meter.end(count);
  await meter.tell('checkpoint');
  const written = await meter.written();
  return {
    costs,
    perSecond: (count * 1000) / took,
    written: { data: (written.data - before.written.data) / count, log: (written.log - before.written.log) / count },
    storedBytes: ((await size()) - before.size) / count,
  };
}

/** Statements and commits for each message, by process, as PostgreSQL writes them down. */
async function countStatements(
  meter: CostMeter,
  way: Way,
  file: string,
): Promise<Map<string, { all: number; commits: number }>> {
  const from = readFileSync(file).byteLength;
  await meter.tell(`alter system set log_statement = 'all'`);
  await meter.tell('select pg_reload_conf()');
  await sleep(1_000);
  await pass(meter, way, LOGGED, 10);
  await meter.tell(`alter system reset log_statement`);
  await meter.tell('select pg_reload_conf()');
  await sleep(1_000);
  const counts = new Map<string, { all: number; commits: number }>();
  for (const line of readFileSync(file).subarray(from).toString('utf8').split('\n')) {
    const [, name, text] = /^postroom (\w+)\|LOG: {2}(?:statement|execute [^:]*): (.*)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) continue;
    const known = counts.get(name) ?? { all: 0, commits: 0 };
    counts.set(name, known);
    known.all += 1 / LOGGED;
    if (/^commit/i.test(text)) known.commits += 1 / LOGGED;
  }
  return counts;
}

/** What everything costs while nothing happens. */
async function printIdle(meter: CostMeter, seconds: number): Promise<void> {
  if (seconds === 0) return;
  const wal = () => meter.count(`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as count`);
  const before = await wal();
  await meter.start();
  await sleep(seconds * 1000);
  const costs = await meter.end(seconds);
  console.log(`\nidle, for each of ${seconds} s: WAL ${Math.round(((await wal()) - before) / seconds)} bytes`);
  for (const [name, { ownCpuMs, databaseCpuMs }] of inOrder(costs))
    console.log(`  ${name.padEnd(12)} CPU ${ownCpuMs.toFixed(1)} ms, PostgreSQL for it ${databaseCpuMs.toFixed(1)} ms`);
}

function print(title: string, { costs, perSecond, written, storedBytes }: Measured): void {
  console.log(`\n${title}: ${perSecond.toFixed(1)} messages/s; each message costs`);
  const total = { ownCpuMs: 0, databaseCpuMs: 0, walBytes: 0 };
  for (const [name, cost] of inOrder(costs)) {
    for (const key of ['ownCpuMs', 'databaseCpuMs', 'walBytes'] as const) total[key] += cost[key];
    console.log(`  ${describe(name, cost)}`);
  }
  console.log(`  ${describe('all', total)}`);
  console.log(
    `  written: tables and indexes ${bytes(written.data)}, log ${bytes(written.log)}; kept ${bytes(storedBytes)}`,
  );
}

function printStatements(title: string, counts: Map<string, { all: number; commits: number }>): void {
  const parts = inOrder(counts).map(([name, { all, commits }]) => `${name} ${all.toFixed(1)} (${commits.toFixed(1)})`);
  console.log(
    `\n${title}: statements for each message at 10/s, sweeps included (commits of transactions among them)\n  ${parts.join(', ')}`,
  );
}

function inOrder<T>(costs: Map<string, T>): [string, T][] {
  return NAMES.flatMap((name) => {
    const cost = costs.get(name);
    return cost === undefined ? [] : [[name, cost] as [string, T]];
  });
}

function describe(name: string, cost: Cost): string {
  return (
    `${name.padEnd(12)} CPU ${cost.ownCpuMs.toFixed(2).padStart(6)} ms, PostgreSQL for it ${cost.databaseCpuMs.toFixed(2).padStart(6)} ms, ` +
    `WAL ${bytes(cost.walBytes)}`
  );
}

function bytes(count: number): string {
  return `${(count / 1000).toFixed(1)} kB`;
}
