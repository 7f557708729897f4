import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchChild } from './child.ts';
import { type Contestant, startReceiver } from './contestants.ts';
import type { Ground } from './ground.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { Meter, settle } from './resources.ts';

/** Sessions at once. */
export const SESSIONS = 20;
/** Messages after each start that are not counted. */
const WARMING = 300;
/** Every message must be stored and delivered by then; milliseconds. */
const DRAIN_LIMIT_MS = 120_000;

/** Messages of one size, many per connection or a connection each. */
export interface ReceivingCase {
  sizeBytes: number;
  isReusingConnections: boolean;
  count: number;
}

/** What one contestant did with the messages of a case. */
export interface ReceivingRound extends ReceivingCase {
  contestant: string;
  /** from the first byte to the last 250 */
  acceptPerSecond: number;
  /** to the last message stored (Postfix) or webhook received (Postroom); NaN of bare Haraka */
  donePerSecond: number;
  replyMs: number[];
  webhookMs: number[];
  residentMiB: number;
  cpuMsPerMessage: number;
  /** milliseconds per message of each program */
  cpuByProgram: string;
  foreignPercent: number;
  /** kept on disk for each message, without the log; NaN where nothing is kept */
  storedBytes: number;
  /** written to the log of PostgreSQL for each message; NaN without one */
  walBytes: number;
}

export interface ReceivingStage {
  ground: Ground;
  loader: BenchChild;
  receiver: BenchChild;
  webhookUrl: string;
}

export async function openReceivingStage(ground: Ground): Promise<ReceivingStage> {
  const receiver = ground.child('./receiver-process.ts');
  const { port } = await receiver.readResponse<{ port: number }>();
  const loader = ground.child('./load-process.ts');
  return { ground, loader, receiver, webhookUrl: `http://127.0.0.1:${port}/hook` };
}

/**
 * Starts a contestant with no mail, warms it, and stops it after the work. `cpus` are the cores that it may use, `environment` the settings of
 * Postroom.
 */
export async function withReceiver<T>(
  stage: ReceivingStage,
  name: string,
  cpus: string | undefined,
  work: (contestant: Contestant) => Promise<T>,
  environment: Record<string, string> = {},
): Promise<T> {
  const { ground, webhookUrl } = stage;
  const options = { webhookUrl, environment, ...(cpus === undefined ? {} : { cpus }) };
  const contestant = await startReceiver(name, ground, options);
  const stop = ground.keep(contestant);
  try {
    await receive(stage, contestant, { sizeBytes: 4_096, isReusingConnections: true, count: WARMING });
    return await work(contestant);
  } finally {
    await stop();
  }
}

/** Letters and digits that begin the Message-IDs of one load. */
export function newTag(): string {
  return `t${randomBytes(6).toString('hex')}`;
}

/** Milliseconds from the first byte of each message to its webhook. */
export function webhookTimes(report: LoadReport, arrivals: readonly [messageId: string, at: number][]): number[] {
  return arrivals.map(
    ([messageId, at]) => at - (report.startedAt[Number(/\.(\d+)@/.exec(messageId)?.[1])] ?? Number.NaN),
  );
}

/** Sends the messages and waits until all are done. Throws when one is refused, lost or stored twice. */
export async function receive(
  { loader, receiver }: ReceivingStage,
  contestant: Contestant,
  order: ReceivingCase & { perSecond?: number },
): Promise<ReceivingRound> {
  const tag = newTag();
  const before = { stored: await contestant.storedCount(), kept: await contestant.kept() };
  const meter = new Meter(contestant);
  const report = await loader.ask<LoadReport>({
    ...order,
    tag,
    port: contestant.smtpPort,
    recipient: contestant.recipient,
    sessions: SESSIONS,
  } satisfies LoadOrder);
  if (report.accepted !== order.count)
    throw new Error(`${contestant.name} refused: ${report.refused.slice(0, 3).join(' | ')}`);
  let doneAt = Number.NaN;
  let webhookMs: number[] = [];
  if (contestant.isPosting) {
    const arrivals = await waitForArrivals(receiver, tag, order.count);
    doneAt = Math.max(...arrivals.map(([, at]) => at));
    webhookMs = webhookTimes(report, arrivals);
  } else if (before.stored !== null) doneAt = await waitForStored(contestant, before.stored + order.count);
  meter.look();
  await settle(contestant);
  const { cpuSeconds, byProgram, residentMiB, foreignPercent } = meter.end();
  const after = { stored: await contestant.storedCount(), kept: await contestant.kept() };
  if (before.stored !== null && after.stored !== before.stored + order.count)
    throw new Error(`${contestant.name} stored ${after.stored}, expected ${before.stored + order.count}`);
  return {
    ...order,
    contestant: contestant.name,
    acceptPerSecond: (order.count * 1000) / (report.lastReplyAt - report.firstByteAt),
    donePerSecond: (order.count * 1000) / (doneAt - report.firstByteAt),
    replyMs: report.replyMs,
    webhookMs,
    residentMiB,
    cpuMsPerMessage: (cpuSeconds * 1000) / order.count,
    cpuByProgram: byProgram(order.count),
    foreignPercent,
    storedBytes: (after.kept.storedBytes - before.kept.storedBytes) / order.count,
    walBytes: (after.kept.walBytes - before.kept.walBytes) / order.count,
  };
}

async function waitForStored(contestant: Contestant, expected: number): Promise<number> {
  const deadline = Date.now() + DRAIN_LIMIT_MS;
  while (Date.now() < deadline) {
    const lookedAt = performance.timeOrigin + performance.now();
    const stored = await contestant.storedCount();
    if (stored !== null && stored >= expected) return lookedAt;
    await sleep(20);
  }
  throw new Error(`${contestant.name} did not store ${expected} messages within ${DRAIN_LIMIT_MS} ms`);
}

/** Waits until the webhooks of that many messages arrived; returns the Message-ID and the instant of each. */
export async function waitForArrivals(
  receiver: BenchChild,
  tag: string,
  expected: number,
  limitMs = DRAIN_LIMIT_MS,
): Promise<[messageId: string, at: number][]> {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    const { count } = await receiver.ask<{ count: number }>({ countOf: tag });
    if (count >= expected) return (await receiver.ask<{ arrivals: [string, number][] }>({ arrivalsOf: tag })).arrivals;
    await sleep(50);
  }
  throw new Error(`webhooks of ${tag} did not all arrive within ${limitMs} ms`);
}
