import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { handleInOrder, MAX_DROPPED, MAX_PIPELINED } from '../../../gateway/http/pipelined-requests.ts';
import { waitFor } from '../../support/wait-for.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen() {
  const app = Fastify();
  const state = { begun: 0, inProgress: 0, most: 0 };
  handleInOrder(app);
  app.post('/:number', async (request) => {
    state.begun++;
    state.inProgress++;
    state.most = Math.max(state.most, state.inProgress);
    await new Promise((resolve) => setImmediate(resolve));
    state.inProgress--;
    return { number: (request.params as { number: string }).number, body: request.body };
  });
  app.get('/held', (_request, reply) => void closing.unshift(() => reply.raw.destroy()));
  app.get('/', async () => 'served');
  await app.listen({ host: '127.0.0.1', port: 0 });
  closing.push(() => {
    app.server.closeAllConnections();
    return app.close();
  });
  const { port } = app.server.address() as { port: number };
  return { port, state };
}

async function open(port: number): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(port, '127.0.0.1');
  closing.unshift(() => socket.destroy());
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(socket, 'connect');
  return { socket, text: () => text };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (number: number) =>
  `POST /${number} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n${String(number).padStart(4, ' ')}`;

test('requests that one connection sends together are handled one after another, in their order, with their bodies', async () => {
  const { port, state } = await listen();
  const { socket, text } = await open(port);
  const numbers = Array.from({ length: MAX_PIPELINED + 1 }, (_, at) => at);
  socket.write(numbers.map(post).join(''));
  await waitFor(() => expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(numbers.length));
  expect([...text().matchAll(/{"number":"(\d+)","body":\1}/g)].map(([, number]) => Number(number))).toEqual(numbers);
  expect(state.most).toBe(1);
  socket.write(post(7));
  await waitFor(() => expect(state.begun).toBe(numbers.length + 1));
});

test('a connection with too many requests is closed behind the last of those that wait', async () => {
  const { port, state } = await listen();
  const { socket, text } = await open(port);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(Array.from({ length: MAX_PIPELINED + 20 }, (_, at) => post(at)).join(''));
  await closed;
  expect(state.begun).toBe(MAX_PIPELINED + 1);
  expect(text().match(/"number":"\d+"/g)).toHaveLength(MAX_PIPELINED + 1);
});

test('a connection with far too many requests behind one that takes long is closed at once, and another one is served', async () => {
  const { port, state } = await listen();
  const { socket, text } = await open(port);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(get('/held') + Array.from({ length: MAX_PIPELINED + MAX_DROPPED + 1 }, (_, at) => post(at)).join(''));
  await closed;
  expect([state.begun, text()]).toEqual([0, '']);
  const other = await open(port);
  other.socket.write(get('/') + get('/'));
  await waitFor(() => expect(other.text().match(/served/g)).toHaveLength(2));
});
