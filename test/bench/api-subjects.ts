import path from 'node:path';
import pg from 'pg';
import { databaseUrl, onServer } from '../support/cluster/cluster.ts';
import { fillLargeMailbox } from '../support/rows/large-mailbox.ts';
import { fillLargeMailboxWords } from '../support/rows/large-mailbox-words.ts';
import { processTree } from '../support/servers/process-tree.ts';
import type { BareApiOrder } from './bare-api-process.ts';
import { BenchChild, stopUnless } from './child.ts';
import { AUTHOR } from './messages.ts';
import { type Account, type PostroomServer, startSingleMachine, startSplit } from './postroom-server.ts';
import { makeResources, type Resources } from './resources.ts';

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
  /** emails of the reader, and rows of the bare service */
  mails: number;
}

/** As on a single machine. */
const SETTINGS = { shared_buffers: '256MB', max_wal_size: '2GB', jit: 'off' };

/** The gateway as a process of its own, no actor beside it. */
export async function startGatewayAlone(options: SubjectOptions): Promise<Subject> {
  const directory = path.join(options.directory, 'gateway');
  const server = await startSplit(directory, [['bin/gateway.ts']], { ...makeEnvironment(options), settings: SETTINGS });
  return stopUnless(server, subject('gateway', server, options));
}

/** The whole service by its start command: whatever is posted is sent as well. */
export async function startWhole(options: SubjectOptions): Promise<Subject> {
  const server = await startSingleMachine(options.directory, makeEnvironment(options));
  return stopUnless(server, subject('npm start', server, options));
}

function makeEnvironment({ dnsServer, sinkPort }: SubjectOptions) {
  return { dnsServer, environment: { OUTBOUND_PORT: String(sinkPort) } };
}

async function subject(name: string, server: PostroomServer, options: SubjectOptions): Promise<Subject> {
  await server.call('POST', '/domains', { domain: AUTHOR.domain });
  const reader = await server.createAccount('reader@bench.test');
  await fillLargeMailbox(server.databaseUrl, reader.workspaceId, options.mails);
  await fillLargeMailboxWords(server.databaseUrl, reader.workspaceId);
  await onServer(server.databaseUrl, 'create database bare');
  const bareUrl = databaseUrl(server.databaseUrl, 'bare');
  const bare = new BenchChild('./bare-api-process.ts');
  const started = { stop: () => Promise.resolve(bare.stop()) };
  await stopUnless(started, bare.readResponse<{ ready: true }>());
  const order = { databaseUrl: bareUrl, mails: options.mails } satisfies BareApiOrder;
  const { port } = await stopUnless(started, bare.ask<{ port: number }>(order));
  return {
    name,
    server,
    reader,
    bare: { port, ...makeResources(() => [...processTree(bare.pid), ...processTree(server.postmaster)]) },
    bareCount: () => count(bareUrl, 'select count(*)::int as count from message'),
    waitingCount: () =>
      count(server.databaseUrl, 'select count(*)::int as count from recipient where next_attempt_at is not null'),
    stop: async () => {
      bare.stop();
      await server.stop();
    },
  };
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
