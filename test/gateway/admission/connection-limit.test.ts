import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { limitConnections } from '../../../gateway/admission/connection-limit.ts';
import { sendError } from '../../../gateway/http/error-response.ts';
import { gatewayMetrics } from '../../../schema/metrics.ts';
import { waitFor } from '../../support/wait-for.ts';

const LIMIT = 3;
const PROXY = '127.0.0.9';

const sockets: Socket[] = [];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const close of closing.splice(0)) await close();
});

async function listen(trustedProxies: string[] = [], total = 1_000, perMinute = 0) {
  const logged: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const app: FastifyInstance = Fastify({ trustProxy: trustedProxies.length > 0 ? trustedProxies : false });
  closing.push(() => {
    app.server.closeAllConnections();
    return app.close();
  });
  app.setErrorHandler(sendError);
  limitConnections(app, { perAddress: LIMIT, perMinute, total, trustedProxies, log });
  const held: (() => void)[] = [];
  app.get('/', async () => 'served');
  app.get('/slow', (_request, reply) => void held.push(() => void reply.send('late')));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as { port: number }).port, logged, held };
}

async function open(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, path = '/', client = '198.51.100.1'): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
}

async function readMetric(reason: string): Promise<number> {
  const { values } = await gatewayMetrics.refusedConnections.get();
  return values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
}

test('a connection beyond the limit of its address gets 503 and is closed, others are served, and one that ends makes room', async () => {
  const { port, logged } = await listen();
  const first = await open(port, '127.0.0.2');
  for (const socket of [first, await open(port, '127.0.0.2'), await open(port, '127.0.0.2')])
    expect(await ask(socket)).toContain('200 OK');
  const fourth = await open(port, '127.0.0.2');
  const refusal = await ask(fourth);
  expect(refusal).toContain('503 Service Unavailable');
  expect(refusal.toLowerCase()).toContain('retry-after: 5');
  expect(refusal).toContain('"code":"TOO_MANY_CONNECTIONS"');
  await once(fourth, 'close');
  expect(await ask(await open(port, '127.0.0.3'))).toContain('200 OK');
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatchObject({ event: 'gateway.connections-refused', client: '127.0.0.2', limit: LIMIT });
  first.destroy();
  await waitFor(async () => expect(await ask(await open(port, '127.0.0.2'))).toContain('200 OK'));
});

test('refuses connections of a network beyond its rate with 429 and Retry-After, and serves other networks', async () => {
  const { port, logged } = await listen([], 1_000, 4);
  for (const address of ['127.0.7.2', '127.0.7.3', '127.0.7.4', '127.0.7.5']) {
    const socket = await open(port, address);
    expect(await ask(socket)).toContain('200 OK');
    socket.destroy();
  }
  const before = await readMetric('rate');
  const fifth = await open(port, '127.0.7.6');
  const refusal = await ask(fifth);
  expect(refusal).toContain('429 Too Many Requests');
  expect(refusal.toLowerCase()).toContain('retry-after: 5');
  expect(refusal).toContain('The limit is 4 per minute');
  await once(fifth, 'close');
  expect(await readMetric('rate')).toBe(before + 1);
  expect(logged[0]).toMatchObject({ event: 'gateway.connections-refused', client: '127.0.7.0/24', limit: 4 });
  expect(await ask(await open(port, '127.0.8.2'))).toContain('200 OK');
  for (let n = 0; n < 6; n++) expect(await ask(await open(port, '127.0.0.1'))).toContain('200 OK');
});

test('closes connections beyond the rate at once when many of the network wait for a response', async () => {
  const { port } = await listen([], 1_000, 1);
  await open(port, '127.0.9.1');
  const waiting = await Promise.all(Array.from({ length: 50 }, (_each, at) => open(port, `127.0.9.${at + 2}`)));
  await waitFor(() => expect(waiting.filter(({ destroyed }) => destroyed).length).toBe(50 - 16));
});

test('a connection beyond the total gets 503, wherever it comes from, and idle ones are closed to make room', async () => {
  const { port, logged, held } = await listen([PROXY], 4);
  const busy = await open(port, '127.0.0.1');
  const late = ask(busy, '/slow');
  await waitFor(() => expect(held).toHaveLength(1));
  const idle = await Promise.all(['127.0.0.1', '127.0.0.2', PROXY].map((address) => open(port, address)));
  for (const socket of idle) expect(await ask(socket)).toContain('200 OK');
  const closed = idle.map((socket) => once(socket, 'close'));
  const refusal = await ask(await open(port, '127.0.0.3'));
  expect(refusal).toContain('503 Service Unavailable');
  expect(refusal.toLowerCase()).toContain('retry-after: 5');
  expect(refusal).toContain('"code":"TOO_MANY_CONNECTIONS"');
  expect(logged[0]).toMatchObject({ event: 'gateway.connections-full', limit: 4 });
  await Promise.all(closed);
  expect(await ask(await open(port, '127.0.0.3'))).toContain('200 OK');
  held[0]?.();
  expect(await late).toContain('late');
});

test('connections of 127.0.0.1 are not counted', async () => {
  const { port } = await listen();
  for (let count = 0; count < 3 * LIMIT; count++) expect(await ask(await open(port, '127.0.0.1'))).toContain('200 OK');
});

test('connections far beyond the limit are closed at once', async () => {
  const { port } = await listen();
  const open50 = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
      sockets.push(socket);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    }),
  );
  await waitFor(() =>
    expect(open50.filter(({ readyState }) => readyState === 'closed').length).toBeGreaterThanOrEqual(50 - LIMIT - 16),
  );
});

test('a trusted proxy has any number of connections, and its clients are limited by their own addresses', async () => {
  const { port, held } = await listen([PROXY]);
  const waiting: Promise<string>[] = [];
  for (let count = 0; count < LIMIT; count++) waiting.push(ask(await open(port, PROXY), '/slow', '198.51.100.1'));
  await waitFor(() => expect(held).toHaveLength(LIMIT));
  expect(await ask(await open(port, PROXY), '/', '198.51.100.1')).toContain('503 Service Unavailable');
  expect(await ask(await open(port, PROXY), '/', '198.51.100.2')).toContain('200 OK');
  for (const release of held) release();
  for (const response of await Promise.all(waiting)) expect(response).toContain('late');
  await waitFor(async () => expect(await ask(await open(port, PROXY), '/', '198.51.100.1')).toContain('200 OK'));
});

test('a forwarding header of a client that is no trusted proxy does not change its address', async () => {
  const { port } = await listen([PROXY]);
  for (let count = 0; count < LIMIT; count++)
    expect(await ask(await open(port, '127.0.0.2'), '/', `198.51.100.${count}`)).toContain('200 OK');
  expect(await ask(await open(port, '127.0.0.2'), '/', '198.51.100.77')).toContain('503 Service Unavailable');
});
