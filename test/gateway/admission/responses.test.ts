import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Thirty of them are more than a result may have, and nineteen are not: 3.22 MB. */
const TEXT = 'Ünï\u0001 "\\\u{1f642} '.repeat(230_000);
/** More than an account may have in responses. */
const TOO_LARGE = 'x'.repeat(65_000_000);

let gateway: TestGateway;
let box: TestMailbox;
let other: TestMailbox;
let port: number;
let emailId: string;
let threadId: string;
let emailIds: string[];
/** an email with a large raw message */
let rawId: string;
let hugeId: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  gateway = await openTestGateway();
  [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
  const thread = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 3,
    lastMessageAt: new Date(),
    text: TEXT,
  });
  ({ threadId, emailIds } = thread);
  [emailId = ''] = emailIds;
  [rawId = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, raw: Buffer.alloc(7_500_000, 'x') }]);
  [hugeId = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, text: TOO_LARGE }]);
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  port = (gateway.app.server.address() as { port: number }).port;
});
afterAll(() => gateway?.close());
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await waitFor(() => expect(gateway.app.responses.count()).toBe(0));
});

const headers = () => ({ authorization: `Bearer ${box.apiKey}` });
const get = (path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}/api/e2${path}`, { ...init, headers: headers() });
const graphql = async (query: string, variables: Record<string, unknown> = { id: emailId, thread: threadId }) => {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, body: (await response.json()) as GraphqlBody };
};

interface GraphqlBody {
  data?: { email: { content: Record<string, string> } };
  errors?: { extensions: Record<string, unknown> }[];
}

/** Begins a request and reads no more than the beginning of its response. */
async function hold(path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET /api/e2${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${box.apiKey}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  expect(chunk.toString('latin1')).toContain('200 OK');
  socket.pause();
  return socket;
}

describe('a large response', () => {
  test('of an email has its text as stored', async () => {
    const email = (await (await get(`/emails/${emailId}`)).json()) as {
      text: string;
      cleaned_content: { text: string };
    };
    expect(email.text === TEXT).toBe(true);
    expect(email.cleaned_content.text === TEXT.trim()).toBe(true);
  });

  test('of a thread has every message in order, as the route of the email shows it', async () => {
    const response = await get(`/mail/threads/${threadId}`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const body = (await response.json()) as {
      thread: { id: string };
      messages: Record<string, unknown>[];
      total_count: number;
    };
    expect(body.thread.id).toBe(threadId);
    expect(body.total_count).toBe(3);
    expect(body.messages.map(({ id, text_body: text }) => [id, text === TEXT])).toEqual(
      emailIds.map((id) => [id, true]),
    );
  });

  test('of an unknown thread is 404, and of a thread of another account', async () => {
    expect((await get('/mail/threads/thr_unknown')).status).toBe(404);
    const foreign = await gateway.call(other.apiKey, 'GET', `/mail/threads/${threadId}`);
    expect(foreign.statusCode).toBe(404);
  });

  test('to HEAD has no body', async () => {
    const response = await get(`/emails/${emailId}`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  test('of a raw message has its length and bytes', async () => {
    const response = await get(`/emails/${rawId}/raw`);
    expect(response.headers.get('content-length')).toBe('7500000');
    expect((await response.arrayBuffer()).byteLength).toBe(7_500_000);
  });
});

describe('the room of a response', () => {
  test('is taken while a client does not read, and given back when it disconnects', async () => {
    const socket = await hold(`/emails/${emailId}`);
    expect(gateway.app.responses.count(box.workspaceId)).toBeGreaterThan(2_000_000);
    expect(gateway.app.responses.count(other.workspaceId)).toBe(0);
    socket.destroy();
    await waitFor(() => expect(gateway.app.responses.count(box.workspaceId)).toBe(0));
  });

  test('is computed for the largest page of a thread', async () => {
    await hold(`/mail/threads/${threadId}`);
    expect(gateway.app.responses.count()).toBeLessThan(2 * Buffer.byteLength(TEXT));
  });

  test('of an account is not exceeded by 50 downloads at once, and is returned', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await get(`/emails/${rawId}/raw`);
        await response.arrayBuffer();
        return response.status;
      }),
    );
    for (const status of statuses) expect([200, 429, 503]).toContain(status);
    await waitFor(() => expect(gateway.app.responses.count()).toBe(0));
    expect((await get(`/emails/${rawId}/raw`)).status).toBe(200);
  });

  test('is refused to an email above the limit of an account, whose bodies are not loaded', async () => {
    const response = await get(`/emails/${hugeId}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'RESPONSE_TOO_LARGE', name: 'validation_error' });
  });

  test('is taken by tools of MCP', async () => {
    const call = (id: string) =>
      fetch(`http://127.0.0.1:${port}/mcp`, {
        method: 'POST',
        headers: { ...headers(), 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'read_email', arguments: { email_id: id } },
        }),
      });
    expect(await (await call(emailId)).text()).not.toContain('isError');
    expect(await (await call(hugeId)).text()).toContain('the limit is 48 MB');
  });
});

describe('a GraphQL operation with too much text is refused as a whole', () => {
  const many = (count: number, field: string) => Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');

  test('but is served at the limit', async () => {
    const { status, body } = await graphql(`query($id: ID!) { email(id: $id) { content { ${many(19, 'text')} } } }`);
    expect(status).toBe(200);
    const texts = Object.values(body.data?.email.content ?? {});
    expect(texts).toHaveLength(19);
    expect(texts.every((text) => text === TEXT)).toBe(true);
  });

  test.each([
    ['by aliases', `query($id: ID!) { email(id: $id) { content { ${many(30, 'text')} } } }`],
    ['by aliases of the email', `query($id: ID!) { ${many(30, 'email(id: $id) { content { text } }')} }`],
    [
      'by fragments',
      `query($id: ID!) { email(id: $id) { content { ...A ...B } } }
       fragment A on EmailContent { ${many(15, 'text')} } fragment B on EmailContent { ${many(15, 'cleanedText').replaceAll('a', 'b').replaceAll('cleboned', 'cleaned').replaceAll('clebned', 'cleaned')} }`,
    ],
    [
      'by a list in a list',
      `query($thread: ID!) { ${many(12, 'thread(id: $thread) { messages(first: 3) { edges { node { content { text } } } } }')} }`,
    ],
  ])('%s', async (_name, query) => {
    const { status, body } = await graphql(query);
    expect(body.errors, JSON.stringify(body).slice(0, 500)).toHaveLength(1);
    expect(body).not.toHaveProperty('data');
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'validation_error', reason: 'RESPONSE_TOO_LARGE' });
    expect(status).toBe(400);
  });

  test('by texts of 8 MB in an event of a stream', async () => {
    const ask = (count: number) =>
      fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { ...headers(), 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({
          query: `query($id: ID!) { email(id: $id) { content { ${many(count, 'text')} } } }`,
          variables: { id: emailId },
        }),
      });
    expect(await (await ask(2)).text()).toContain('"a1":"');
    expect(await (await ask(3)).text()).toContain('RESPONSE_TOO_LARGE');
  });

  test('by a single email above the limit, which is not loaded', async () => {
    const { status, body } = await graphql('query($id: ID!) { email(id: $id) { content { text } } }', { id: hugeId });
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions).toMatchObject({ reason: 'RESPONSE_TOO_LARGE' });
  });
});
