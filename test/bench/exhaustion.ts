import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../db/connection/database.ts';
import { insertMail } from '../support/rows/mail-rows.ts';
import type { AttackOrder, AttackReport } from './attack-process.ts';
import type { BenchChild } from './child.ts';
import { type Ground, onGround } from './ground.ts';
import { httpLoad, httpRequest } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { type Account, type SplitServer, startSplit } from './postroom-server.ts';
import { Meter } from './resources.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import { percentile } from './statistics.ts';

/** Bytes of the text of a large email, about the largest that is received. */
const TEXT_LENGTH = 14_000_000;
/** Messages of the large thread. */
const THREAD_MESSAGES = 14;
/** The p99 of the other account's requests during an attack; milliseconds. */
const MAX_P99_MS = 500;
/** The most memory that the gateway may ever have; MiB. */
const MAX_MEMORY_MIB = 600;
/** The other account waits this long between requests; milliseconds. */
const PAUSE_MS = 20;
const PROBE = '/api/e2/emails';

export const help = `Requests of one account (GET /emails, one after the other) while another account attacks the gateway with large responses,
beside the same requests without an attack: the p99 of their time, and the peak memory of the gateway. The texts have ${TEXT_LENGTH / 1_000_000} MB:
\`latin\` takes one byte per character in memory, \`euro\` two, because of a single character. Fails when a p99 during an attack is
${MAX_P99_MS} ms or more, or the gateway takes more than ${MAX_MEMORY_MIB} MiB.

  --seconds N    of each attack; default 20
  --texts LIST   of latin,euro,chinese,escapes; default latin,euro
  --only LIST    of aliases,threads,readers; default all`;

const texts: Record<string, () => string> = {
  latin: () => 'x'.repeat(TEXT_LENGTH),
  euro: () => `€${'x'.repeat(TEXT_LENGTH)}`,
  chinese: () => '\u4e2d'.repeat(TEXT_LENGTH / 3),
  escapes: () => '"\n\u{1}'.repeat(TEXT_LENGTH / 3),
};

interface ExhaustionOptions {
  seconds: number;
  texts: readonly string[];
  attacks: readonly string[];
}

interface Result {
  text: string;
  attack: string;
  /** milliseconds */
  times: number[];
  calm: number[];
  /** milliseconds of CPU that the main thread of the gateway spent from a request to its response, which other work on the machine does not change */
  cpuTimes: number[];
  peakMiB: number;
  report: AttackReport;
  foreignPercent: number;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '20' },
      texts: { type: 'string', default: 'latin,euro' },
      only: { type: 'string', default: Object.keys(attacks).join(',') },
    },
  });
  describeMachine();
  const options = { texts: values.texts.split(','), attacks: values.only.split(','), seconds: Number(values.seconds) };
  const { problems } = await measureExhaustion(options);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** The rows of docs/benchmarks.md about attacks. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const { results, problems } = await measureExhaustion({
    seconds: extent === 'small' ? 3 : 20,
    texts: ['latin', 'euro'],
    attacks: Object.keys(attacks),
  });
  const rows = results.flatMap(({ text, attack, times, calm, peakMiB }): Row[] => [
    {
      id: `exhaust-${attack}-${text}`,
      work: `requests during ${attacks[attack]?.name} (${text})`,
      unit: 'ms',
      better: 'lower',
      ours: [percentile(times, 0.99)],
      peer: { name: 'no attack', values: [percentile(calm, 0.99)] },
    },
    {
      id: `exhaust-${attack}-${text}-memory`,
      work: `peak memory of the gateway during ${attacks[attack]?.name} (${text})`,
      unit: 'MiB',
      better: 'lower',
      ours: [peakMiB],
      peer: null,
    },
  ]);
  return { rows, foreignPercents: results.map(({ foreignPercent }) => foreignPercent), problems };
}

interface Stage {
  server: SplitServer;
  attacker: Account;
  other: Account;
  attackers: BenchChild;
}

interface LargeMail {
  emailId: string;
  threadId: string;
}

interface Attack {
  name: string;
  clients: number;
  isSlow: boolean;
  request(mail: LargeMail, apiKey: string): Buffer;
}

const attacks: Record<string, Attack> = {
  aliases: {
    name: '30 aliases of a 14 MB text, six at once',
    clients: 6,
    isSlow: false,
    request({ emailId }, apiKey) {
      const fields = Array.from({ length: 30 }, (_, at) => `a${at}: text`).join(' ');
      const query = `query($id: ID!) { email(id: $id) { content { ${fields} } } }`;
      return httpRequest('POST', '/graphql', apiKey, JSON.stringify({ query, variables: { id: emailId } }));
    },
  },
  threads: {
    name: `threads of ${THREAD_MESSAGES} such emails, six at once`,
    clients: 6,
    isSlow: false,
    request: ({ threadId }, apiKey) => httpRequest('GET', `/api/e2/mail/threads/${threadId}`, apiKey),
  },
  readers: {
    name: '100 slow readers of such an email',
    clients: 100,
    isSlow: true,
    request: ({ emailId }, apiKey) => httpRequest('GET', `/api/e2/emails/${emailId}`, apiKey),
  },
};

function measureExhaustion(options: ExhaustionOptions): Promise<{ results: Result[]; problems: string[] }> {
  return onGround(async (ground) => {
    const results: Result[] = [];
    for (const text of options.texts) {
      const stage = await openStage(ground, text);
      const mail = await storeLargeMail(stage, text);
      for (const name of options.attacks) {
        const result = await measureAttack(stage, { text, name, mail, milliseconds: options.seconds * 1_000 });
        console.log(describe(result));
        results.push(result);
      }
      await stage.server.stop();
    }
    return { results, problems: results.flatMap(listProblems) };
  });
}

async function openStage(ground: Ground, text: string): Promise<Stage> {
  const attackers = ground.child('./attack-process.ts');
  await attackers.readResponse<{ ready: true }>();
  const server = await startSplit(path.join(ground.directory, text), [['bin/gateway.ts']], {
    dnsServer: ground.dns.address,
    settings: { shared_buffers: '256MB', max_wal_size: '2GB', jit: 'off' },
  });
  ground.keep(server);
  return {
    server,
    attackers,
    attacker: await server.createAccount('attacker@owner.test'),
    other: await server.createAccount('other@owner.test'),
  };
}

/** Stores a thread of large emails of the attacker, and a few small ones of the other account. */
async function storeLargeMail({ server, attacker, other }: Stage, textName: string): Promise<LargeMail> {
  const text = texts[textName]?.();
  if (text === undefined) throw new Error(`--texts takes ${Object.keys(texts).join(', ')}`);
  const owner = openDatabase({
    url: server.databaseUrl,
    role: null,
    poolSize: 1,
    applicationName: 'bench',
    onError: () => undefined,
    statementTimeoutMs: null,
  });
  try {
    const threadId = `thr_${randomBytes(12).toString('hex')}`;
    await owner.pool.query(
      `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
         received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
       values ($1, $2, '<root@elsewhere.test>', 'large', '{}', '{}', 'large', $3, $3, $3, 0, 'em_latest', now(), now())`,
      [attacker.workspaceId, threadId, THREAD_MESSAGES],
    );
    const [emailId = ''] = await insertMail(
      owner,
      Array.from({ length: THREAD_MESSAGES }, (_, at) => ({
        workspaceId: attacker.workspaceId,
        text,
        threadId,
        threadPosition: at + 1,
      })),
    );
    await insertMail(
      owner,
      Array.from({ length: 50 }, () => ({ workspaceId: other.workspaceId, text: 'hello' })),
    );
    return { emailId, threadId };
  } finally {
    await owner.close();
  }
}

async function measureAttack(
  stage: Stage,
  { text, name, mail, milliseconds }: { text: string; name: string; mail: LargeMail; milliseconds: number },
): Promise<Result> {
  const attack = attacks[name];
  if (attack === undefined) throw new Error(`--only takes ${Object.keys(attacks).join(', ')}`);
  const { server, attacker, attackers } = stage;
  // Warms the routes and connections.
  await probe(stage, sleep(1_000));
  const { times: calm } = await probe(stage, sleep(milliseconds / 2));
  const gateway = server.pids['gateway']?.[0] ?? 0;
  // Makes the kernel forget the peak so far (proc(5)).
  await writeFile(`/proc/${gateway}/clear_refs`, '5');
  const meter = new Meter(server);
  const attacking = attackers.ask<AttackReport>({
    port: server.httpPort,
    request: attack.request(mail, attacker.apiKey).toString().replace('\r\n', '\r\nconnection: close\r\n'),
    clients: attack.clients,
    isSlow: attack.isSlow,
    milliseconds,
  } satisfies AttackOrder);
  const { times, cpuTimes } = await probe(stage, attacking);
  const { foreignPercent } = meter.end();
  return {
    text,
    attack: name,
    times,
    cpuTimes,
    calm,
    peakMiB: await peakMemory(gateway),
    report: await attacking,
    foreignPercent,
  };
}

/** Sends requests of the other account until the attack is over. */
async function probe({ server, other }: Stage, attack: Promise<unknown>): Promise<Pick<Result, 'times' | 'cpuTimes'>> {
  const gateway = server.pids['gateway']?.[0] ?? 0;
  let isOver = false;
  const over = attack.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  const cpuTimes: number[] = [];
  const request = httpRequest('GET', PROBE, other.apiKey);
  while (!isOver) {
    const cpuBefore = await mainThreadMs(gateway);
    const { startedAt, endedAt, failures } = await httpLoad({
      port: server.httpPort,
      count: 1,
      connections: 1,
      request: () => request,
    });
    if (failures.length > 0) throw new Error(failures[0]);
    times.push((endedAt[0] ?? Number.NaN) - (startedAt[0] ?? Number.NaN));
    cpuTimes.push((await mainThreadMs(gateway)) - cpuBefore);
    await sleep(PAUSE_MS);
  }
  await over;
  return { times, cpuTimes };
}

/** Returns the CPU time of the main thread of a process so far (proc(5), schedstat). */
async function mainThreadMs(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1_000_000;
}

async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

function describe({ text, attack, times, cpuTimes, calm, peakMiB, report, foreignPercent }: Result): string {
  const figures = (sample: number[]) =>
    `p50/p99/highest ${[0.5, 0.99, 1].map((share) => percentile(sample, share).toFixed(0)).join('/')} ms of ${sample.length}`;
  const ratio = percentile(times, 0.99) / percentile(calm, 0.99);
  return [
    `${attacks[attack]?.name} (${text}): ${figures(times)}; no attack: ${figures(calm)}; p99 ratio ${ratio.toFixed(1)}`,
    `  CPU of the gateway meanwhile: p50/p99 ${[0.5, 0.99].map((share) => percentile(cpuTimes, share).toFixed(0)).join('/')} ms`,
    `  peak ${peakMiB.toFixed(0)} MiB; the attacker got ${JSON.stringify(report.statuses)}, ${(report.bytes / 1_000_000).toFixed(0)} MB; others ${foreignPercent.toFixed(0)} %`,
  ].join('\n');
}

function listProblems({ text, attack, times, peakMiB }: Result): string[] {
  const p99 = percentile(times, 0.99);
  return [
    ...(p99 < MAX_P99_MS ? [] : [`${attack} (${text}): the p99 is ${p99.toFixed(0)} ms, at most ${MAX_P99_MS}`]),
    ...(peakMiB < MAX_MEMORY_MIB
      ? []
      : [`${attack} (${text}): the gateway takes ${peakMiB.toFixed(0)} MiB, at most ${MAX_MEMORY_MIB}`]),
  ];
}
