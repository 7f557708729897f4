import { chmod, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { dkimVerify } from 'mailauth';
import { createDnsResolver, type DnsResolver } from '../../actors/network/dns-resolver.ts';
import type { BenchChild } from './child.ts';
import { isPostfixThere } from './contestants.ts';
import { onGround } from './ground.ts';
import type { SendOrder, SendReport } from './hand-in-process.ts';
import { describeMachine } from './machine.ts';
import { makeRecipient } from './messages.ts';
import { Meter, settle } from './resources.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import { type Sender, senderNames, startSender } from './senders.ts';
import type { SinkReport } from './sink-process.ts';
import { inTurn, median, percentile, spread } from './statistics.ts';

/** Messages after each start that are not counted. */
const WARMING = 300;
/** Every message must be at the sink, and known to be there, by then; milliseconds. */
const DRAIN_LIMIT_MS = 180_000;
const DNS_LIMIT_MS = 3_000;

export const help = `POST /emails to a sink on loopback, signed, beside a bare nodemailer pool (signing) and Postfix as a relay (not signing).
Each message is checked at the sink, and some signatures. One sender runs at a time, on a fresh folder in each round.

  --rounds N        default 3
  --count N         messages of a round; default 2000
  --size N          bytes of the text; default 4096
  --connections N   over which messages are handed in; default 50
  --only LIST       of ${senderNames.join(', ')}; default pool,postfix,postroom
  --cpus LIST       the cores that Postroom may use (taskset): 0 or 0,1`;

export interface SendRound {
  sender: string;
  /** from the first request to the last message at the sink */
  perSecond: number;
  /** from the first request to the last reply */
  acceptPerSecond: number;
  acceptMs: number[];
  /** from each message's request to its arrival at the sink */
  sinkMs: number[];
  residentMiB: number;
  cpuMsPerMessage: number;
  cpuByProgram: string;
  foreignPercent: number;
}

export interface OutboundOptions {
  rounds: number;
  count: number;
  sizeBytes: number;
  connections: number;
  senders: readonly string[];
  cpus?: string;
}

/** Measures what the options say, and prints every round, medians and ratios. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      count: { type: 'string', default: '2000' },
      size: { type: 'string', default: '4096' },
      connections: { type: 'string', default: '50' },
      only: { type: 'string', default: 'pool,postfix,postroom' },
      cpus: { type: 'string' },
    },
  });
  describeMachine();
  const { rounds, problems } = await measureOutbound({
    rounds: Number(values.rounds),
    count: Number(values.count),
    sizeBytes: Number(values.size),
    connections: Number(values.connections),
    senders: values.only.split(','),
    ...(values.cpus === undefined ? {} : { cpus: values.cpus }),
  });
  printSummary(rounds);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** Measures every sender, one at a time, in changing order. A sender that fails is a problem, not the end. */
export function measureOutbound(options: OutboundOptions): Promise<{ rounds: SendRound[]; problems: string[] }> {
  return onGround(async (ground) => {
    const [sink, loader] = [ground.child('./sink-process.ts'), ground.child('./hand-in-process.ts')];
    const { port: sinkPort } = await sink.readResponse<{ port: number }>();
    await loader.readResponse<{ ready: true }>();
    const rounds: SendRound[] = [];
    const problems: string[] = [];
    const measure = async (name: string, round: number) => {
      const directory = await mkdtemp(path.join(ground.directory, 'sender-'));
      await chmod(directory, 0o755);
      const { connections, count, sizeBytes, cpus } = options;
      const sender = await startSender(name, {
        directory,
        dns: ground.dns,
        sinkPort,
        loader,
        connections,
        ...(cpus === undefined ? {} : { cpus }),
      });
      const stop = ground.keep(sender);
      // Senders of later rounds sign with other keys under the same name, and a resolver remembers answers for a minute.
      const resolver = createDnsResolver({ servers: [ground.dns.address] });
      const send = (messages: number) => {
        const tag = `r${round}${name}${Date.now().toString(36)}${messages}`;
        return runRound(sender, sink, resolver, { count: messages, sizeBytes, tag });
      };
      try {
        await send(Math.min(WARMING, count));
        const result = await send(count);
        rounds.push(result);
        console.log(`round ${round + 1} ${describe(result)}`);
      } finally {
        await stop();
      }
    };
    for (let round = 0; round < options.rounds; round++)
      for (const name of inTurn(options.senders, round))
        await measure(name, round).catch((error: unknown) => {
          problems.push(`${name}, round ${round + 1}: ${String(error)}`);
          console.error(problems.at(-1));
        });
    return { rounds, problems };
  });
}

/** The rows of docs/benchmarks.md about mail that goes out. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const senders = extent === 'guard' ? ['postfix', 'postroom'] : ['postfix', 'pool', 'postroom'];
  const { rounds, problems } = await measureOutbound({
    rounds: extent === 'full' ? 3 : 1,
    count: extent === 'small' ? 100 : 2_000,
    sizeBytes: 4_096,
    connections: 50,
    senders: senders.filter((name) => name !== 'postfix' || isPostfixThere()),
  });
  const row = (
    head: Pick<Row, 'id' | 'work' | 'unit' | 'better'>,
    pick: (round: SendRound) => number,
    peer: string,
    shown: string,
  ): Row => ({
    ...head,
    ours: rounds.filter(({ sender }) => sender === 'Postroom').map(pick),
    peer: { name: shown, values: rounds.filter(({ sender }) => sender === peer).map(pick) },
  });
  const [relay, pool] = ['Postfix as a relay, not signing', 'nodemailer pool, signing'];
  const rate = { work: 'POST /emails to the sink, signed, 4 KB', unit: 'messages/s', better: 'higher' } as const;
  const cpu = { work: 'CPU per message from POST /emails to the sink', unit: 'ms', better: 'lower' } as const;
  return {
    rows: [
      row({ id: 'send', ...rate }, ({ perSecond }) => perSecond, 'Postfix', relay),
      row({ id: 'send-pool', ...rate }, ({ perSecond }) => perSecond, 'nodemailer pool', pool),
      row({ id: 'send-cpu', ...cpu }, ({ cpuMsPerMessage }) => cpuMsPerMessage, 'Postfix', relay),
      row(
        { id: 'memory-outbound', work: 'memory while sending', unit: 'MiB', better: 'lower' },
        ({ residentMiB }) => residentMiB,
        'Postfix',
        relay,
      ),
    ],
    foreignPercents: rounds.map(({ foreignPercent }) => foreignPercent),
    problems,
  };
}

async function runRound(sender: Sender, sink: BenchChild, resolver: DnsResolver, order: SendOrder): Promise<SendRound> {
  const sentBefore = await sender.sentCount();
  const meter = new Meter(sender);
  const report = await sender.send(order);
  if (report.failures.length > 0) throw new Error(`${sender.name} refused: ${report.failures.slice(0, 3).join(' | ')}`);
  const arrived = async () => (await sink.ask<{ count: number }>({ countOf: order.tag })).count;
  await reaches(`${sender.name}: messages at the sink`, order.count, arrived);
  meter.look();
  await reaches(`${sender.name}: messages known to be sent`, sentBefore + order.count, () => sender.sentCount());
  await settle(sender);
  const { cpuSeconds, byProgram, residentMiB, foreignPercent } = meter.end();
  const sunk = await sink.ask<SinkReport>({ arrivalsOf: order.tag });
  check(sender.name, order, report, sunk);
  await checkSignatures(sender, sunk.samples, resolver);
  const beganAt = Math.min(...report.startedAt);
  const acceptedAt = Math.max(...report.acceptMs.map((ms, n) => (report.startedAt[n] ?? 0) + ms));
  const lastAt = Math.max(...sunk.arrivals.map(({ at }) => at));
  return {
    sender: sender.name,
    perSecond: (order.count * 1000) / (lastAt - beganAt),
    acceptPerSecond: (order.count * 1000) / (acceptedAt - beganAt),
    acceptMs: report.acceptMs,
    sinkMs: sunk.arrivals.map(({ n, at }) => at - (report.startedAt[n] ?? Number.NaN)),
    residentMiB,
    cpuMsPerMessage: (cpuSeconds * 1000) / order.count,
    cpuByProgram: byProgram(order.count),
    foreignPercent,
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
    ({ n, recipients, body }) => recipients.join() !== makeRecipient(n) || body !== report.bodies[n],
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

function describe(round: SendRound): string {
  return (
    `${round.sender.padEnd(16)} sink: ${round.perSecond.toFixed(0)}/s  accepted: ${round.acceptPerSecond.toFixed(0)}/s  ` +
    `cpu ${round.cpuMsPerMessage.toFixed(2)} ms/message (${round.cpuByProgram})  memory ${round.residentMiB} MiB  others ${round.foreignPercent.toFixed(0)} %`
  );
}

function printSummary(rounds: readonly SendRound[]): void {
  console.log('\nto the sink, messages/s, median (lowest-highest)');
  const of = (sender: string) => rounds.filter((round) => round.sender === sender);
  const rate = (sender: string) => median(of(sender).map((round) => round.perSecond));
  const names = [...new Set(rounds.map((round) => round.sender))];
  for (const name of names) {
    const own = of(name);
    const times = (pick: (round: SendRound) => number[]) => {
      const sample = own.flatMap(pick);
      return `${percentile(sample, 0.5).toFixed(0)}/${percentile(sample, 0.99).toFixed(0)} ms`;
    };
    console.log(
      `  ${name.padEnd(16)} ${spread(own.map((round) => round.perSecond)).padEnd(18)} ` +
        `accepted ${spread(own.map((round) => round.acceptPerSecond)).padEnd(18)} ` +
        `p50/p99 until accepted ${times((round) => round.acceptMs)}, at the sink ${times((round) => round.sinkMs)}  ` +
        `memory ${Math.max(...own.map((round) => round.residentMiB))} MiB  ` +
        `cpu ${median(own.map((round) => round.cpuMsPerMessage)).toFixed(2)} ms`,
    );
  }
  for (const ours of names.filter((name) => name.startsWith('Postroom')))
    for (const peer of names.filter((name) => !name.startsWith('Postroom')))
      console.log(`  ${ours} by ${peer}: ${(rate(ours) / rate(peer)).toFixed(2)}`);
}
