import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openSession } from '../../../actors/sending/open-session.ts';
import { directRoute } from '../../../actors/sending/resolve-destination.ts';

const LIMITS = { connectMs: 60_000, openingMs: 60_000, greetingMs: 60_000, envelopeMs: 60_000, messageMs: 60_000 };
const server = createServer();
afterEach(() => {
  server.removeAllListeners('connection');
  server.close();
});

/** Says these replies one after another, the next one whenever something came in, and reads no more after the last one. */
function respond(socket: Socket, replies: string[]): void {
  socket.on('error', () => undefined);
  socket.write('220 mx.test ESMTP\r\n');
  socket.on('data', () => {
    const reply = replies.shift();
    if (replies.length === 0) socket.pause();
    if (reply !== undefined) socket.write(`${reply}\r\n`);
  });
}

test.each(['552 5.3.4 enough', '250 2.0.0 enough'])(
  'a session ends when the server replies %s within the message, so that the rest is not read as commands',
  async (last) => {
    server.on('connection', (socket) =>
      respond(socket, ['250 mx.test', '250 sender', '250 recipient', '354 go', last]),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const hosts = [{ name: 'mx.test', addresses: ['127.0.0.1'] }];
    const signal = new AbortController().signal;
    const opened = await openSession(
      { ehloName: 'out.test', limits: LIMITS, secureContext: null },
      directRoute(hosts, port),
      signal,
    );
    if (!('session' in opened)) throw new Error(opened.failure.text);
    const { session } = opened;
    const bytes = Buffer.from(`Subject: long\r\n\r\n${'RSET\r\n'.repeat(5_000_000)}`);
    const report = await session.send({ from: 'a@out.test', to: ['ann@mx.test'] }, bytes);
    expect(report.end).toMatchObject({ reply: { code: Number(last.slice(0, 3)), text: 'enough' } });
    expect(session.isUsable).toBe(false);
  },
);
