import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { assignThreads } from '../../actors/threading/assign-thread.ts';
import type { ThreadableMessage } from '../../core/threads/threading.ts';
import { startEmbeddedCluster } from '../../db/cluster/embedded-cluster.ts';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { migrate } from '../../db/migrate.ts';
import type { OperationContext } from '../../operations/context.ts';
import { listThreads, pageThreadEmails, readThread, type ThreadQuery } from '../../operations/threads/threads.ts';
import { databaseUrl, freePort, loginAs, onServer } from '../support/cluster/cluster.ts';
import { insertEmails } from '../support/rows/email-rows.ts';
import { fillLargeMailbox, largeMailbox } from '../support/rows/large-mailbox.ts';
import { seededRandom } from '../support/rows/thread-mail.ts';
import { testActorContext } from '../support/stages/actor-context.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { percentile } from './statistics.ts';

/** p99 at the large size over p99 at the small one; the order of the work names it. */
const MOST_RATIO = 1.5;
const USER = 'usr_bench';
/** The page that the dashboard opens a thread with, and one more, which shows whether there are others. */
const NEWEST_MESSAGES = { after: null, before: null, isInverted: true, limit: 51 };

/** One user's mailbox of one size, in a database of its own. */
interface Subject {
  count: number;
  actor: Database;
  gateway: Database;
  threadIds: string[];
}

export const help = `Lists, opens and assigns threads of one user at two sizes of the mailbox, in turn, and prints p50, p99 and ratios.

  --small N          messages; default 10000
  --large N          messages; default 1000000
  --operations N     of each kind; default 3000
  --batches N        of assigned mail; default 60
  --directory DIR    keeps the mailboxes, for another run`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      small: { type: 'string', default: '10000' },
      large: { type: 'string', default: '1000000' },
      operations: { type: 'string', default: '3000' },
      batches: { type: 'string', default: '60' },
      // kept, so that another run finds the mailboxes filled
      directory: { type: 'string' },
    },
  });
  const directory = values.directory ?? (await mkdtemp(path.join(tmpdir(), 'postroom-bench-')));
  await chmod(directory, 0o755);
  const cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password: 'bench',
    port: await freePort(),
    // as on a single machine
    settings: { shared_buffers: '256MB', max_wal_size: '2GB', jit: 'off' },
  });
  const subjects: Subject[] = [];
  try {
    describeMachine();
    await describePostgresql('the mailboxes', cluster.url);
    for (const count of [Number(values.small), Number(values.large)]) subjects.push(await fill(cluster.url, count));
    const [small, large] = subjects;
    if (small === undefined || large === undefined) return;
    const operations = Number(values.operations);
    for (const [name, work] of Object.entries(readings))
      await measure(name, small, large, operations, work, MOST_RATIO);
    // REST returns all messages, a hundred times as many: shown, not compared.
    const openLong: Reading = (subject) => readThread(contextOf(subject), largeMailbox.longThreadId);
    await measure('open the long thread, all messages (1 % of mail)', small, large, 20, openLong, null);
    for (const size of [1, 25, 50]) await measureAssigning(small, large, size, Number(values.batches));
  } finally {
    await Promise.all(subjects.flatMap(({ actor, gateway }) => [actor.close(), gateway.close()]));
    await cluster.stop();
    if (values.directory === undefined) await rm(directory, { recursive: true, force: true });
  }
}

type Reading = (subject: Subject, random: () => number) => Promise<unknown>;

const readings: Record<string, Reading> = {
  'list, first page of 25': (subject) => list(subject, {}, null),
  'list, 25 behind any thread': (subject, random) => list(subject, {}, anyThread(subject, random)),
  'list, 100 behind any thread': (subject, random) => list(subject, {}, anyThread(subject, random), 100),
  'list unread, 25 behind any thread': (subject, random) =>
    list(subject, { isUnread: true }, anyThread(subject, random)),
  'open any thread': (subject, random) => readThread(contextOf(subject), anyThread(subject, random)),
  'open the long thread, newest 50': (subject) =>
    pageThreadEmails(contextOf(subject), [largeMailbox.longThreadId], NEWEST_MESSAGES),
  'list by one person, 25': (subject, random) =>
    list(subject, { address: `person${Math.floor(random() * 5000)}@corp7.test` }, null),
  'list by one of 40 own addresses, 25': (subject) => list(subject, { address: largeMailbox.ownAddress }, null),
  'list by search, a rare word': (subject, random) =>
    list(subject, { search: Math.floor(random() * 2 ** 32).toString(16) }, null),
};

function list(subject: Subject, query: ThreadQuery, cursor: string | null, limit = 25): Promise<unknown> {
  return listThreads(contextOf(subject), query, { limit, cursor });
}

/** Reading threads needs no more of the context than this. */
function contextOf(subject: Subject): OperationContext {
  return { database: subject.gateway, userId: USER } as OperationContext;
}

function anyThread(subject: Subject, random: () => number): string {
  return subject.threadIds[Math.floor(random() * subject.threadIds.length)] ?? '';
}

async function measure(
  name: string,
  small: Subject,
  large: Subject,
  operations: number,
  work: Reading,
  mostRatio: number | null,
): Promise<void> {
  const random = seededRandom(99);
  const samples = new Map<Subject, number[]>([
    [small, []],
    [large, []],
  ]);
  // A fifth more, first and not counted, warms connections and plans.
  for (let at = -Math.ceil(operations / 5); at < operations; at++) {
    for (const [subject, sample] of samples) {
      const startedAt = performance.now();
      await work(subject, random);
      if (at >= 0) sample.push(performance.now() - startedAt);
    }
  }
  print(name, samples.get(small) ?? [], samples.get(large) ?? [], mostRatio);
}

/** Milliseconds per message of batches in which replies to any thread, new mail, notices and mail to the long thread mix. */
async function measureAssigning(small: Subject, large: Subject, size: number, batches: number): Promise<void> {
  const random = seededRandom(size);
  const samples = new Map<Subject, number[]>([
    [small, []],
    [large, []],
  ]);
  for (let at = -10; at < batches; at++) {
    for (const [subject, sample] of samples) {
      const mails = Array.from({ length: size }, (_, index) => newMail(subject, random, at * size + index));
      await insertEmails(subject.actor, USER, mails);
      const context = testActorContext(subject.actor);
      const startedAt = performance.now();
      await assignThreads(
        context,
        USER,
        mails.map((mail) => mail.emailId),
      );
      if (at >= 0) sample.push((performance.now() - startedAt) / size);
    }
  }
  print(`assign, per message of a batch of ${size}`, samples.get(small) ?? [], samples.get(large) ?? [], null);
}

function newMail(subject: Subject, random: () => number, index: number): ThreadableMessage {
  const { count } = subject;
  const kind = random();
  const isNotice = kind < 0.15;
  // The first hundredth of the messages is the long thread.
  const target = kind < 0.25 ? Math.ceil((random() * count) / 100) : Math.ceil(count * (0.11 + random() * 0.89));
  const isReply = !isNotice && kind < 0.75;
  const createdAt = new Date(Date.UTC(2027, 0, 1) + Math.floor(performance.now() * 1000));
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

async function fill(clusterUrl: string, count: number): Promise<Subject> {
  const name = `mailbox_${count}`;
  const url = databaseUrl(clusterUrl, name);
  const open = async (role: 'postroom_actor' | 'postroom_gateway' | null) =>
    openDatabase({
      url: await loginAs(url, role),
      role,
      poolSize: 2,
      applicationName: 'bench',
      onError: () => undefined,
    });
  const startedAt = performance.now();
  if (!(await exists(clusterUrl, name))) {
    await onServer(clusterUrl, `create database ${name}`);
    await migrate(url);
    await fillLargeMailbox(url, USER, count);
  }
  const owner = await open(null);
  const { rows } = await owner.pool.query<{ id: string }>('select id from thread order by random() limit 20000');
  const { rows: sizes } = await owner.pool.query<{ size: string; threads: number; most: number; subjects: number }>(
    `select pg_size_pretty(pg_database_size(current_database())) as size, count(*) as threads, max(message_count) as most,
       count(*) filter (where normalized_subject = $1) as subjects from thread`,
    [largeMailbox.noticeSubject],
  );
  await owner.close();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`${count} messages, ready in ${seconds} s:`, JSON.stringify(sizes[0]));
  const threadIds = rows.map((row) => row.id);
  return { count, actor: await open('postroom_actor'), gateway: await open('postroom_gateway'), threadIds };
}

async function exists(clusterUrl: string, databaseName: string): Promise<boolean> {
  const database = openDatabase({
    url: clusterUrl,
    role: null,
    poolSize: 1,
    applicationName: 'bench',
    onError: () => undefined,
  });
  const { rowCount } = await database.pool.query('select 1 from pg_database where datname = $1', [databaseName]);
  await database.close();
  return rowCount === 1;
}

function print(name: string, small: number[], large: number[], mostRatio: number | null): void {
  const figures = (sample: number[]) =>
    `p50 ${percentile(sample, 0.5).toFixed(2)} p99 ${percentile(sample, 0.99).toFixed(2)} ms`;
  const ratio = percentile(large, 0.99) / percentile(small, 0.99);
  const verdict = mostRatio === null || ratio <= mostRatio ? '' : ` (more than ${mostRatio})`;
  console.log(
    `${name.padEnd(42)} ${figures(small).padEnd(28)} ${figures(large).padEnd(28)} p99 ratio ${ratio.toFixed(2)}${verdict}`,
  );
}
