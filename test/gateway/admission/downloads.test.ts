import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { limitDownloads, MAX_DOWNLOADS_IN_FLIGHT } from '../../../gateway/admission/downloads.ts';
import { sendError } from '../../../gateway/http/error-response.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

/** More than the buffers of two sockets take; eight of them have room. */
const LARGE = 6_000_000;

const sockets: Socket[] = [];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const close of closing.splice(0)) await close();
});

async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as { port: number }).port;
}

/** Asks for a download, and reads no more than its beginning. */
async function hold(port: number, path: string, header: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  expect(chunk.toString('latin1')).toContain('200 OK');
  socket.pause();
  return socket;
}

test('limits the unread downloads of one user, who continues afterwards, and not those of others', async () => {
  const gateway = await openTestGateway();
  closing.push(() => gateway.close());
  const [box, other] = [await gateway.mailbox(), await gateway.mailbox()];
  const [large = ''] = await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, raw: Buffer.alloc(LARGE, 'x') },
  ]);
  const [small = ''] = await insertMail(gateway.actor, [
    { workspaceId: other.workspaceId, raw: Buffer.from('Subject: x\r\n\r\n') },
  ]);
  const port = await listen(gateway.app);
  const path = `/api/e2/emails/${large}/raw`;
  for (let count = 0; count < MAX_DOWNLOADS_IN_FLIGHT; count++)
    await hold(port, path, `Authorization: Bearer ${box.apiKey}`);

  const refused = await gateway.call(box.apiKey, 'GET', `/emails/${large}/raw`);
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['retry-after']).toBe('1');
  expect((await gateway.call(box.apiKey, 'GET', `/attachments/${large}/parts/0`)).statusCode).toBe(429);
  expect((await gateway.call(box.apiKey, 'GET', '/emails')).statusCode).toBe(200);
  expect((await gateway.call(other.apiKey, 'GET', `/emails/${small}/raw`)).statusCode).toBe(200);

  sockets.pop()?.destroy();
  await waitFor(async () =>
    expect((await gateway.call(box.apiKey, 'GET', `/emails/${large}/raw`)).statusCode).toBe(200),
  );
});

test('a receiver that stops reading is disconnected', async () => {
  const app = Fastify();
  closing.push(() => app.close());
  app.setErrorHandler(sendError);
  app.decorateRequest('workspaceId', '');
  limitDownloads(app, { most: 1, stalledMs: 300 });
  app.get('/file', { config: { isDownload: true } }, async (_request, reply) => reply.send(Buffer.alloc(LARGE)));
  const port = await listen(app);
  await hold(port, '/file', 'X: y');
  expect((await fetch(`http://127.0.0.1:${port}/file`)).status).toBe(429);
  await waitFor(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/file`);
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  });
});
