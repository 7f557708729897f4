import { parseArgs } from 'node:util';
import { type Subject, startGatewayAlone, startWhole } from './api-subjects.ts';
import type { BenchChild } from './child.ts';
import { type Ground, onGround } from './ground.ts';
import type { HttpLoadResult } from './http-load.ts';
import type { HttpOrder } from './http-load-process.ts';
import { describeMachine } from './machine.ts';
import { Meter, type Resources } from './resources.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import { median, percentile, spread } from './statistics.ts';

/** What was posted must have been sent by then; milliseconds. */
const DRAIN_LIMIT_MS = 180_000;
/** Words that each some thousandths of the mails have. */
const SEARCHED_WORDS = Array.from({ length: 20 }, (_, n) => `w${2_000 + n}`);

export const help = `REST of a gateway beside a bare Fastify service on the same PostgreSQL: POST /emails beside a route with one insert, the
list of threads beside the newest rows of a table, a search beside PostgreSQL's full-text index over as many rows.

  --rounds N        default 3
  --posts N         requests of a round; default 3000
  --reads N         requests of a round; default 2000
  --rows N          mails of the mailbox; default 100000
  --size N          bytes of a posted text; default 4096
  --connections N   one request in flight on each; default 50
  --kinds LIST      of post,list,search; default all
  --only LIST       gateway: alone; start: npm start, which also sends what is posted; default gateway`;

interface Round {
  subject: string;
  kind: string;
  isBare: boolean;
  perSecond: number;
  replyMs: number[];
  cpuMs: number;
  cpuByProgram: string;
  foreignPercent: number;
}

const SEARCH = `query Search($search: String!) { threads(first: 25, filter: { search: $search }) { edges { node {
  id normalizedSubject messageCount latestMessage { id subject fromText preview date } } } } }`;

function makeSearch(word: string): string {
  return JSON.stringify({ query: SEARCH, variables: { search: word } });
}

type Target = Pick<HttpOrder, 'port' | 'path' | 'apiKey' | 'requests'>;

/** One kind of request, to Postroom and to the bare service. */
interface Kind {
  name: string;
  isPosting: boolean;
  ours(subject: Subject): Target;
  bare(subject: Subject): Target;
}

const kinds: Record<string, Kind> = {
  post: {
    name: 'POST /emails',
    isPosting: true,
    ours: ({ server }) => ({ port: server.httpPort, path: '/api/e2/emails', apiKey: server.apiKey }),
    bare: ({ bare }) => ({ port: bare.port, path: '/mails', apiKey: null }),
  },
  list: {
    name: 'GET /mail/threads (25)',
    isPosting: false,
    ours: ({ server, reader }) => ({
      port: server.httpPort,
      path: '/api/e2/mail/threads?limit=25',
      apiKey: reader.apiKey,
    }),
    bare: ({ bare }) => ({ port: bare.port, path: '/mails', apiKey: null }),
  },
  search: {
    name: 'threads (25) with a word, GraphQL',
    isPosting: false,
    ours: ({ server, reader }) => ({
      port: server.httpPort,
      path: '',
      apiKey: reader.apiKey,
      requests: SEARCHED_WORDS.map((word) => ({ path: '/graphql', body: makeSearch(word) })),
    }),
    bare: ({ bare }) => ({
      port: bare.port,
      path: '',
      apiKey: null,
      requests: SEARCHED_WORDS.map((word) => ({ path: `/search?search=${word}`, body: null })),
    }),
  },
};

/** Measures what the options say, and prints every round, medians and ratios. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      posts: { type: 'string', default: '3000' },
      reads: { type: 'string', default: '2000' },
      rows: { type: 'string', default: '100000' },
      size: { type: 'string', default: '4096' },
      connections: { type: 'string', default: '50' },
      only: { type: 'string', default: 'gateway' },
      kinds: { type: 'string', default: Object.keys(kinds).join(',') },
    },
  });
  describeMachine();
  const { rounds } = await measureApi({
    rounds: Number(values.rounds),
    posts: Number(values.posts),
    reads: Number(values.reads),
    mails: Number(values.rows),
    sizeBytes: Number(values.size),
    connections: Number(values.connections),
    subjects: values.only.split(','),
    kinds: values.kinds.split(','),
  });
  printSummary(rounds);
}

interface ApiOptions {
  rounds: number;
  posts: number;
  reads: number;
  mails: number;
  sizeBytes: number;
  connections: number;
  subjects: readonly string[];
  kinds: readonly string[];
}

/** The rows of docs/benchmarks.md about REST. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const { rounds } = await measureApi({
    rounds: extent === 'small' ? 1 : 3,
    posts: extent === 'small' ? 100 : 3_000,
    reads: { small: 100, guard: 1_000, full: 2_000 }[extent],
    mails: extent === 'small' ? 1_000 : 100_000,
    sizeBytes: 4_096,
    connections: 50,
    subjects: ['gateway'],
    kinds: extent === 'guard' ? ['list', 'search'] : ['post', 'list', 'search'],
  });
  const row = (head: Pick<Row, 'id' | 'work'>, kind: string, peer: string): Row => {
    const of = (isBare: boolean) =>
      rounds
        .filter((round) => round.kind === kinds[kind]?.name && round.isBare === isBare)
        .map((each) => each.perSecond);
    return { ...head, unit: 'requests/s', better: 'higher', ours: of(false), peer: { name: peer, values: of(true) } };
  };
  return {
    rows: [
      row({ id: 'post', work: 'POST /emails, 4 KB, of a gateway' }, 'post', 'bare Fastify route with one insert'),
      row(
        { id: 'list-100k', work: 'list of threads in 100,000 messages' },
        'list',
        'bare Fastify route, 25 newest of 100,000 rows',
      ),
      row(
        { id: 'search-100k', work: 'search for a word in 100,000 messages' },
        'search',
        'bare Fastify route, full-text index over 100,000 rows',
      ),
    ],
    foreignPercents: rounds.map(({ foreignPercent }) => foreignPercent),
    problems: [],
  };
}

function measureApi(options: ApiOptions): Promise<{ rounds: Round[] }> {
  return onGround(async (ground) => {
    const [sink, loader] = [ground.child('./sink-process.ts'), ground.child('./http-load-process.ts')];
    const { port: sinkPort } = await sink.readResponse<{ port: number }>();
    await loader.readResponse<{ ready: true }>();
    const subjects: Subject[] = [];
    for (const name of options.subjects) {
      const subject = await startSubject(name, ground, { sinkPort, mails: options.mails });
      ground.keep(subject);
      await checkPages(subject);
      subjects.push(subject);
    }
    const rounds: Round[] = [];
    // Round 0 warms everything and is not counted.
    for (let round = 0; round <= options.rounds; round++)
      for (const name of options.kinds)
        for (const subject of subjects) {
          const kind = kinds[name];
          if (kind === undefined) throw new Error(`--kinds takes ${Object.keys(kinds).join(', ')}`);
          const results = await runRound(subject, kind, loader, { ...options, tag: `r${round}${Date.now()}` });
          if (round === 0) continue;
          for (const result of results) console.log(`round ${round} ${describe(result)}`);
          rounds.push(...results);
        }
    return { rounds };
  });
}

function startSubject(
  name: string,
  { directory, dns }: Ground,
  options: { sinkPort: number; mails: number },
): Promise<Subject> {
  const all = { ...options, directory, dnsServer: dns.address };
  if (name === 'gateway') return startGatewayAlone(all);
  if (name === 'start') return startWhole(all);
  throw new Error('--only takes gateway, start');
}

/** Both services return a whole page of the list. Throws otherwise. */
async function checkPages({ name, reader, bare }: Subject): Promise<void> {
  const threads = await reader.call('GET', '/mail/threads?limit=25');
  const mails = (await (await fetch(`http://127.0.0.1:${bare.port}/mails`)).json()) as { data: unknown[] };
  const seen = [(threads['threads'] as unknown[]).length, mails.data.length];
  if (seen.join() !== '25,25') throw new Error(`${name}: pages of ${seen.join()} rows instead of 25`);
}

async function runRound(
  subject: Subject,
  kind: Kind,
  loader: BenchChild,
  { posts, reads, sizeBytes, connections, tag }: ApiOptions & { tag: string },
): Promise<Round[]> {
  const count = kind.isPosting ? posts : reads;
  const storedCount = async () => {
    const list = await subject.server.call('GET', '/emails?type=sent&time_range=all&limit=1');
    return (list['pagination'] as { total: number }).total;
  };
  const measure = async (target: Target, resources: Resources, stored: () => Promise<number>): Promise<Round> => {
    const before = kind.isPosting ? await stored() : 0;
    const meter = new Meter(resources);
    const post = kind.isPosting ? { sizeBytes, tag } : null;
    const result = await loader.ask<HttpLoadResult>({ ...target, connections, count, post } satisfies HttpOrder);
    const { cpuSeconds, byProgram, foreignPercent } = meter.end();
    if (result.failures.length > 0) throw new Error(`${subject.name} ${kind.name}: ${result.failures[0]}`);
    if (kind.isPosting && (await stored()) !== before + count)
      throw new Error(`${subject.name} ${kind.name}: stored ${(await stored()) - before}, not ${count}`);
    return {
      subject: subject.name,
      kind: kind.name,
      isBare: resources === subject.bare,
      perSecond: (count * 1000) / (Math.max(...result.endedAt) - Math.min(...result.startedAt)),
      replyMs: result.endedAt.map((at, n) => at - (result.startedAt[n] ?? Number.NaN)),
      cpuMs: (cpuSeconds * 1000) / count,
      cpuByProgram: byProgram(count),
      foreignPercent,
    };
  };
  const first = await measure(kind.ours(subject), subject.server, storedCount);
  if (subject.name === 'npm start') await atRest(subject);
  return [first, await measure(kind.bare(subject), subject.bare, () => subject.bareCount())];
}

/** Waits until everything posted has been sent, so that no other figure bears its costs. */
async function atRest(subject: Subject): Promise<void> {
  const deadline = Date.now() + DRAIN_LIMIT_MS;
  while ((await subject.waitingCount()) > 0) {
    if (Date.now() > deadline) throw new Error(`${subject.name}: mail still waits to be sent`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function describe(round: Round): string {
  const { subject, kind, isBare, perSecond, replyMs, cpuMs, cpuByProgram, foreignPercent } = round;
  return (
    `${kind.padEnd(34)} ${(isBare ? `bare beside ${subject}` : subject).padEnd(22)} ${perSecond.toFixed(0)}/s  ` +
    `p50/p99 ${percentile(replyMs, 0.5).toFixed(1)}/${percentile(replyMs, 0.99).toFixed(1)} ms  ` +
    `cpu ${cpuMs.toFixed(2)} ms (${cpuByProgram})  others ${foreignPercent.toFixed(0)} %`
  );
}

function printSummary(rounds: readonly Round[]): void {
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
      console.log(
        `  ${kind.padEnd(34)} ${subject.padEnd(10)} ${figures(of(false))} | bare ${figures(of(true))} | ` +
          `ratio ${(rate(false) / rate(true)).toFixed(2)}`,
      );
    }
  }
}
