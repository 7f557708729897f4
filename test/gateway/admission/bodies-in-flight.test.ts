import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type BodiesInFlight,
  countBodiesInFlight,
  limitBodiesInFlight,
} from '../../../gateway/admission/bodies-in-flight.ts';
import { sendError } from '../../../gateway/http/error-response.ts';

const PER_ACCOUNT = 2_000_000;
const PER_PROCESS = 5_000_000;
const RESERVE = 100_000;
const HANDLED = 2_500_000;
const ROUTE_LIMIT = 10_000_000;

let app: FastifyInstance;
let port: number;
let bodies: BodiesInFlight;
/** requests whose handler waits to be let go, by user */
const held: { user: string; letGo: () => void }[] = [];
const sockets: Socket[] = [];

/** A client that sends less than 64 KB in that time is refused; milliseconds. */
const SOON = 100;
const LATE = 600_000;

async function start(windowMs: number): Promise<void> {
  app = Fastify({ bodyLimit: ROUTE_LIMIT });
  app.setErrorHandler(sendError);
  app.decorateRequest('workspaceId', '');
  app.addHook('onRequest', async (request) => {
    request.workspaceId = String(request.headers['x-user']);
  });
  bodies = countBodiesInFlight({
    perAccount: PER_ACCOUNT,
    perProcess: PER_PROCESS,
    reserve: RESERVE,
    handled: HANDLED,
  });
  limitBodiesInFlight(app, bodies, { windowMs, leastBytes: 65_536 });
  app.post('/held', ({ workspaceId }) => new Promise((resolve) => hold(workspaceId, resolve)));
  app.post('/free', () => ({ ok: true }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
}

beforeEach(() => start(LATE));
afterEach(async () => {
  for (const { letGo } of held.splice(0)) letGo();
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => bodies.count()).toBe(0);
  app.server.closeAllConnections();
  await app.close();
});

function hold(user: string, resolve: (value: { ok: true }) => void): void {
  held.push({ user, letGo: () => resolve({ ok: true }) });
}

const body = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));

async function post(
  path: string,
  bytes: number,
  user = 'usr_a',
): Promise<{ status: number; retryAfter: string | null; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': user },
    body: body(bytes),
  });
  return {
    text: await response.text(),
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
  };
}

async function openSocket(head: string, user = 'usr_a', path = '/free'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-User: ${user}\r\nContent-Type: application/json\r\n${head}\r\n\r\n`,
  );
  return socket;
}

async function receive(socket: Socket): Promise<string> {
  return String((await once(socket, 'data'))[0]);
}

test('bodies of one account beyond its limit get 429 until others have ended, and other accounts are served', async () => {
  const first = post('/held', PER_ACCOUNT - 1_000);
  await expect.poll(() => held.length).toBe(1);
  expect(await post('/free', 1_001)).toMatchObject({ status: 429, retryAfter: '1' });
  expect((await post('/free', 1_000)).status).toBe(200);
  expect((await post('/free', 500_000, 'usr_b')).status).toBe(200);
  held.pop()?.letGo();
  expect((await first).status).toBe(200);
  await expect.poll(async () => (await post('/free', PER_ACCOUNT)).status).toBe(200);
});

test('bodies of all accounts beyond the limit of the process get 503, and small ones use the reserve', async () => {
  for (const user of ['usr_a', 'usr_b']) await openSocket(`Content-Length: ${PER_ACCOUNT}`, user);
  await openSocket(`Content-Length: ${PER_PROCESS - 2 * PER_ACCOUNT}`, 'usr_c');
  await expect.poll(() => bodies.count()).toBe(PER_PROCESS);
  const refused = await post('/free', 65_537, 'usr_d');
  expect(refused).toMatchObject({ status: 503, retryAfter: '5' });
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'BODIES_IN_PROGRESS', name: 'application_error' });
  expect((await post('/free', 65_536, 'usr_d')).status).toBe(200);
  await openSocket('Content-Length: 65536', 'usr_e');
  await expect.poll(() => bodies.count('usr_e')).toBe(65_536);
  expect((await post('/free', 65_536, 'usr_d')).status).toBe(503);
});

test('a body counts before it has arrived, and no longer when its sender has disconnected', async () => {
  const socket = await openSocket(`Content-Length: ${PER_ACCOUNT}`);
  await expect.poll(async () => (await post('/free', 100)).status).toBe(429);
  socket.destroy();
  await expect.poll(async () => (await post('/free', PER_ACCOUNT)).status).toBe(200);
});

test('a body above the limit of its route gets 413, whatever is in flight', async () => {
  const socket = await openSocket(`Content-Length: ${ROUTE_LIMIT + 1}`);
  expect(await receive(socket)).toMatch(/^HTTP\/1\.1 413/);
  expect(bodies.count()).toBe(0);
});

test('a body of unknown length counts as it arrives', async () => {
  const small = await openSocket('Transfer-Encoding: chunked');
  small.write('5\r\n"abc"\r\n');
  await expect.poll(() => bodies.count('usr_a')).toBe(5);
  expect((await post('/free', PER_ACCOUNT - 1_000)).status).toBe(200);
  small.end('0\r\n\r\n');
  expect(await receive(small)).toMatch(/^HTTP\/1\.1 200/);

  const large = await openSocket('Transfer-Encoding: chunked');
  const chunk = 'x'.repeat(50_000);
  for (let n = 0; n < 45; n++) large.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  expect(await receive(large)).toMatch(/^HTTP\/1\.1 429[^]*connection: close/i);
  large.destroy();
  await expect.poll(async () => (await post('/free', PER_ACCOUNT)).status).toBe(200);
});

test('a client that sends its large body slowly gets 408, and its room is released', async () => {
  await app.close();
  await start(SOON);
  const socket = await openSocket(`Content-Length: ${PER_ACCOUNT}`);
  const closed = once(socket, 'close');
  expect(await receive(socket)).toMatch(/^HTTP\/1\.1 408[^]*connection: close/i);
  await closed;
  await expect.poll(() => bodies.count('usr_a')).toBe(0);

  const chunked = await openSocket('Transfer-Encoding: chunked', 'usr_b');
  chunked.write('2\r\n"x\r\n');
  expect(await receive(chunked)).toMatch(/^HTTP\/1\.1 408/);
});

test('large bodies are handled a few at a time, and accounts take turns', async () => {
  const requests = [post('/held', 1_000_000)];
  await expect.poll(() => held.map(({ user }) => user)).toEqual(['usr_a']);
  // Fits beside the first; the others wait.
  requests.push(post('/held', 1_000_000, 'usr_b'));
  await expect.poll(() => held.map(({ user }) => user)).toEqual(['usr_a', 'usr_b']);
  requests.push(post('/held', 1_000_000, 'usr_b'));
  await expect.poll(() => bodies.count()).toBe(3_000_000);
  requests.push(post('/held', 1_000_000, 'usr_a'));
  await expect.poll(() => bodies.count()).toBe(4_000_000);
  // Small requests do not wait.
  expect((await post('/free', 60_000, 'usr_c')).status).toBe(200);
  expect(held).toHaveLength(2);
  for (const { letGo } of held.splice(0)) letGo();
  await expect.poll(() => held.map(({ user }) => user).sort()).toEqual(['usr_a', 'usr_b']);
  for (const { letGo } of held.splice(0)) letGo();
  for (const response of await Promise.all(requests)) expect(response.status).toBe(200);
});

test('a client that disconnects while its body waits passes its turn to the next', async () => {
  const first = post('/held', 2_000_000, 'usr_b');
  await expect.poll(() => held.length).toBe(1);
  const leaving = await openSocket(`Content-Length: ${PER_ACCOUNT}`, 'usr_a', '/held');
  leaving.write(body(PER_ACCOUNT));
  await expect.poll(() => bodies.count('usr_a')).toBe(PER_ACCOUNT);
  const next = post('/held', 1_000_000, 'usr_c');
  await expect.poll(() => bodies.count('usr_c')).toBe(1_000_000);
  leaving.destroy();
  await expect.poll(() => bodies.count('usr_a')).toBe(0);
  for (const { letGo } of held.splice(0)) letGo();
  await expect.poll(() => held.map(({ user }) => user)).toEqual(['usr_c']);
  for (const { letGo } of held.splice(0)) letGo();
  expect((await first).status).toBe(200);
  expect((await next).status).toBe(200);
});

test('injected requests release their room, too', async () => {
  for (let n = 0; n < 3; n++) {
    const response = await app.inject({
      method: 'POST',
      url: '/free',
      headers: { 'x-user': 'usr_c', 'content-type': 'application/json' },
      payload: body(PER_ACCOUNT),
    });
    expect(response.statusCode).toBe(200);
  }
});
