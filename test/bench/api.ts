import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startDnsServer } from '../support/servers/dns.ts';
import { type Subject, type SubjectOptions, startGatewayAlone, startWhole } from './api-subjects.ts';
import { BenchChild } from './child.ts';
import type { HttpLoadResult } from './http-load.ts';
import type { HttpOrder } from './http-load-process.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { SINK_DOMAIN } from './messages.ts';
import { countCpu, type Resources } from './resources.ts';
import { median, percentile, spread } from './statistics.ts';

/** Least share of the bare service's rate. */
const LEAST_RATIO = 0.5;
/** What was posted must have been sent by then; milliseconds. */
const DRAIN_LIMIT_MS = 180_000;

interface Round {
  subject: string;
  kind: string;
  isBare: boolean;
  perSecond: number;
  replyMs: number[];
  cpuMs: number;
  cpuByProgram: string;
}

/** One kind of request, to Postroom and to the bare service. */
interface Kind {
  name: string;
  count: number;
  orders(subject: Subject): { ours: Target; bare: Target };
}

type Target = Pick<HttpOrder, 'port' | 'path' | 'apiKey'> & { isPosting: boolean };

/**
 * Requests per second and times to the answer over 50 connections beside a bare Fastify service on the same PostgreSQL, alternating:
 * POST /emails beside one insert of the same body, lists of emails and threads beside their own statement.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      posts: { type: 'string', default: '3000' },
      reads: { type: 'string', default: '3000' },
      rows: { type: 'string', default: '10000' },
      size: { type: 'string', default: '4096' },
      connections: { type: 'string', default: '50' },
      only: { type: 'string', default: 'gateway,start' },
      kinds: { type: 'string', default: 'post,emails,threads' },
    },
  });
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const [sink, loader] = [new BenchChild('./sink-process.ts'), new BenchChild('./http-load-process.ts')];
  const { port: sinkPort } = await sink.answer<{ port: number }>();
  await loader.answer<{ ready: true }>();
  const dns = await startDnsServer();
  dns.set(SINK_DOMAIN, 'MX', [{ preference: 10, exchange: `mx.${SINK_DOMAIN}` }]);
  dns.set(`mx.${SINK_DOMAIN}`, 'A', ['127.0.0.1']);
  const subjects: Subject[] = [];
  const rounds: Round[] = [];
  describeMachine();
  console.log(
    `${values.connections} connections, one request in flight on each; texts of ${values.size} bytes; lists of a mailbox of ${values.rows} emails`,
  );
  try {
    const options = { directory, dnsServer: dns.address, sinkPort, rows: Number(values.rows) };
    for (const name of values.only.split(',')) subjects.push(await startSubject(name, options));
    for (const { name, server } of subjects) await describePostgresql(name, server.databaseUrl);
    const kinds = values.kinds.split(',').map((name) => kindOf(name, Number(values.posts), Number(values.reads)));
    for (const subject of subjects) await checkLists(subject, options.rows);
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const kind of kinds) {
        for (const subject of subjects) {
          const load = { sizeBytes: Number(values.size), connections: Number(values.connections) };
          const results = await runRound(subject, kind, loader, { ...load, tag: `r${round}${Date.now()}` });
          for (const result of results) console.log(`round ${round} ${describe(result)}`);
          // round 0 warms everything and is not counted
          if (round > 0) rounds.push(...results);
        }
      }
    }
    printSummary(rounds);
  } finally {
    for (const subject of subjects) await subject.stop();
    loader.stop();
    sink.stop();
    await dns.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function startSubject(name: string, options: SubjectOptions): Promise<Subject> {
  if (name === 'gateway') return startGatewayAlone(options);
  if (name === 'start') return startWhole(options);
  throw new Error('--only takes gateway, start');
}

function kindOf(name: string, posts: number, reads: number): Kind {
  const listing = (kind: string, route: string, barePath: string): Kind => ({
    name: kind,
    count: reads,
    orders: ({ server, reader, bare }) => ({
      ours: { port: server.httpPort, path: `/api/e2${route}`, apiKey: reader.apiKey, isPosting: false },
      bare: { port: bare.port, path: barePath, apiKey: null, isPosting: false },
    }),
  });
  if (name === 'emails') return listing('GET /emails (50)', '/emails?limit=50&time_range=all', '/emails');
  if (name === 'threads') return listing('GET /mail/threads (25)', '/mail/threads?limit=25', '/threads');
  if (name !== 'post') throw new Error('--kinds takes post, emails, threads');
  return {
    name: 'POST /emails',
    count: posts,
    orders: ({ server, bare }) => ({
      ours: { port: server.httpPort, path: '/api/e2/emails', apiKey: server.apiKey, isPosting: true },
      bare: { port: bare.port, path: '/bare', apiKey: null, isPosting: true },
    }),
  };
}

/** Both services show the whole page, and Postroom the exact total. Throws otherwise. */
async function checkLists({ name, reader, bare }: Subject, rows: number): Promise<void> {
  const emails = await reader.call('GET', '/emails?limit=50&time_range=all');
  const threads = await reader.call('GET', '/mail/threads?limit=25');
  const ofBare = async (route: string) => {
    const response = await fetch(`http://127.0.0.1:${bare.port}${route}`);
    return ((await response.json()) as { data: unknown[] }).data.length;
  };
  const seen = [
    (emails['data'] as unknown[]).length,
    (emails['pagination'] as { total: number }).total,
    (threads['threads'] as unknown[]).length,
    await ofBare('/emails'),
    await ofBare('/threads'),
  ];
  // The statement of the list of threads asks for one more, to know whether there are others.
  const expected = [50, rows, 25, 50, 26];
  if (seen.join() !== expected.join())
    throw new Error(`${name}: lists show ${seen.join()}, expected ${expected.join()}`);
}

async function runRound(
  subject: Subject,
  kind: Kind,
  loader: BenchChild,
  load: { sizeBytes: number; connections: number; tag: string },
): Promise<Round[]> {
  const { ours, bare } = kind.orders(subject);
  const storedCount = async () => {
    const list = await subject.server.call('GET', '/emails?type=sent&time_range=all&limit=1');
    return (list['pagination'] as { total: number }).total;
  };
  const measure = async (target: Target, resources: Resources, stored: () => Promise<number>): Promise<Round> => {
    const { port, path: route, apiKey, isPosting } = target;
    const { connections, sizeBytes, tag } = load;
    const before = isPosting ? await stored() : 0;
    const cpu = countCpu(resources);
    const result = await loader.ask<HttpLoadResult>({
      port,
      path: route,
      apiKey,
      connections,
      count: kind.count,
      post: isPosting ? { sizeBytes, tag } : null,
    } satisfies HttpOrder);
    const { msPerMessage, byProgram } = cpu(kind.count);
    if (result.failures.length > 0) throw new Error(`${subject.name} ${kind.name}: ${result.failures[0]}`);
    if (isPosting && (await stored()) !== before + kind.count)
      throw new Error(`${subject.name} ${kind.name}: stored ${(await stored()) - before}, not ${kind.count}`);
    return {
      subject: subject.name,
      kind: kind.name,
      isBare: resources === subject.bare,
      perSecond: (kind.count * 1000) / (Math.max(...result.endedAt) - Math.min(...result.startedAt)),
      replyMs: result.endedAt.map((at, n) => at - (result.startedAt[n] ?? Number.NaN)),
      cpuMs: msPerMessage,
      cpuByProgram: byProgram,
    };
  };
  const first = await measure(ours, subject.server, storedCount);
  if (subject.name === 'npm start') await atRest(subject);
  return [first, await measure(bare, subject.bare, () => subject.bareCount())];
}

/** Waits until all that was posted has been sent, so that no other figure bears its costs. */
async function atRest(subject: Subject): Promise<void> {
  const deadline = Date.now() + DRAIN_LIMIT_MS;
  while ((await subject.waitingCount()) > 0) {
    if (Date.now() > deadline) throw new Error(`${subject.name}: mail still waits to be sent`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function describe({ subject, kind, isBare, perSecond, replyMs, cpuMs, cpuByProgram }: Round): string {
  return (
    `${kind.padEnd(23)} ${(isBare ? `bare beside ${subject}` : subject).padEnd(22)} ${perSecond.toFixed(0)}/s  ` +
    `p50/p99 ${percentile(replyMs, 0.5).toFixed(1)}/${percentile(replyMs, 0.99).toFixed(1)} ms  cpu ${cpuMs.toFixed(2)} ms (${cpuByProgram})`
  );
}

function printSummary(rounds: Round[]): void {
  console.log('\nrequests/s, median (lowest-highest)');
  for (const kind of new Set(rounds.map((round) => round.kind))) {
    for (const subject of new Set(rounds.map((round) => round.subject))) {
      const of = (isBare: boolean) =>
        rounds.filter((round) => round.kind === kind && round.subject === subject && round.isBare === isBare);
      const figures = (own: Round[]) => {
        const replies = own.flatMap((round) => round.replyMs);
        return (
          `${spread(own.map((round) => round.perSecond))} p50/p99 ${percentile(replies, 0.5).toFixed(1)}/${percentile(replies, 0.99).toFixed(1)} ms ` +
          `cpu ${median(own.map((round) => round.cpuMs)).toFixed(2)} ms`
        );
      };
      const rate = (isBare: boolean) => median(of(isBare).map((round) => round.perSecond));
      const ratio = rate(false) / rate(true);
      console.log(
        `  ${kind.padEnd(23)} ${subject.padEnd(10)} ${figures(of(false))} | bare ${figures(of(true))} | ` +
          `ratio ${ratio.toFixed(2)} (at least ${LEAST_RATIO}: ${ratio >= LEAST_RATIO ? 'yes' : 'NO'})`,
      );
    }
  }
}
