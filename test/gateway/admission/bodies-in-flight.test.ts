import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { countBodiesInFlight, limitBodiesInFlight } from '../../../gateway/admission/bodies-in-flight.ts';
import { sendError } from '../../../gateway/http/error-response.ts';

const MOST = 2_000_000;

let app: FastifyInstance;
let port: number;
/** requests whose handler waits to be let go */
const held: (() => void)[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  app = Fastify({ bodyLimit: 10_000_000 });
  app.setErrorHandler(sendError);
  app.decorateRequest('userId', '');
  app.addHook('onRequest', async (request) => {
    request.userId = String(request.headers['x-user']);
  });
  limitBodiesInFlight(app, countBodiesInFlight(MOST));
  app.post('/held', () => new Promise((resolve) => held.push(() => resolve({ ok: true }))));
  app.post('/free', () => ({ ok: true }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
});
afterAll(() => app.close());
afterEach(() => {
  for (const letGo of held.splice(0)) letGo();
  for (const socket of sockets.splice(0)) socket.destroy();
});

const body = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));

async function post(
  path: string,
  bytes: number,
  user = 'usr_a',
): Promise<{ status: number; retryAfter: string | null }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': user },
    body: body(bytes),
  });
  await response.text();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

async function openSocket(head: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(`POST /free HTTP/1.1\r\nHost: x\r\nX-User: usr_a\r\nContent-Type: application/json\r\n${head}\r\n\r\n`);
  return socket;
}

test('bodies of one user beyond the bound are 429 until others are answered; other users go on', async () => {
  const first = post('/held', MOST - 1_000);
  await expect.poll(() => held.length).toBe(1);
  expect(await post('/free', 1_001)).toEqual({ status: 429, retryAfter: '1' });
  expect((await post('/free', 1_000)).status).toBe(200);
  expect((await post('/free', MOST, 'usr_b')).status).toBe(200);
  held.pop()?.();
  expect((await first).status).toBe(200);
  await expect.poll(async () => (await post('/free', MOST)).status).toBe(200);
});

test('a body counts before it has come, and no more once its sender has gone', async () => {
  const socket = await openSocket(`Content-Length: ${MOST}`);
  await expect.poll(async () => (await post('/free', 100)).status).toBe(429);
  socket.destroy();
  await expect.poll(async () => (await post('/free', MOST)).status).toBe(200);
});

test('a body of unknown length counts as it comes', async () => {
  const small = await openSocket('Transfer-Encoding: chunked');
  small.write('5\r\n"abc"\r\n');
  expect((await post('/free', MOST - 1_000)).status).toBe(200);
  small.end('0\r\n\r\n');
  expect(String((await once(small, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);

  const large = await openSocket('Transfer-Encoding: chunked');
  const chunk = 'x'.repeat(50_000);
  for (let n = 0; n < 45; n++) large.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  expect(String((await once(large, 'data'))[0])).toMatch(/^HTTP\/1\.1 429/);
  large.destroy();
  await expect.poll(async () => (await post('/free', MOST)).status).toBe(200);
});

test('injected requests are let go of, too', async () => {
  for (let n = 0; n < 3; n++) {
    const response = await app.inject({
      method: 'POST',
      url: '/free',
      headers: { 'x-user': 'usr_c', 'content-type': 'application/json' },
      payload: body(MOST),
    });
    expect(response.statusCode).toBe(200);
  }
});
