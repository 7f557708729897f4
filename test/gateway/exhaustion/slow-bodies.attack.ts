import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openScimStage, type ScimStage } from '../../support/stages/scim-stage.ts';

/*
 * Clients that send a byte of their body each second: to SCIM, which takes bodies of 1 MB, to mail and GraphQL, and to sign-in, which no one needs
 * an account for.
 */

const SLOW_CLIENTS = 50;
/** Without a limit, they would go on for hours. Bytes. */
const BODY_BYTES = 10_000;
/** Longer than the limit of a whole request takes to be noticed; milliseconds. */
const LIMIT_MS = 240_000;

let gateway: TestGateway;
let scim: ScimStage;
let apiKey: string;
let port: number;

beforeAll(async () => {
  gateway = await openTestGateway({ respondWithinMs: 10_000 });
  const box = await gateway.mailbox();
  apiKey = box.apiKey;
  scim = await openScimStage(gateway, box.workspaceId);
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  port = (gateway.app.server.address() as AddressInfo).port;
});
afterAll(() => gateway.close());

const ROUTES = {
  SCIM: () => ({ path: '/scim/v2/Users', fields: `Authorization: Bearer ${scim.token}\r\n` }),
  'an email': () => ({ path: '/api/e2/emails', fields: `Authorization: Bearer ${apiKey}\r\n` }),
  GraphQL: () => ({ path: '/graphql', fields: `Authorization: Bearer ${apiKey}\r\n` }),
  'a sign-in': () => ({ path: '/api/auth/sign-in/email', fields: '' }),
  'a sign-up': () => ({ path: '/api/auth/sign-up/email', fields: '' }),
} as const;

interface SlowClient {
  socket: Socket;
  /** what it was sent until its connection was closed */
  ended: Promise<string>;
}

async function openSlowClient(route: keyof typeof ROUTES, framing: 'declared' | 'chunked'): Promise<SlowClient> {
  const { path, fields } = ROUTES[route]();
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('error', () => undefined).on('data', (chunk) => (received += chunk.toString()));
  await once(socket, 'connect');
  const length = framing === 'declared' ? `Content-Length: ${BODY_BYTES}` : 'Transfer-Encoding: chunked';
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: postroom.test\r\n${fields}Content-Type: application/json\r\n${length}\r\n\r\n`,
  );
  const timer = setInterval(() => socket.write(framing === 'declared' ? ' ' : '1\r\n \r\n'), 1_000);
  const ended = new Promise<string>((resolve) => {
    socket.once('close', () => {
      clearInterval(timer);
      resolve(received);
    });
  });
  return { socket, ended };
}

async function signIn(email: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'not the password' }),
  });
  await response.text();
  return response.status;
}

const countTries = async () => (await gateway.owner.pool.query('select from auth_rate_limit')).rows.length;

test.each(Object.keys(ROUTES) as (keyof typeof ROUTES)[])(
  '50 slow bodies of %s end, are counted as nothing, and delay no one',
  { timeout: LIMIT_MS },
  async (route) => {
    const before = await countTries();
    const clients = await Promise.all(
      Array.from({ length: SLOW_CLIENTS }, (_each, at) => openSlowClient(route, at % 2 === 0 ? 'declared' : 'chunked')),
    );
    const users = await fetch(`http://127.0.0.1:${port}/scim/v2/Users`, {
      headers: { authorization: `Bearer ${scim.token}` },
    });
    expect([users.status, typeof (await users.json())]).toEqual([200, 'object']);
    const email = `${route.replaceAll(' ', '-')}@staff.test`.toLowerCase();
    expect(await signIn(email)).toBe(401);
    expect(await countTries(), 'attempts').toBeGreaterThan(before);
    const counted = await countTries();
    expect(
      clients.filter(({ socket }) => !socket.destroyed),
      'still open',
    ).not.toEqual([]);
    for (const { ended } of clients) {
      const [head = ''] = (await ended).toLowerCase().split('\r\n\r\n');
      expect(head).toMatch(/^http\/1\.1 (?:408|503) [^]*\r\nconnection: close/);
      // Without it, the response is that of Node, whose limit for a whole request is 55 s.
      expect(head).toContain('x-request-id');
    }
    expect(await countTries(), 'attempts').toBe(counted);
  },
);
