import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startDnsServer } from '../support/servers/dns.ts';
import { BenchChild } from './child.ts';
import { type Contestant, startBareHaraka, startPostfix, startPostroom, startSplitPostroom } from './contestants.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { describeMachine } from './machine.ts';
import { countCpu } from './resources.ts';
import { median, percentile, spread } from './statistics.ts';

/** Sessions at once, as the target names them. */
const SESSIONS = 20;
/** Messages of a round by size: a few seconds each, so that a round outlives start-up effects and caches. */
const COUNT_BY_SIZE: Record<number, number> = { 4096: 3000, 102400: 600 };
/** Every message must have been stored and delivered by then; milliseconds. */
const DRAIN_LIMIT_MS = 120_000;

interface Round {
  contestant: string;
  case: string;
  acceptPerSecond: number;
  /** stored (Postfix) or webhook received (Postroom) per second; null for bare Haraka */
  donePerSecond: number | null;
  replyMs: number[];
  webhookMs: number[];
  residentMiB: number;
  cpuMsPerMessage: number;
  /** milliseconds per message of each program */
  cpuByProgram: string;
}

/** SMTP in to (a) 250 and (b) webhook received, beside bare Haraka and Postfix, alternating, medians and ratios printed. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      sizes: { type: 'string', default: '4096,102400' },
      modes: { type: 'string', default: 'reused,fresh' },
      only: { type: 'string' },
      count: { type: 'string' },
    },
  });
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const receiver = new BenchChild('./receiver-process.ts');
  const { port: receiverPort } = await receiver.answer<{ port: number }>();
  const loader = new BenchChild('./load-process.ts');
  const dns = await startDnsServer();
  dns.set('load.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
  dns.set('_dmarc.load.test', 'TXT', ['v=DMARC1; p=none']);
  const options = { webhookUrl: `http://127.0.0.1:${receiverPort}/hook`, dnsServer: `127.0.0.1:${dns.port}` };
  const isWanted = (name: string) => values.only === undefined || values.only.split(',').includes(name);
  const contestants: Contestant[] = [];
  const rounds: Round[] = [];
  describeMachine();
  try {
    if (isWanted('haraka')) contestants.push(await startBareHaraka(directory));
    if (isWanted('postfix')) contestants.push(await startPostfix(directory, 'maildir'));
    if (isWanted('postroom')) contestants.push(await startPostroom(directory, options));
    if (isWanted('split')) contestants.push(await startSplitPostroom(directory, options));
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const sizeBytes of values.sizes.split(',').map(Number)) {
        for (const mode of values.modes.split(',')) {
          for (const contestant of contestants) {
            const result = await runRound(contestant, loader, receiver, {
              count: Number(values.count ?? COUNT_BY_SIZE[sizeBytes] ?? 1000),
              sizeBytes,
              isReusingConnections: mode === 'reused',
              tag: `r${round}${mode}${sizeBytes}${contestant.name.replaceAll(' ', '')}${Date.now()}`,
            });
            // round 0 warms every server and is not counted
            if (round > 0) rounds.push(result);
            console.log(
              `round ${round} ${result.case.padEnd(14)} ${result.contestant.padEnd(14)} 250: ${result.acceptPerSecond.toFixed(0)}/s  done: ${result.donePerSecond?.toFixed(0) ?? '-'}/s  cpu ${result.cpuMsPerMessage.toFixed(2)} ms/message (${result.cpuByProgram})  rss ${result.residentMiB} MiB`,
            );
          }
        }
      }
    }
    printSummary(rounds);
  } finally {
    for (const contestant of contestants) await contestant.stop();
    loader.stop();
    receiver.stop();
    await dns.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function runRound(
  contestant: Contestant,
  loader: BenchChild,
  receiver: BenchChild,
  order: Pick<LoadOrder, 'count' | 'sizeBytes' | 'isReusingConnections' | 'tag'>,
): Promise<Round> {
  const storedBefore = await contestant.storedCount();
  const cpu = countCpu(contestant);
  const report = await loader.ask<LoadReport>({
    ...order,
    port: contestant.smtpPort,
    recipient: contestant.recipient,
    sessions: SESSIONS,
  } satisfies LoadOrder);
  if (report.accepted !== order.count)
    throw new Error(`${contestant.name} refused: ${report.refused.slice(0, 3).join(' | ')}`);
  const residentMiB = contestant.residentMiB();
  let doneAt: number | null = null;
  let webhookMs: number[] = [];
  if (storedBefore !== null && contestant.name === 'Postfix') {
    doneAt = await waitForStored(contestant, storedBefore + order.count);
  } else if (storedBefore !== null) {
    const arrivals = await waitForArrivals(receiver, order.tag, order.count);
    doneAt = Math.max(...arrivals.map(([, at]) => at));
    webhookMs = arrivals.map(
      ([messageId, at]) => at - (report.startedAt[Number(/\.(\d+)@/.exec(messageId)?.[1])] ?? Number.NaN),
    );
    const stored = await contestant.storedCount();
    if (stored !== storedBefore + order.count)
      throw new Error(`${contestant.name} stored ${stored}, expected ${storedBefore + order.count}`);
  }
  const { msPerMessage, byProgram } = cpu(order.count);
  return {
    contestant: contestant.name,
    case: `${order.sizeBytes / 1024} KB ${order.isReusingConnections ? 'd' : ''}`.trim(),
    acceptPerSecond: (order.count * 1000) / (report.lastReplyAt - report.firstByteAt),
    donePerSecond: doneAt === null ? null : (order.count * 1000) / (doneAt - report.firstByteAt),
    replyMs: report.replyMs,
    webhookMs,
    residentMiB,
    cpuMsPerMessage: msPerMessage,
    cpuByProgram: byProgram,
  };
}

async function waitForStored(contestant: Contestant, expected: number): Promise<number> {
  const deadline = Date.now() + DRAIN_LIMIT_MS;
  while (Date.now() < deadline) {
    const stored = await contestant.storedCount();
    if (stored !== null && stored >= expected) return performance.timeOrigin + performance.now();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${contestant.name} did not store ${expected} messages within ${DRAIN_LIMIT_MS} ms`);
}

async function waitForArrivals(receiver: BenchChild, tag: string, expected: number): Promise<[string, number][]> {
  const deadline = Date.now() + DRAIN_LIMIT_MS;
  while (Date.now() < deadline) {
    const { count } = await receiver.ask<{ count: number }>({ countOf: tag });
    if (count >= expected) return (await receiver.ask<{ arrivals: [string, number][] }>({ arrivalsOf: tag })).arrivals;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`webhooks of ${tag} did not all arrive within ${DRAIN_LIMIT_MS} ms`);
}

function printSummary(rounds: Round[]): void {
  for (const name of new Set(rounds.map((round) => round.case))) {
    const of = (contestant: string) => rounds.filter((round) => round.case === name && round.contestant === contestant);
    console.log(`\n${name}, ${SESSIONS} sessions: messages/s, median (lowest-highest)`);
    for (const contestant of new Set(rounds.map((round) => round.contestant))) {
      const own = of(contestant);
      if (own.length === 0) continue;
      const done = own.flatMap((round) => (round.donePerSecond === null ? [] : [round.donePerSecond]));
      const replies = own.flatMap((round) => round.replyMs);
      const webhooks = own.flatMap((round) => round.webhookMs);
      console.log(
        `  ${contestant.padEnd(15)} 250 ${spread(own.map((round) => round.acceptPerSecond)).padEnd(18)} done ${spread(done).padEnd(18)} ` +
          `250 p50/p99 ${percentile(replies, 0.5).toFixed(1)}/${percentile(replies, 0.99).toFixed(1)} ms  ` +
          `webhook p50/p99 ${percentile(webhooks, 0.5).toFixed(0)}/${percentile(webhooks, 0.99).toFixed(0)} ms  ` +
          `rss ${Math.max(...own.map((round) => round.residentMiB))} MiB  cpu ${median(own.map((round) => round.cpuMsPerMessage)).toFixed(2)} ms`,
      );
    }
    for (const ours of ['Postroom', 'Postroom split']) printRatios(ours, of);
  }
}

function printRatios(ours: string, of: (contestant: string) => Round[]): void {
  const rate = (contestant: string, pick: (round: Round) => number | null) => {
    const values = of(contestant).flatMap((round) => pick(round) ?? []);
    return values.length === 0 ? Number.NaN : median(values);
  };
  if (of(ours).length === 0) return;
  const accept = rate(ours, (round) => round.acceptPerSecond);
  const done = rate(ours, (round) => round.donePerSecond);
  const haraka = rate('bare Haraka', (round) => round.acceptPerSecond);
  console.log(
    `  ${ours}: (a) ${(accept / haraka).toFixed(2)} of bare Haraka, ${(accept / rate('Postfix', (round) => round.acceptPerSecond)).toFixed(2)} of Postfix's accept rate; ` +
      `(b) ${(done / haraka).toFixed(2)} of bare Haraka, ${(done / rate('Postfix', (round) => round.donePerSecond)).toFixed(2)} of Postfix's store rate`,
  );
}
