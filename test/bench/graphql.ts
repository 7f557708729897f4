import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { fillLargeMailbox } from '../support/rows/large-mailbox.ts';
import { startDnsServer } from '../support/servers/dns.ts';
import { BenchChild } from './child.ts';
import { measureEvents } from './graphql-events.ts';
import type { HttpLoadResult } from './http-load.ts';
import type { HttpOrder } from './http-load-process.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { type Account, type PostroomServer, startSingleMachine } from './postroom-server.ts';
import { Meter } from './resources.ts';
import { median, percentile, spread } from './statistics.ts';

/** Least share of REST's rate. */
const LEAST_RATIO = 0.5;
/** Threads that pages are asked of, in turn. */
const THREADS = 2_000;

interface Round {
  kind: string;
  face: 'GraphQL' | 'REST';
  perSecond: number;
  replyMs: number[];
  cpuMs: number;
}

type Requests = NonNullable<HttpOrder['requests']>;

/** One thing that a client shows, by either face, with the same facts in it. */
interface Kind {
  name: string;
  graphql: Requests;
  rest: Requests;
}

export const help = `Requests per second and times of what an inbox shows, by GraphQL and by REST in turn, and the time from the 250 of a mail to
its subscriber.

  --rounds N        default 5
  --reads N         requests of a round; default 2000
  --messages N      of the mailbox; default 1000000
  --connections N   default 20
  --mails N         for the subscriber; default 1000
  --rate N          mails per second; default 50
  --only LIST       of reads,events; default both`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      reads: { type: 'string', default: '2000' },
      messages: { type: 'string', default: '1000000' },
      connections: { type: 'string', default: '20' },
      mails: { type: 'string', default: '1000' },
      rate: { type: 'string', default: '50' },
      only: { type: 'string', default: 'reads,events' },
    },
  });
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const dns = await startDnsServer();
  dns.set('load.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
  let server: PostroomServer | undefined;
  describeMachine();
  try {
    server = await startSingleMachine(directory, { dnsServer: dns.address });
    await describePostgresql('npm start', server.databaseUrl);
    if (values.only.includes('reads')) {
      const reader = await server.createAccount('reader@bench.test');
      await fill(server, reader, Number(values.messages));
      const kinds = await listKinds(server, reader);
      await measureReads(server, reader, kinds, {
        rounds: Number(values.rounds),
        reads: Number(values.reads),
        connections: Number(values.connections),
      });
    }
    if (values.only.includes('events'))
      await measureEvents(server, { mails: Number(values.mails), perSecond: Number(values.rate) });
  } finally {
    await server?.stop();
    await dns.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function fill({ databaseUrl }: PostroomServer, { workspaceId }: Account, count: number): Promise<void> {
  const startedAt = performance.now();
  await fillLargeMailbox(databaseUrl, workspaceId, count);
  console.log(`${count} messages, filled in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}

const LIST = `query List($after: String) { threads(first: 25, after: $after) { edges { cursor node {
  id rootMessageId normalizedSubject participantEmails participantNames messageCount unreadCount isArchived createdAt lastMessageAt
  latestMessage { id type subject fromText preview isRead hasAttachments date } } } pageInfo { hasNextPage endCursor } } }`;

const PAGE = `query Page($id: ID!) { thread(id: $id) {
  id rootMessageId normalizedSubject participantEmails participantNames messageCount unreadCount isArchived createdAt updatedAt lastMessageAt
  messages(first: 100) { edges { node { id messageId type threadPosition subject fromText createdAt date sentAt isRead readAt isArchived
    hasAttachments status failureReason preview
    from { name address } to { name address } cc { name address } bcc { name address }
    content { text html inReplyTo references headers { name value } } attachments { filename contentType size contentId } tags { name value }
  } } } } }`;

async function listKinds({ databaseUrl }: PostroomServer, { workspaceId }: Account): Promise<Kind[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const listThreads = async (least: number, most: number) => {
    const { rows } = await client.query<{ id: string }>(
      `select id from thread where workspace_id = $1 and message_count between $2 and $3 order by md5(id) limit ${THREADS}`,
      [workspaceId, least, most],
    );
    return rows.map((row) => row.id);
  };
  const page = (name: string, ids: string[]): Kind => ({
    name,
    graphql: ids.map((id) => ({ path: '/graphql', body: JSON.stringify({ query: PAGE, variables: { id } }) })),
    rest: ids.map((id) => ({ path: `/api/e2/mail/threads/${id}`, body: null })),
  });
  // Made of 50 threads each, so that one page holds 50 messages.
  await client.query(
    `update email e set thread_id = 'th_page_' || (n % 40), thread_position = n / 40
     from (select id, row_number() over (order by created_at desc) - 1 as n from email
           where workspace_id = $1 and thread_id like 'th_notice_%' order by created_at desc limit 2000) p
     where e.workspace_id = $1 and e.id = p.id`,
    [workspaceId],
  );
  await client.query(
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
       received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
     select $1, thread_id, min(message_id), min(subject), array[min(from_address)], array[min(from_text)], min(lower(subject)), count(*),
       count(*), count(*), 0, (array_agg(id order by thread_at desc, id desc))[1], max(thread_at), min(thread_at)
     from email where workspace_id = $1 and thread_id like 'th_page_%' group by thread_id`,
    [workspaceId],
  );
  const kinds = [
    {
      name: 'thread list (25)',
      graphql: [{ path: '/graphql', body: JSON.stringify({ query: LIST }) }],
      rest: [{ path: '/api/e2/mail/threads?limit=25', body: null }],
    },
    page('thread of 2 to 9 messages', await listThreads(2, 9)),
    page('thread of 50 messages', await listThreads(50, 50)),
  ];
  await client.end();
  return kinds;
}

async function measureReads(
  server: PostroomServer,
  reader: Account,
  kinds: readonly Kind[],
  { rounds, reads, connections }: { rounds: number; reads: number; connections: number },
): Promise<void> {
  const loader = new BenchChild('./http-load-process.ts');
  await loader.readResponse<{ ready: true }>();
  const done: Round[] = [];
  console.log(`${connections} connections, one request in flight on each; round 0 warms everything and is not counted`);
  for (const kind of kinds) await checkSame(server, reader, kind);
  for (let round = 0; round <= rounds; round++)
    for (const kind of kinds)
      for (const face of round % 2 === 0 ? (['GraphQL', 'REST'] as const) : (['REST', 'GraphQL'] as const)) {
        const requests = face === 'GraphQL' ? kind.graphql : kind.rest;
        const meter = new Meter(server);
        const order: HttpOrder = {
          port: server.httpPort,
          path: '',
          apiKey: reader.apiKey,
          connections,
          count: reads,
          post: null,
          requests,
        };
        const result = await loader.ask<HttpLoadResult>(order);
        if (result.failures.length > 0) throw new Error(`${face} ${kind.name}: ${result.failures[0]}`);
        const { cpuSeconds, byProgram } = meter.end();
        const cpuMs = (cpuSeconds * 1_000) / reads;
        const perSecond = (reads * 1_000) / (Math.max(...result.endedAt) - Math.min(...result.startedAt));
        const replyMs = result.endedAt.map((at, n) => at - (result.startedAt[n] ?? Number.NaN));
        console.log(
          `round ${round} ${kind.name.padEnd(26)} ${face.padEnd(8)} ${perSecond.toFixed(0)}/s  p50 ${percentile(replyMs, 0.5).toFixed(1)} p99 ${percentile(replyMs, 0.99).toFixed(1)} ms  cpu ${cpuMs.toFixed(2)} ms (${byProgram(reads)})`,
        );
        if (round > 0) done.push({ kind: kind.name, face, perSecond, replyMs, cpuMs });
      }
  loader.stop();
  for (const { name } of kinds) {
    const of = (face: Round['face']) => done.filter((each) => each.kind === name && each.face === face);
    const [graph, rest] = [of('GraphQL'), of('REST')];
    const ratios = graph.map(({ perSecond }, at) => perSecond / (rest[at]?.perSecond ?? Number.NaN));
    const figures = (rows: Round[]) =>
      `${spread(rows.map((row) => row.perSecond))}/s p99 ${spread(
        rows.map((row) => percentile(row.replyMs, 0.99)),
        1,
      )} ms cpu ${median(rows.map((row) => row.cpuMs)).toFixed(2)} ms`;
    const verdict = median(ratios) >= LEAST_RATIO ? '' : ` (less than ${LEAST_RATIO})`;
    console.log(`${name}: GraphQL ${figures(graph)}; REST ${figures(rest)}; ratio ${spread(ratios, 2)}${verdict}`);
  }
}

/** Both faces show the same. Throws otherwise. */
async function checkSame(
  { httpPort }: PostroomServer,
  { apiKey }: Account,
  { name, graphql, rest }: Kind,
): Promise<void> {
  const ask = async ({ path: route, body }: Requests[number]) => {
    const response = await fetch(`http://127.0.0.1:${httpPort}${route}`, {
      method: body === null ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, ...(body === null ? {} : { 'content-type': 'application/json' }) },
      ...(body === null ? {} : { body }),
    });
    const text = await response.text();
    if (!response.ok || text.includes('"errors"')) throw new Error(`${name}: ${text.slice(0, 1_000)}`);
    return text;
  };
  const [first, second] = [graphql.at(-1), rest.at(-1)];
  if (first === undefined || second === undefined) throw new Error(`${name}: there is nothing to ask for`);
  const [graph, wire] = [await ask(first), await ask(second)];
  const idsIn = (text: string) => [...new Set(text.match(/"em_\w+"/g) ?? [])].toSorted();
  const [shown, expected] = [idsIn(graph), idsIn(wire)];
  if (shown.length === 0 || shown.join() !== expected.join())
    throw new Error(`${name}: GraphQL shows ${shown.length} emails, REST ${expected.length}`);
  console.log(`${name}: ${shown.length} emails in ${graph.length} bytes of GraphQL, ${wire.length} of REST`);
}
