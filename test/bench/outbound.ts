import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { dkimVerify } from 'mailauth';
import { createDnsResolver, type DnsResolver } from '../../actors/dns-resolver.ts';
import { startDnsServer } from '../support/servers/dns.ts';
import { BenchChild } from './child.ts';
import type { SendOrder, SendReport } from './hand-in-process.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { recipientOf, SINK_DOMAIN } from './messages.ts';
import { countCpu } from './resources.ts';
import {
  type Sender,
  type SenderOptions,
  startPool,
  startRelayingPostfix,
  startSendingPostroom,
  startSendingSplitPostroom,
} from './senders.ts';
import type { SinkReport } from './sink-process.ts';
import { median, percentile, spread } from './statistics.ts';

/** Every message must be at the sink, and known to be there, by then; milliseconds. */
const DRAIN_LIMIT_MS = 180_000;
/** Least shares of the peers' rates. */
const LEAST = { 'nodemailer pool': 0.4, Postfix: 1 };
const DNS_LIMIT_MS = 3_000;

interface Round {
  sender: string;
  /** from the first request to the last message at the sink */
  perSecond: number;
  /** from the first request to the last answer */
  acceptPerSecond: number;
  acceptMs: number[];
  /** from each message's request to its arrival at the sink */
  sinkMs: number[];
  residentMiB: number;
  cpuMsPerMessage: number;
}

/**
 * Distinct messages of one size, handed in and counted at a sink on loopback: Postroom (POST to sink) beside a bare nodemailer pool and
 * Postfix relaying to the same sink, alternating; each message is checked there, and of those that sign some by their signature.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      count: { type: 'string', default: '2000' },
      size: { type: 'string', default: '4096' },
      connections: { type: 'string', default: '50' },
      only: { type: 'string', default: 'pool,postfix,postroom' },
    },
  });
  const order = { count: Number(values.count), sizeBytes: Number(values.size) };
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const [sink, loader] = [new BenchChild('./sink-process.ts'), new BenchChild('./hand-in-process.ts')];
  const { port: sinkPort } = await sink.answer<{ port: number }>();
  await loader.answer<{ ready: true }>();
  const dns = await startDnsServer();
  dns.set(SINK_DOMAIN, 'MX', [{ preference: 10, exchange: `mx.${SINK_DOMAIN}` }]);
  dns.set(`mx.${SINK_DOMAIN}`, 'A', ['127.0.0.1']);
  const resolver = createDnsResolver({ servers: [dns.address] });
  const options = { directory, sinkPort, dns, loader, connections: Number(values.connections) };
  const senders: Sender[] = [];
  const rounds: Round[] = [];
  describeMachine();
  console.log(
    `${order.count} messages a round, text of ${order.sizeBytes} bytes, one recipient each, handed in over ${values.connections} connections`,
  );
  try {
    for (const name of values.only.split(',')) senders.push(await startSender(name, options));
    for (const { name, databaseUrl } of senders) if (databaseUrl !== null) await describePostgresql(name, databaseUrl);
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const sender of senders) {
        const tag = `r${round}${sender.name.replaceAll(' ', '')}${Date.now()}`;
        const result = await runRound(sender, sink, resolver, { ...order, tag });
        // round 0 warms every sender and is not counted
        if (round > 0) rounds.push(result.round);
        console.log(`round ${round} ${sender.name.padEnd(16)} ${describe(result.round)}  (${result.cpuByProgram})`);
      }
    }
    printSummary(rounds);
  } finally {
    for (const sender of senders) await sender.stop();
    loader.stop();
    sink.stop();
    await dns.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

const starters: Record<string, (options: SenderOptions) => Promise<Sender>> = {
  pool: startPool,
  postfix: startRelayingPostfix,
  postroom: startSendingPostroom,
  split: startSendingSplitPostroom,
};

function startSender(name: string, options: SenderOptions): Promise<Sender> {
  const start = starters[name];
  if (start === undefined) throw new Error(`--only takes ${Object.keys(starters).join(', ')}`);
  return start(options);
}

async function runRound(
  sender: Sender,
  sink: BenchChild,
  resolver: DnsResolver,
  order: SendOrder,
): Promise<{ round: Round; cpuByProgram: string }> {
  const sentBefore = await sender.sentCount();
  const cpu = countCpu(sender);
  const report = await sender.send(order);
  if (report.failures.length > 0) throw new Error(`${sender.name} refused: ${report.failures.slice(0, 3).join(' | ')}`);
  const arrived = async () => (await sink.ask<{ count: number }>({ countOf: order.tag })).count;
  await reaches(`${sender.name}: messages at the sink`, order.count, arrived);
  const residentMiB = sender.residentMiB();
  await reaches(`${sender.name}: messages known to be sent`, sentBefore + order.count, () => sender.sentCount());
  const { msPerMessage, byProgram } = cpu(order.count);
  const sunk = await sink.ask<SinkReport>({ arrivalsOf: order.tag });
  check(sender.name, order, report, sunk);
  await checkSignatures(sender, sunk.samples, resolver);
  const beganAt = Math.min(...report.startedAt);
  const acceptedAt = Math.max(...report.acceptMs.map((ms, n) => (report.startedAt[n] ?? 0) + ms));
  const lastAt = Math.max(...sunk.arrivals.map(({ at }) => at));
  return {
    round: {
      sender: sender.name,
      perSecond: (order.count * 1000) / (lastAt - beganAt),
      acceptPerSecond: (order.count * 1000) / (acceptedAt - beganAt),
      acceptMs: report.acceptMs,
      sinkMs: sunk.arrivals.map(({ n, at }) => at - (report.startedAt[n] ?? Number.NaN)),
      residentMiB,
      cpuMsPerMessage: msPerMessage,
    },
    cpuByProgram: byProgram,
  };
}

async function reaches(what: string, expected: number, count: () => Promise<number>): Promise<void> {
  const deadline = Date.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const there = await count();
    if (there === expected) return;
    if (there > expected || Date.now() > deadline) throw new Error(`${what}: ${there} instead of ${expected}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Each message came once, to its recipient, with its own text and a Message-ID of its own. Throws otherwise. */
function check(name: string, order: SendOrder, report: SendReport, { arrivals }: SinkReport): void {
  const wrong = arrivals.filter(
    ({ n, recipients, body }) => recipients.join() !== recipientOf(n) || body !== report.bodies[n],
  );
  if (wrong.length > 0) throw new Error(`${name}: message ${wrong[0]?.n} came with another text or recipient`);
  const distinct = (pick: (arrival: SinkReport['arrivals'][number]) => unknown) => new Set(arrivals.map(pick)).size;
  for (const count of [arrivals.length, distinct(({ n }) => n), distinct(({ messageId }) => messageId)])
    if (count !== order.count) throw new Error(`${name}: ${count} distinct messages at the sink, not ${order.count}`);
}

async function checkSignatures(sender: Sender, samples: string[], dns: DnsResolver): Promise<void> {
  if (!sender.isSigning) return;
  for (const sample of samples) {
    const { results } = await dkimVerify(Buffer.from(sample, 'base64'), { resolver: dns.within(DNS_LIMIT_MS) });
    const found = results.map(({ status }) => status.result).join() || 'none';
    if (found !== 'pass') throw new Error(`${sender.name}: a signature's check gave ${found}`);
  }
}

function describe(round: Round): string {
  return (
    `sink: ${round.perSecond.toFixed(0)}/s  taken: ${round.acceptPerSecond.toFixed(0)}/s  ` +
    `cpu ${round.cpuMsPerMessage.toFixed(2)} ms/message  rss ${round.residentMiB} MiB`
  );
}

function printSummary(rounds: Round[]): void {
  console.log('\nto the sink, messages/s, median (lowest-highest)');
  const of = (sender: string) => rounds.filter((round) => round.sender === sender);
  const rate = (sender: string) => median(of(sender).map((round) => round.perSecond));
  const names = [...new Set(rounds.map((round) => round.sender))];
  for (const name of names) {
    const own = of(name);
    const times = (pick: (round: Round) => number[]) => {
      const sample = own.flatMap(pick);
      return `${percentile(sample, 0.5).toFixed(0)}/${percentile(sample, 0.99).toFixed(0)} ms`;
    };
    console.log(
      `  ${name.padEnd(16)} ${spread(own.map((round) => round.perSecond)).padEnd(18)} ` +
        `taken ${spread(own.map((round) => round.acceptPerSecond)).padEnd(18)} ` +
        `p50/p99 until taken ${times((round) => round.acceptMs)}, at the sink ${times((round) => round.sinkMs)}  ` +
        `rss ${Math.max(...own.map((round) => round.residentMiB))} MiB  ` +
        `cpu ${median(own.map((round) => round.cpuMsPerMessage)).toFixed(2)} ms`,
    );
  }
  for (const ours of names.filter((name) => name.startsWith('Postroom'))) {
    for (const [peer, least] of Object.entries(LEAST)) {
      if (!names.includes(peer)) continue;
      const ratio = rate(ours) / rate(peer);
      console.log(`  ${ours}: ${ratio.toFixed(2)} of ${peer} (at least ${least}: ${ratio >= least ? 'yes' : 'NO'})`);
    }
  }
}
