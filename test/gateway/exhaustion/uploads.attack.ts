import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';

/** The most memory that a gateway may ever have under these attacks. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;
const ACCOUNTS = 50;
const UPLOAD_BYTES = 25 * MB;

let stage: ExhaustionStage;
let accounts: TestMailbox[];
const sockets: Socket[] = [];

beforeAll(async () => {
  stage = await openExhaustionStage('small', { messages: 1 });
  accounts = [];
  for (let at = 0; at < ACCOUNTS; at++)
    accounts.push(
      await createMailbox(stage.owner, { domain: `attacker-${at}.test`, address: `hello@attacker-${at}.test` }),
    );
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => stage?.close());

async function expectBounded(): Promise<void> {
  const peak = await stage.peakMemory();
  expect(peak, `${Math.round(peak / MB)} MB`).toBeLessThan(MAX_MEMORY);
}

/** An email with an attachment that makes its request that long. */
function makeEmail({ address }: TestMailbox, bytes: number): string {
  const email = (content: string) =>
    JSON.stringify({
      from: address,
      to: 'you@example.com',
      subject: 'Large',
      text: 'large',
      attachments: [{ filename: 'a.bin', content }],
    });
  const size = Math.floor((bytes - email('').length) / 4) * 4;
  return email('A'.repeat(size));
}

interface Upload {
  socket: Socket;
  /** the beginning of the response; null while there is none */
  head: () => string | null;
  /** Sends so many megabytes, until there is a response. */
  send: (megabytes: number) => Promise<void>;
}

/** Begins an upload of that many bytes. */
async function begin(path: string, headers: string, bytes: number): Promise<Upload> {
  const socket = connect(stage.gateway.port, '127.0.0.1');
  sockets.push(socket);
  let head: string | null = null;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    head ??= chunk.toString('latin1');
  });
  socket.on('close', () => {
    head ??= 'closed';
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  return {
    socket,
    head: () => head,
    async send(megabytes) {
      const megabyte = 'x'.repeat(MB);
      for (let at = 0; at < megabytes && head === null; at++)
        await Promise.race([
          new Promise<void>((resolve) => socket.write(megabyte, () => resolve())),
          new Promise<void>((resolve) => socket.once('data', () => resolve()).once('close', () => resolve())),
        ]);
    },
  };
}

const bearer = ({ apiKey }: TestMailbox) => `Authorization: Bearer ${apiKey}\r\n`;

test('50 accounts that begin uploads of 25 MB get 503 beyond 100 MB, and another account is served', async () => {
  const uploads: Upload[] = [];
  for (const account of accounts) uploads.push(await begin('/api/e2/emails', bearer(account), UPLOAD_BYTES));
  // 24 MB of each, until a response arrives.
  const sent = Promise.all(uploads.map((upload) => upload.send(24)));
  await expect
    .poll(() => uploads.filter(({ head }) => head() !== null).length, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(ACCOUNTS - 4);
  await sent;
  const heads = uploads.flatMap(({ head }) => head() ?? []);
  for (const head of heads) expect(head).toMatch(/^HTTP\/1\.1 (503|408)|^closed/);
  expect(heads.filter((head) => head.startsWith('HTTP/1.1 503')).length).toBeGreaterThan(0);
  expect((await stage.get(stage.other, '/emails')).status).toBe(200);
  expect((await send(stage.other, makeEmail(stage.other, 20_000))).status).toBe(200);
  await expectBounded();
});

test('50 accounts that send 14 MB at once are served or refused, and the gateway stays below 600 MiB', async () => {
  const statuses = await Promise.all(
    accounts.map(async (account) => (await send(account, makeEmail(account, 14 * MB))).status),
  );
  for (const status of statuses) expect([200, 400, 503]).toContain(status);
  await expectBounded();
});

test('uploads without a valid key are refused before they are read', async () => {
  for (const headers of ['', 'Authorization: Bearer wrong\r\n'])
    for (const path of ['/api/e2/emails', '/graphql', '/mcp', '/api/e2/emails/batch', '/api/e2/nothing', '/nothing']) {
      const uploads = await Promise.all(Array.from({ length: 8 }, () => begin(path, headers, UPLOAD_BYTES)));
      await expect.poll(() => uploads.every(({ head }) => head() !== null)).toBe(true);
      for (const { head } of uploads) expect(head()).toMatch(/^HTTP\/1\.1 (401|404|413)/);
      for (const { socket } of uploads) socket.destroy();
    }
  for (const path of ['/api/auth/sign-in/email', '/unsubscribe/x']) {
    const { head } = await begin(path, '', UPLOAD_BYTES);
    await expect.poll(head).toMatch(/^HTTP\/1\.1 4/);
  }
  await expectBounded();
});

test('a chunked body of single bytes takes about as much memory as it is long', async () => {
  const before = await stage.gateway.memory();
  const [account] = accounts;
  if (account === undefined) throw new Error('no account');
  const socket = connect(stage.gateway.port, '127.0.0.1');
  sockets.push(socket);
  let head: string | null = null;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    head ??= chunk.toString('latin1');
  });
  socket.write(
    `POST /api/e2/emails HTTP/1.1\r\nHost: localhost\r\n${bearer(account)}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunks = '1\r\n7\r\n'.repeat(100_000);
  for (let at = 0; at < 40; at++) await new Promise((resolve) => socket.write(chunks, resolve));
  socket.write('0\r\n\r\n');
  await expect.poll(() => head, { timeout: 60_000 }).toMatch(/^HTTP\/1\.1 (?:400|408)/);
  expect((await stage.gateway.memory()) - before).toBeLessThan(200 * MB);
  await expectBounded();
});

function send({ apiKey }: TestMailbox, email: string): Promise<Response> {
  return fetch(`${stage.gateway.url}/api/e2/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: email,
  });
}
