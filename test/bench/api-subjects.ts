import path from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Tables } from '../../db/entities/tables.ts';
import type { OperationContext } from '../../operations/context.ts';
import { listEmails } from '../../operations/emails/emails.ts';
import { listThreads } from '../../operations/threads/threads.ts';
import { databaseUrl, onServer } from '../support/cluster/cluster.ts';
import { fillLargeMailbox } from '../support/rows/large-mailbox.ts';
import { processTree } from '../support/servers/process-tree.ts';
import type { BareApiOrder, BareStatement } from './bare-api-process.ts';
import { BenchChild } from './child.ts';
import { AUTHOR } from './messages.ts';
import { type Account, type PostroomServer, startSingleMachine, startSplit } from './postroom-server.ts';
import { type Resources, resourcesOf } from './resources.ts';

/** Postroom with a bare service beside it on the same PostgreSQL. */
export interface Subject {
  name: string;
  server: PostroomServer;
  /** has the filled mailbox; the server's own account has the mail that is posted */
  reader: Account;
  bare: Resources & { port: number };
  /** how many messages the bare service has stored */
  bareCount(): Promise<number>;
  /** mail that waits for its first attempt */
  waitingCount(): Promise<number>;
  stop(): Promise<void>;
}

export interface SubjectOptions {
  directory: string;
  dnsServer: string;
  sinkPort: number;
  /** emails of the reader */
  rows: number;
}

/** As on a single machine. */
const SETTINGS = { shared_buffers: '256MB', max_wal_size: '2GB', jit: 'off' };

/** The gateway as a process of its own, no actor beside it. */
export async function startGatewayAlone(options: SubjectOptions): Promise<Subject> {
  const directory = path.join(options.directory, 'gateway');
  const server = await startSplit(directory, [['bin/gateway.ts']], { ...environmentOf(options), settings: SETTINGS });
  return subject('gateway', server, options);
}

/** The whole service by its start command: whatever is posted is sent as well. */
export async function startWhole(options: SubjectOptions): Promise<Subject> {
  return subject('npm start', await startSingleMachine(options.directory, environmentOf(options)), options);
}

function environmentOf({ dnsServer, sinkPort }: SubjectOptions) {
  return { dnsServer, environment: { OUTBOUND_PORT: String(sinkPort) } };
}

async function subject(name: string, server: PostroomServer, options: SubjectOptions): Promise<Subject> {
  await server.call('POST', '/domains', { domain: AUTHOR.domain });
  const reader = await server.createAccount('reader@bench.test');
  await fillLargeMailbox(server.databaseUrl, reader.userId, options.rows);
  await onServer(server.databaseUrl, 'create database bare');
  const writeUrl = databaseUrl(server.databaseUrl, 'bare');
  const bare = new BenchChild('./bare-api-process.ts');
  await bare.answer<{ ready: true }>();
  const reads = await statementsOf(server.databaseUrl, reader.userId);
  const { port } = await bare.ask<{ port: number }>({
    writeUrl,
    readUrl: server.databaseUrl,
    reads,
  } satisfies BareApiOrder);
  return {
    name,
    server,
    reader,
    bare: { port, ...resourcesOf(() => [...processTree(bare.pid), ...processTree(server.postmaster)]) },
    bareCount: () => count(writeUrl, 'select count(*)::int as count from message'),
    waitingCount: () =>
      count(server.databaseUrl, 'select count(*)::int as count from recipient where next_attempt_at is not null'),
    stop: async () => {
      bare.stop();
      await server.stop();
    },
  };
}

/** The statements that the lists of emails and threads come from, taken from what the operations really send. */
async function statementsOf(url: string, userId: string): Promise<Record<string, BareStatement>> {
  const pool = new pg.Pool({ connectionString: url });
  let last: BareStatement | null = null;
  const kysely = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      if (/^\s*(with|select)\b/.test(query.sql) && !query.sql.includes('set_config'))
        last = { text: query.sql, values: [...query.parameters] };
    },
  });
  // Lists need no more of the context than this.
  const context = { database: { kysely }, userId, now: () => new Date() } as unknown as OperationContext;
  const sentBy = async (work: () => Promise<unknown>): Promise<BareStatement> => {
    last = null;
    await work();
    if (last === null) throw new Error('a list that asks nothing');
    return last;
  };
  try {
    return {
      '/emails': await sentBy(() => listEmails(context, { timeRange: 'all' }, { limit: 50, offset: 0 })),
      '/threads': await sentBy(() => listThreads(context, {}, { limit: 25, cursor: null })),
    };
  } finally {
    await kysely.destroy();
  }
}

async function count(url: string, statement: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(statement);
    return rows[0]?.count ?? Number.NaN;
  } finally {
    await client.end();
  }
}
