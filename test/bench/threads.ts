import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { assignThreads } from '../../actors/threading/assign-thread.ts';
import type { ThreadableMessage } from '../../core/threads/threading.ts';
import { startEmbeddedCluster } from '../../db/cluster/embedded-cluster.ts';
import type { Database } from '../../db/connection/database.ts';
import { readThread } from '../../operations/threads/threads.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { insertEmails } from '../support/rows/email-rows.ts';
import { largeMailbox } from '../support/rows/large-mailbox.ts';
import { seededRandom } from '../support/rows/thread-mail.ts';
import { machineCpuSeconds, processTree } from '../support/servers/process-tree.ts';
import { testActorContext } from '../support/stages/actor-context.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { cpuClock, type Mailbox, makeContext, openMailbox, type Reading, readings, USER } from './mailboxes.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import { percentile } from './statistics.ts';

/** p99 at the large size over p99 at the small one, in CPU time. */
const MAX_RATIO = 1.5;

export const help = `Lists, opens, searches and assigns threads of one user at two sizes of the mailbox, in turn, and prints for each size the p50 and p99 of
the CPU time per operation, of PostgreSQL and of this process, the p99 of the time until the result, and the ratio of the CPU p99.

  --small N          messages; default 10000
  --large N          messages; default 1000000. Needs 5 GB and takes 5 minutes to fill, on one core; 3000000 three times that
  --operations N     of each kind; default 1000
  --batches N        of assigned mail; default 200
  --only LIST        ids of operations, such as unread,rare,assign-1
  --directory DIR    keeps the mailboxes, for another run`;

interface Options {
  small: number;
  large: number;
  operations: number;
  batches: number;
  only: readonly string[] | null;
  /** null: a temporary one, which is removed */
  directory: string | null;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      small: { type: 'string', default: '10000' },
      large: { type: 'string', default: '1000000' },
      operations: { type: 'string', default: '1000' },
      batches: { type: 'string', default: '200' },
      only: { type: 'string' },
      directory: { type: 'string' },
    },
  });
  describeMachine();
  await compareMailboxes({
    small: Number(values.small),
    large: Number(values.large),
    operations: Number(values.operations),
    batches: Number(values.batches),
    only: values.only?.split(',') ?? null,
    directory: values.directory ?? null,
  });
}

/** The rows of docs/benchmarks.md about large mailboxes. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const isFull = extent === 'full';
  const [small, large] = isFull ? [10_000, 1_000_000] : [1_000, 5_000];
  const { compared, foreignPercent } = await compareMailboxes({
    small,
    large,
    operations: isFull ? 1_000 : 20,
    batches: isFull ? 200 : 5,
    only: null,
    directory: null,
  });
  const rows = compared.map(
    ({ id, work, cpuMs: { small: few, large: many } }): Row => ({
      id: `mailbox-${id}`,
      work: `${work}: p99 with ${large.toLocaleString('en')} messages`,
      unit: 'ms',
      better: 'lower',
      ours: [percentile(many, 0.99)],
      peer: { name: `with ${small.toLocaleString('en')}`, values: [percentile(few, 0.99)] },
    }),
  );
  return { rows, foreignPercents: [foreignPercent], problems: [] };
}

/** Of one operation: milliseconds of each run. */
interface Compared {
  id: string;
  work: string;
  cpuMs: { small: number[]; large: number[] };
  elapsedMs: { small: number[]; large: number[] };
}

async function compareMailboxes(options: Options): Promise<{ compared: Compared[]; foreignPercent: number }> {
  const directory = options.directory ?? (await mkdtemp(path.join(tmpdir(), 'postroom-bench-')));
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
  const cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password: 'bench',
    port: await freePort(),
    // as on a single machine
    settings: { shared_buffers: '256MB', max_wal_size: '2GB', jit: 'off' },
  });
  const mailboxes: Mailbox[] = [];
  try {
    await describePostgresql('the mailboxes', cluster.url);
    for (const count of [options.small, options.large]) mailboxes.push(await openMailbox(cluster.url, count));
    const [small, large] = mailboxes;
    if (small === undefined || large === undefined) throw new Error('unreachable');
    const before = { tick: performance.now(), machine: machineCpuSeconds(), own: ownCpuSeconds() };
    const compared = await compareAll({ small, large }, options);
    const seconds = (performance.now() - before.tick) / 1_000;
    const foreign = machineCpuSeconds() - before.machine - (ownCpuSeconds() - before.own);
    return { compared, foreignPercent: Math.max(0, (100 * foreign) / seconds / cpus().length) };
  } finally {
    await Promise.all(
      mailboxes.flatMap(({ actor, gateway, writer }) => [actor.close(), gateway.close(), writer.close()]),
    );
    await cluster.stop();
    if (options.directory === null) await rm(directory, { recursive: true, force: true });
  }
}

/** PostgreSQL is a child of this process. */
function ownCpuSeconds(): number {
  return processTree(process.pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

/** A mailbox of each size. */
interface Pair {
  small: Mailbox;
  large: Mailbox;
}

async function compareAll(pair: Pair, { operations, batches, only }: Options): Promise<Compared[]> {
  const isAsked = ({ id }: { id: string }) => only === null || only.includes(id);
  const compared: Compared[] = [];
  for (const reading of readings.filter(isAsked))
    compared.push(
      await compare(pair, reading, Math.ceil(operations * (reading.share ?? 1)), ({ gateway }) => gateway, MAX_RATIO),
    );
  // REST returns all messages, a hundred times as many: shown, not compared.
  const openLong: Reading = {
    id: 'open-long-all',
    work: 'open that thread with all its messages (REST)',
    run: (mailbox) => readThread(makeContext(mailbox), largeMailbox.longThreadId),
  };
  if (isAsked(openLong)) await compare(pair, openLong, 20, ({ gateway }) => gateway, null);
  for (const assigning of [1, 25, 50].map(makeAssigning).filter(isAsked))
    compared.push(await compare(pair, assigning, batches, ({ actor }) => actor, MAX_RATIO));
  return compared;
}

/** Runs the operation on each mailbox in turn. A fifth more, first and not counted, warms connections and plans. */
async function compare(
  { small, large }: Pair,
  { id, work, run: read, prepare }: Reading,
  operations: number,
  readPool: (mailbox: Mailbox) => Database,
  mostRatio: number | null,
): Promise<Compared> {
  const random = seededRandom(99);
  const compared: Compared = { id, work, cpuMs: { small: [], large: [] }, elapsedMs: { small: [], large: [] } };
  const sides = [
    { size: 'small', mailbox: small, clock: await cpuClock(readPool(small)) },
    { size: 'large', mailbox: large, clock: await cpuClock(readPool(large)) },
  ] as const;
  const startedAt = { small: 0, large: 0 };
  const ownMs = { small: 0, large: 0 };
  for (let at = -Math.ceil(operations / 5); at <= operations; at++) {
    for (const { size, mailbox, clock } of sides) {
      // Read again when the other mailbox has had its turn, because the server goes on for a moment after it has replied.
      const cpu = clock();
      if (at > 0) compared.cpuMs[size].push(cpu - startedAt[size] + ownMs[size]);
      startedAt[size] = cpu;
      await prepare?.(mailbox, random);
      const startedTick = performance.now();
      const own = process.cpuUsage();
      await read(mailbox, random);
      const { user, system } = process.cpuUsage(own);
      ownMs[size] = (user + system) / 1_000;
      if (at >= 0 && at < operations) compared.elapsedMs[size].push(performance.now() - startedTick);
    }
  }
  print(compared, mostRatio);
  return compared;
}

/** Batches in which replies to any thread, new mail, notices and mail to the long thread mix. */
function makeAssigning(size: number): Reading {
  let mails: ThreadableMessage[] = [];
  return {
    id: `assign-${size}`,
    work: size === 1 ? 'assign one message to its thread' : `assign a batch of ${size} messages`,
    prepare: async (mailbox, random) => {
      mails = Array.from({ length: size }, (_, index) => newMail(mailbox, random, index));
      await insertEmails(mailbox.writer, USER, mails);
    },
    run: ({ actor }) =>
      assignThreads(
        testActorContext(actor),
        USER,
        mails.map((mail) => mail.emailId),
      ),
  };
}

function newMail({ count }: Mailbox, random: () => number, index: number): ThreadableMessage {
  const kind = random();
  const isNotice = kind < 0.15;
  // The first hundredth of the messages is the long thread.
  const target = kind < 0.25 ? Math.ceil((random() * count) / 100) : Math.ceil(count * (0.11 + random() * 0.89));
  const isReply = !isNotice && kind < 0.75;
  const createdAt = new Date();
  const name = `em_${randomBytes(16).toString('hex')}`;
  return {
    emailId: name,
    messageId: `<${name}@mail.test>`,
    inReplyTo: isReply ? [`<${target}@mail.test>`] : [],
    references: isReply ? [`<${target}@mail.test>`, `<absent${target}@mail.test>`] : [],
    subject: isNotice ? largeMailbox.noticeSubject : `New matter ${index}`,
    baseSubject: isNotice ? largeMailbox.noticeSubject : `New matter ${index}`,
    ownAddress: largeMailbox.ownAddress,
    addresses: [isNotice ? largeMailbox.noticeSender : `person${index % 5000}@corp7.test`, largeMailbox.ownAddress],
    createdAt,
    date: createdAt,
  };
}

function print({ id, work, cpuMs, elapsedMs }: Compared, mostRatio: number | null): void {
  const [small, large] = ([cpuMs.small, cpuMs.large] as const).map((sample) =>
    [0.5, 0.99].map((share) => percentile(sample, share)),
  );
  const ratio = (large?.[1] ?? Number.NaN) / (small?.[1] ?? Number.NaN);
  const verdict = mostRatio === null || ratio <= mostRatio ? '' : ` (more than ${mostRatio})`;
  const figures = (values: number[] = []) => values.map((value) => value.toFixed(2).padStart(7)).join(' ');
  const elapsed = [elapsedMs.small, elapsedMs.large].map((sample) => percentile(sample, 0.99));
  console.log(
    `${id.padEnd(18)} ${work.padEnd(62)} CPU p50/p99 ${figures(small)} |${figures(large)} ms, elapsed p99 ${figures(elapsed)} ms, ratio ${ratio.toFixed(2)}${verdict}`,
  );
}
