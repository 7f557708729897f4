import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../db/connection/database.ts';
import { poisonRow } from '../support/mail/poison.ts';
import { startSinkMta } from '../support/servers/sink-mta.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import type { BenchChild } from './child.ts';
import { type Ground, onGround } from './ground.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { describeMachine } from './machine.ts';
import { AUTHOR, makeRecipient, makeSubject, naturalText } from './messages.ts';
import { type Account, type PostroomServer, startSingleMachine } from './postroom-server.ts';
import {
  newTag,
  openReceivingStage,
  type ReceivingStage,
  SESSIONS,
  waitForArrivals,
  webhookTimes,
} from './receiving.ts';
import { Meter } from './resources.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import type { SinkReport } from './sink-process.ts';
import { percentile } from './statistics.ts';

/** A burst may delay another user's mail by this much at p99. Milliseconds. */
const MAX_DELAY_MS = 1_000;
/** Mails per second of the user who must not notice. */
const PROBE_PER_SECOND = 4;
const SIZE_BYTES = 4_096;
const BURST_LIMIT_MS = 600_000;
/** The slow server waits this long before every reply. Milliseconds. */
const TARPIT_MS = 5_000;
/** Has the address of its own, because all mail goes out to one port. */
const TARPIT = { domain: 'tarpit.test', host: '127.0.0.2' };
const POISONED_SUBJECT = 'A row that PostgreSQL refuses';
/** See test/support/mail/poisoned-parse-worker.ts. */
const HANGING_SUBJECT = '=?poison?Q?hang=FF?=';

export const help = `A user's single mails, ${PROBE_PER_SECOND} per second, first with nothing else to do and then while another user's mail causes trouble:
a burst; an endpoint that never responds; mail that PostgreSQL refuses or that hangs the parser; and, for sent mail, a slow
remote server (a tarpit). Fails when the burst delays the p99 by more than ${MAX_DELAY_MS} ms.

  --burst N     mails of the burst; default 10000
  --seconds N   of each other case; default 20`;

interface FairnessOptions {
  burst: number;
  seconds: number;
}

interface Case {
  id: string;
  work: string;
  times: number[];
  foreignPercent: number;
  /** the same with nothing else to do */
  calm: number[];
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { burst: { type: 'string', default: '10000' }, seconds: { type: 'string', default: '20' } },
  });
  describeMachine();
  const { cases, problems } = await measureFairness({ burst: Number(values.burst), seconds: Number(values.seconds) });
  for (const { work, times, calm } of cases)
    console.log(
      `${work}: p99 ${percentile(times, 0.99).toFixed(0)} ms, with nothing else to do ${percentile(calm, 0.99).toFixed(0)} ms`,
    );
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** The rows of docs/benchmarks.md about fairness. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const { cases, problems } = await measureFairness(
    extent === 'small' ? { burst: 100, seconds: 3 } : { burst: 10_000, seconds: 20 },
  );
  const rows = cases.map(
    ({ id, work, times, calm }): Row => ({
      id,
      work,
      unit: 'ms',
      better: 'lower',
      ours: [percentile(times, 0.99)],
      peer: { name: 'nothing else to do', values: [percentile(calm, 0.99)] },
    }),
  );
  return { rows, foreignPercents: cases.map(({ foreignPercent }) => foreignPercent), problems };
}

interface Stage extends ReceivingStage {
  server: PostroomServer;
  /** hands in the mail of the user who causes trouble */
  troubleLoader: BenchChild;
  sink: BenchChild;
  light: Account;
  heavy: Account;
}

/** Where mail of each user comes in. */
const LIGHT = 'light@light.test';
const HEAVY = 'heavy@heavy.test';
const HANGING = 'hanging@heavy.test';

function measureFairness(options: FairnessOptions): Promise<{ cases: Case[]; problems: string[] }> {
  return onGround(async (ground) => {
    const stage = await openStage(ground);
    const cases: Case[] = [];
    const problems: string[] = [];
    const until = () => sleep(options.seconds * 1_000);
    await probeInbound(stage, sleep(5_000));
    const calm = await probeInbound(stage, until());
    await probeOutbound(stage, sleep(5_000));
    const calmOut = await probeOutbound(stage, until());
    const measure = async (id: string, work: string, peer: number[], probing: () => Promise<number[]>) => {
      try {
        const meter = new Meter(stage.server);
        const times = await probing();
        cases.push({ id, work, times, calm: peer, foreignPercent: meter.end().foreignPercent });
        console.log(
          `${work}: p50/p99/highest ${[0.5, 0.99, 1].map((share) => percentile(times, share).toFixed(0)).join('/')} ms of ${times.length} mails`,
        );
      } catch (error) {
        problems.push(`${id}: ${String(error)}`);
        console.error(problems.at(-1));
      }
    };
    const show = (name: string, times: number[]) =>
      console.log(
        `${name}, nothing else to do: p50/p99 ${percentile(times, 0.5).toFixed(0)}/${percentile(times, 0.99).toFixed(0)} ms`,
      );
    show('received', calm);
    show('sent', calmOut);
    await measure(
      'fair-burst',
      `received mail during another user’s burst of ${options.burst.toLocaleString('en')} mails`,
      calm,
      () => probeInbound(stage, burst(stage, HEAVY, options.burst)),
    );
    await measure(
      'fair-hanging',
      'received mail while another user’s endpoint never responds to 500 webhooks',
      calm,
      async () => {
        const endpoint = (await stage.heavy.call('GET', '/endpoints'))['data'] as { id: string; name: string }[];
        await feed(stage, HANGING, 500);
        const times = await probeInbound(stage, until());
        const hanging = endpoint.find(({ name }) => name === HANGING);
        await stage.heavy.call('DELETE', `/endpoints/${hanging?.id}`);
        await stage.receiver.ask({ release: true });
        return times;
      },
    );
    await measure('fair-poison', 'received mail while PostgreSQL refuses 20 mails of another user', calm, async () => {
      const owner = openDatabase({
        url: stage.server.databaseUrl,
        role: null,
        poolSize: 1,
        applicationName: 'bench',
        onError: () => undefined,
      });
      try {
        const row = { table: 'email', on: 'insert', column: 'subject', value: POISONED_SUBJECT } as const;
        const poison = await poisonRow(owner, row);
        const [times] = await Promise.all([probeInbound(stage, until()), sendTrouble(stage, POISONED_SUBJECT, 20)]);
        await poison.cure();
        return times;
      } finally {
        await owner.close();
      }
    });
    await measure('fair-parser', 'received mail while 3 mails of another user hang the parser', calm, async () => {
      const [times] = await Promise.all([probeInbound(stage, until()), sendTrouble(stage, HANGING_SUBJECT, 3)]);
      return times;
    });
    await measure('fair-tarpit', 'sent mail while 300 mails of another user go to a slow server', calmOut, async () => {
      const posting = postTrouble(stage, 300);
      const [times] = await Promise.all([probeOutbound(stage, until()), posting]);
      return times;
    });
    for (const { id, times, calm: peer } of cases)
      if (id === 'fair-burst' && percentile(times, 0.99) - percentile(peer, 0.99) > MAX_DELAY_MS)
        problems.push(`${id}: the p99 is more than ${MAX_DELAY_MS} ms later`);
    return { cases, problems };
  });
}

async function openStage(ground: Ground): Promise<Stage> {
  const receiving = await openReceivingStage(ground);
  const sink = ground.child('./sink-process.ts');
  const { port: sinkPort } = await sink.readResponse<{ port: number }>();
  const late = { reply: '250 2.0.0 OK', afterMs: TARPIT_MS } as const;
  const tarpit = await startSinkMta({
    host: TARPIT.host,
    port: sinkPort,
    isKeepingBytes: false,
    script: {
      banner: () => ({ reply: '220 slow.test ESMTP', afterMs: TARPIT_MS }),
      mail: () => late,
      rcpt: () => late,
      data: () => ({ reply: '354 go on', afterMs: TARPIT_MS }),
      message: () => late,
    },
  });
  ground.keep(tarpit);
  ground.dns.set(TARPIT.domain, 'MX', [{ preference: 10, exchange: `mx.${TARPIT.domain}` }]);
  ground.dns.set(`mx.${TARPIT.domain}`, 'A', [TARPIT.host]);
  const program = new URL('./hanging-parser-process.ts', import.meta.url);
  const server = await startSingleMachine(ground.directory, {
    dnsServer: ground.dns.address,
    environment: {
      OUTBOUND_PORT: String(sinkPort),
      NODE_OPTIONS: `--import=${program.href}`,
      TRUSTED_DOMAINS: `${AUTHOR.domain},light.test,heavy.test`,
    },
  });
  ground.keep(server);
  const [light, heavy] = [
    await server.createAccount('light@owner.test'),
    await server.createAccount('heavy@owner.test'),
  ];
  await light.createWebhookAddress(LIGHT, receiving.webhookUrl);
  await heavy.createWebhookAddress(HEAVY, receiving.webhookUrl);
  await heavy.createWebhookAddress(HANGING, receiving.webhookUrl.replace('/hook', '/hang'));
  return { ...receiving, server, troubleLoader: ground.child('./load-process.ts'), sink, light, heavy };
}

/** Sends single mails until the trouble is over. Returns milliseconds from the first byte of each to its webhook. */
async function probeInbound(stage: Stage, trouble: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  const over = trouble.finally(() => {
    isOver = true;
  });
  do {
    const tag = newTag();
    const report = await stage.loader.ask<LoadReport>({
      ...orderTo(stage, LIGHT, tag),
      count: 2 * PROBE_PER_SECOND,
      sessions: 2 * PROBE_PER_SECOND,
      perSecond: PROBE_PER_SECOND,
    } satisfies LoadOrder);
    if (report.refused.length > 0) throw new Error(`refused: ${report.refused[0]}`);
    times.push(...webhookTimes(report, await waitForArrivals(stage.receiver, tag, report.accepted)));
  } while (!isOver);
  await over;
  return times;
}

/** Posts single emails until the trouble is over. Returns milliseconds from each request to the arrival at the sink. */
async function probeOutbound({ light, sink }: Stage, trouble: Promise<unknown>): Promise<number[]> {
  const tag = newTag();
  const startedAt: number[] = [];
  let isOver = false;
  const over = trouble.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const n = startedAt.length;
    startedAt.push(performance.timeOrigin + performance.now());
    await light.call('POST', '/emails', {
      from: 'Light <light@light.test>',
      to: makeRecipient(n),
      subject: makeSubject(tag, n),
      text: naturalText(SIZE_BYTES),
    });
    await sleep(1_000 / PROBE_PER_SECOND);
  }
  await over;
  const deadline = performance.now() + BURST_LIMIT_MS;
  while ((await sink.ask<{ count: number }>({ countOf: tag })).count < startedAt.length) {
    if (performance.now() > deadline) throw new Error('sent mail did not arrive');
    await sleep(50);
  }
  const { arrivals } = await sink.ask<SinkReport>({ arrivalsOf: tag });
  return arrivals.map(({ n, at }) => at - (startedAt[n] ?? Number.NaN));
}

/** Sends mail as fast as it is accepted, and waits for all its webhooks. */
async function burst(stage: Stage, recipient: string, count: number): Promise<void> {
  const { tag, accepted } = await feed(stage, recipient, count);
  await waitForArrivals(stage.receiver, tag, accepted, BURST_LIMIT_MS);
}

async function feed(stage: Stage, recipient: string, count: number): Promise<{ tag: string; accepted: number }> {
  const tag = newTag();
  const report = await stage.troubleLoader.ask<LoadReport>({
    ...orderTo(stage, recipient, tag),
    count,
    sessions: SESSIONS,
    isReusingConnections: true,
  } satisfies LoadOrder);
  if (report.accepted !== count) throw new Error(`refused: ${report.refused[0]}`);
  return { tag, accepted: report.accepted };
}

function orderTo({ server }: Stage, recipient: string, tag: string) {
  return { port: server.smtpPort, recipient, sizeBytes: SIZE_BYTES, isReusingConnections: false, tag };
}

async function sendTrouble({ server }: Stage, subject: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const header = [
      `Message-ID: <${newTag()}@load.test>`,
      'From: Someone <sender@load.test>',
      `To: <${HEAVY}>`,
      `Subject: ${subject}`,
    ];
    const { code, reply } = await sendOne({
      port: server.smtpPort,
      reversePath: 'sender@load.test',
      recipients: [HEAVY],
      bytes: Buffer.from(`${header.join('\r\n')}\r\n\r\nHello\r\n`),
    });
    if (code !== 250) throw new Error(`refused: ${reply}`);
  }
}

async function postTrouble({ heavy }: Stage, count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    await heavy.call('POST', '/emails', {
      from: `Heavy <${HEAVY}>`,
      to: `person${n}@${TARPIT.domain}`,
      subject: 'To a slow server',
      text: naturalText(SIZE_BYTES),
    });
}
