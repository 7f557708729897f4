import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { httpRequest } from '../../bench/http-load.ts';
import { percentile } from '../../bench/statistics.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { appendEvents } from '../../support/stages/event-feed.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';
import { expectBounded } from '../../support/stages/expect-bounded.ts';
import { signIn } from '../../support/stages/sign-in-session.ts';

const MB = 1_000_000;
/** How long an attack lasts, and how long the other account waits between two requests. Milliseconds. */
const ATTACK_MS = 6_000;
const PAUSE_MS = 20;
/**
 * The p99 of the processor time that the gateway spends between a request of the other account and its response; milliseconds. On a machine
 * that does nothing else it is the time that the other account waits; other programs do not change it.
 */
const MAX_P99_MS = 500;

let stage: ExhaustionStage;
let attacker: ChildProcess;
let cursor = '';
let fileId = '';
let draftId = '';
let draftFileId = '';
let cookie = '';
beforeAll(async () => {
  stage = await openExhaustionStage('x'.repeat(14 * MB));
  const { workspaceId } = stage.attacker;
  // Nothing makes it smaller than its 15 MB by more than a fourth.
  const raw = Buffer.from(randomBytes(11_250_000).toString('base64'));
  const file = {
    index: 0,
    filename: 'a.bin',
    contentType: 'application/octet-stream',
    contentId: null,
    size: raw.length,
  };
  const place = { contentDisposition: null, start: 0, length: raw.length, transferEncoding: 'base64' as const };
  [fileId = ''] = await insertMail(stage.owner, [{ workspaceId, raw, attachments: [{ ...file, ...place }] }]);
  const labels = Array.from({ length: 200 }, (_, at) => `event ${at}`);
  await appendEvents(stage.owner, workspaceId, { labels, padding: 64_000 });
  await stage.owner.pool.query(
    `do $$ begin for change in 1..2000 loop update api_key set name = repeat('x', 90) || change where workspace_id = '${workspaceId}'; end loop; end $$`,
  );
  const draft = await create('/drafts', {
    from: stage.attacker.address,
    subject: 'large',
    text: 'x'.repeat(6 * MB),
    attachments: [{ filename: 'a.bin', content: randomBytes(3 * MB).toString('base64') }],
  });
  draftId = draft.id;
  draftFileId = draft.attachments?.[0]?.id ?? '';
  const { rows } = await stage.owner.pool.query<{ last_seq: string }>('select append_events($1, $2) as last_seq', [
    workspaceId,
    JSON.stringify([{ id: 'evt_large', kind: 'email.threaded', emailId: stage.largeId, data: { type: 'received' } }]),
  ]);
  cursor = encodeEventCursor(workspaceId, Number(rows[0]?.last_seq));
  const endpoint = await create('/endpoints', {
    name: 'hook',
    type: 'webhook',
    config: { url: 'https://hook.attacker.test/', maxPayloadOctets: 25_000_000 },
  });
  await stage.owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, created_at, completed_at)
     values ($1, 'dlv_large', $2, $3, 'webhook', 'failed', 1, 3, now(), now())`,
    [workspaceId, stage.largeId, endpoint.id],
  );
  ({ cookie } = await signIn(stage, stage.attacker));
  attacker = fork(new URL('../../bench/attack-process.ts', import.meta.url));
  await once(attacker, 'message');
  for (let warm = 0; warm < 20; warm++) await probe();
});
afterAll(async () => {
  attacker?.kill();
  await stage?.close();
});

async function create(path: string, body: object): Promise<{ id: string; attachments?: { id: string }[] }> {
  const response = await fetch(`${stage.gateway.url}/api/e2${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.attacker.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status, path).toBe(201);
  return (await response.json()) as { id: string; attachments?: { id: string }[] };
}

/** Sends a request of the other account on a new connection. Returns the processor time of the gateway meanwhile, in milliseconds. */
async function probe(): Promise<number> {
  const before = await processorMs();
  const url = `${stage.gateway.url}/api/e2/emails`;
  const sent = get(url, { agent: false, headers: { authorization: `Bearer ${stage.other.apiKey}` } });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  expect(response.statusCode).toBe(200);
  return (await processorMs()) - before;
}

/** Returns the processor time of the main thread of the gateway so far (proc(5), schedstat). */
async function processorMs(): Promise<number> {
  const { pid } = stage.gateway.child;
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1_000_000;
}

interface Attack {
  name: string;
  clients: number;
  isSlow: boolean;
  isLeaving?: true;
  request: () => Buffer;
}

const graphql = (query: string, accept = '') => {
  const request = httpRequest('POST', '/graphql', stage.attacker.apiKey, JSON.stringify({ query }));
  return accept === '' ? request : Buffer.from(request.toString().replace('\r\n', `\r\naccept: ${accept}\r\n`));
};
const mcp = (method: string, params: object) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const request = httpRequest('POST', '/mcp', stage.attacker.apiKey, body).toString();
  return Buffer.from(request.replace('\r\n', '\r\naccept: application/json, text/event-stream\r\n'));
};
const rest = (path: string) => httpRequest('GET', `/api/e2${path}`, stage.attacker.apiKey);
const streamed = (request: Buffer) =>
  Buffer.from(request.toString().replace('\r\n', '\r\naccept: text/event-stream\r\n'));

const attacks: Attack[] = [
  {
    name: '30 aliases of a text of 14 MB',
    clients: 6,
    isSlow: false,
    request: () =>
      graphql(
        `{ email(id: "${stage.largeId}") { content { ${Array.from({ length: 30 }, (_, at) => `a${at}: text`).join(' ')} } } }`,
      ),
  },
  {
    name: 'threads of 14 such emails',
    clients: 6,
    isSlow: false,
    request: () => rest(`/mail/threads/${stage.threadId}`),
  },
  {
    name: '100 slow readers of such an email',
    clients: 100,
    isSlow: true,
    request: () => rest(`/emails/${stage.largeId}`),
  },
  {
    name: '100 clients that wait for an email, over and over',
    clients: 100,
    isSlow: false,
    request: () =>
      httpRequest('POST', '/api/e2/emails/wait', stage.attacker.apiKey, JSON.stringify({ subject: 'x', timeout: 0 })),
  },
  {
    name: '100 slow readers of a ZIP file',
    clients: 100,
    isSlow: true,
    request: () => rest(`/emails/${fileId}/attachments.zip`),
  },
  {
    name: 'downloads of a file of 11 MB',
    clients: 6,
    isSlow: false,
    request: () => rest(`/attachments/${fileId}/parts/0`),
  },
  {
    name: 'downloads of a raw message of 15 MB',
    clients: 6,
    isSlow: false,
    request: () => rest(`/emails/${fileId}/raw`),
  },
  {
    name: 'clients that leave as soon as a thread of such emails begins',
    clients: 20,
    isSlow: false,
    isLeaving: true,
    request: () => rest(`/mail/threads/${stage.threadId}`),
  },
  {
    name: '50 forwards of an email with a file of 11 MB',
    clients: 50,
    isSlow: false,
    request: () =>
      httpRequest(
        'POST',
        `/api/e2/emails/${fileId}/forward`,
        stage.attacker.apiKey,
        JSON.stringify({ from: stage.attacker.address, to: 'x@elsewhere.test' }),
      ),
  },
  {
    name: '100 slow readers of a draft of 6 MB',
    clients: 100,
    isSlow: true,
    request: () => rest(`/drafts/${draftId}`),
  },
  {
    name: '50 readers of a draft of 6 MB',
    clients: 50,
    isSlow: false,
    request: () => rest(`/drafts/${draftId}`),
  },
  {
    name: '50 readers of a file of a draft',
    clients: 50,
    isSlow: false,
    request: () => rest(`/drafts/${draftId}/attachments/${draftFileId}`),
  },
  {
    name: '50 clients that send a large draft without a recipient',
    clients: 50,
    isSlow: false,
    request: () => httpRequest('POST', `/api/e2/drafts/${draftId}/send`, stage.attacker.apiKey, '{}'),
  },
  {
    name: '50 slow readers of an export',
    clients: 50,
    isSlow: true,
    request: () => Buffer.from(`GET /api/auth/export HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`),
  },
  { name: '100 slow event streams', clients: 100, isSlow: true, request: () => streamed(rest('/events')) },
  {
    name: '100 slow subscriptions',
    clients: 100,
    isSlow: true,
    request: () => graphql('subscription { events { cursor email { content { text } } } }', 'text/event-stream'),
  },
  {
    name: '50 calls of the MCP tool that reads an email',
    clients: 50,
    isSlow: false,
    request: () => mcp('tools/call', { name: 'read_email', arguments: { email_id: stage.largeId } }),
  },
  {
    name: '100 slow readers of the MCP tool that reads a thread',
    clients: 100,
    isSlow: true,
    request: () => mcp('tools/call', { name: 'read_thread', arguments: { thread_id: stage.threadId } }),
  },
  {
    name: '100 slow readers of an attachment over MCP',
    clients: 100,
    isSlow: true,
    request: () => mcp('resources/read', { uri: `postroom://emails/${fileId}/attachments/0` }),
  },
  {
    name: '100 slow readers of the audit log as NDJSON',
    clients: 100,
    isSlow: true,
    request: () => rest('/audit.ndjson'),
  },
  {
    name: '100 slow readers of pulled webhook requests',
    clients: 100,
    isSlow: true,
    request: () => rest('/events/webhook-requests?events=*&limit=100'),
  },
  {
    name: '20 previews of a payload with such an email, four times',
    clients: 20,
    isSlow: false,
    request: () => {
      const query = `{ ${['a', 'b', 'c', 'd'].map((name) => `${name}: email { content { text } }`).join(' ')} }`;
      return httpRequest(
        'POST',
        '/api/e2/endpoints/preview-payload',
        stage.attacker.apiKey,
        JSON.stringify({ query, cursor, maxPayloadOctets: 25_000_000 }),
      );
    },
  },
  {
    name: '20 previews of a payload with such an email that does not fit',
    clients: 20,
    isSlow: false,
    request: () =>
      httpRequest(
        'POST',
        '/api/e2/endpoints/preview-payload',
        stage.attacker.apiKey,
        JSON.stringify({ query: '{ email { content { text } } }', cursor, maxPayloadOctets: 10_000 }),
      ),
  },
  {
    name: '20 readers of the payload of a delivery of such an email',
    clients: 20,
    isSlow: false,
    request: () => graphql('{ delivery(id: "dlv_large") { payload(maxBytes: 1000000) { text sizeBytes } } }'),
  },
];

test.each(attacks)(
  'another account waits at most 500 ms at p99, and memory is bounded, during: $name',
  async (attack) => {
    const { clients, isSlow, isLeaving } = attack;
    await stage.forgetPeak();
    const request = attack.request().toString().replace('\r\n', '\r\nconnection: close\r\n');
    const ended = once(attacker, 'message');
    attacker.send({ port: stage.gateway.port, request, clients, isSlow, isLeaving, milliseconds: ATTACK_MS });
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    const times: number[] = [];
    while (!isOver) {
      times.push(await probe());
      await sleep(PAUSE_MS);
    }
    const [{ statuses }] = (await ended) as [{ statuses: Record<string, number> }];
    const p99 = percentile(times, 0.99);
    const peak = await stage.peakMemory();
    process.stdout.write(
      `${attack.name}: p99 ${p99.toFixed(0)} ms of ${times.length}, ${Math.round(peak / MB)} MB, ${JSON.stringify(statuses)}\n`,
    );
    expect(Object.keys(statuses).every((status) => ['200', '400', '429', '503'].includes(status))).toBe(true);
    expect(p99).toBeLessThan(MAX_P99_MS);
    await expectBounded(stage);
  },
);
