import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { limitResponses } from '../../../gateway/admission/limit-responses.ts';
import { countResponseBytes, type ResponseBytes } from '../../../gateway/admission/response-bytes.ts';
import { sendError } from '../../../gateway/http/error-response.ts';
import { waitFor } from '../../support/wait-for.ts';

/** More than the buffers of two sockets take. */
const LARGE = 20_000_000;

let app: FastifyInstance;
let port: number;
let bytes: ResponseBytes;
let ended = 0;
/** times that the JSON of a response was made */
let written = 0;
const sockets: Socket[] = [];

/** A client that does not read for that long is disconnected; milliseconds. */
const SOON = 150;
const LATE = 600_000;

async function start(windowMs: number): Promise<void> {
  ended = 0;
  written = 0;
  bytes = countResponseBytes({ perAccount: 50_000_000, perProcess: 90_000_000 });
  app = Fastify();
  app.setErrorHandler(sendError);
  app.decorateRequest('workspaceId', '');
  app.addHook('onRequest', async (request) => {
    request.workspaceId = String(request.headers['x-user'] ?? 'usr_a');
  });
  limitResponses(app, bytes, { windowMs, leastBytes: 65_536 });
  app.get('/text', async () => 'x'.repeat(LARGE));
  app.get('/bytes', async () => Buffer.alloc(LARGE));
  app.get('/stream', async (_request, reply) => {
    async function* forever() {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        ended++;
      }
    }
    return reply.send(Readable.from(forever(), { objectMode: false }));
  });
  app.get('/quiet', async (_request, reply) => {
    const stream = new Readable({ read: () => undefined });
    stream.push('begun');
    return reply.send(stream);
  });
  app.get('/fails', async (request) => {
    request.room?.take(40_000_000);
    throw new Error('broken');
  });
  app.get('/left', async (request, reply) => {
    request.room?.take(40_000_000);
    await once(reply.raw, 'close');
    return { toJSON: () => void written++ };
  });
  app.get('/taken', async (request) => {
    request.room?.take(40_000_000);
    return { isTaken: true };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await waitFor(() => expect(bytes.count()).toBe(0));
  app.server.closeAllConnections();
  await app.close();
});

async function hold(path: string, user = 'usr_a'): Promise<{ socket: Socket; head: string }> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-User: ${user}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return { socket, head: chunk.toString('latin1') };
}

test.each(['/text', '/bytes'])(
  'disconnects the client of %s that does not read, and releases its room',
  async (path) => {
    await start(SOON);
    const { socket } = await hold(path);
    expect(bytes.count('usr_a')).toBe(LARGE);
    await waitFor(() => expect(bytes.count()).toBe(0));
    socket.resume();
    await once(socket, 'close');
  },
);

test('disconnects the client of a stream that does not read, and ends the stream', async () => {
  await start(SOON);
  await hold('/stream');
  await waitFor(() => expect(ended).toBe(1));
});

test('keeps the client of a stream that has nothing to send', async () => {
  await start(SOON);
  const { socket } = await hold('/quiet');
  await hold('/stream');
  await waitFor(() => expect(ended).toBe(1));
  await hold('/stream');
  await waitFor(() => expect(ended).toBe(2));
  expect(socket.closed).toBe(false);
});

test('sends everything to a client that reads', async () => {
  await start(LATE);
  const response = await fetch(`http://127.0.0.1:${port}/text`);
  expect((await response.text()).length).toBe(LARGE);
});

test('refuses requests beyond the room of an account, and then of the process', async () => {
  await start(LATE);
  for (const user of ['usr_a', 'usr_a', 'usr_b', 'usr_b']) expect((await hold('/text', user)).head).toContain('200 OK');
  const ownFull = (await hold('/text', 'usr_a')).head;
  expect(ownFull).toContain('503 Service Unavailable');
  expect(ownFull).toContain('of this account');
  expect((await hold('/text', 'usr_c')).head).toContain('Too many large responses are in progress');
  expect((await hold('/fails', 'usr_c')).head).toContain('503 Service Unavailable');
});

test('releases room after an error, and after a small response', async () => {
  await start(LATE);
  for (let round = 0; round < 3; round++) {
    expect((await fetch(`http://127.0.0.1:${port}/fails`)).status).toBe(500);
    expect(await (await fetch(`http://127.0.0.1:${port}/taken`)).json()).toEqual({ isTaken: true });
    await waitFor(() => expect(bytes.count()).toBe(0));
  }
});

test('no JSON is made for a client that has disconnected since its response was loaded', async () => {
  await start(LATE);
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write('GET /left HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await waitFor(() => expect(bytes.count()).toBe(40_000_000));
  socket.destroy();
  await waitFor(() => expect(bytes.count()).toBe(0));
  // The next request is handled after the response of the first one.
  expect((await fetch(`http://127.0.0.1:${port}/taken`)).status).toBe(200);
  expect(written).toBe(0);
});
