import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createInProcessBus, type InProcessBus } from '../../../actors/bus/in-process.ts';
import { connectSocketBus, type SocketBusServer, serveSocketBus } from '../../../actors/bus/socket.ts';
import { type Bus, BusTimeout, BusUnavailable } from '../../../schema/messages.ts';
import { waitFor } from '../../support/wait-for.ts';
import { accepted, connected, question, settle, silent } from './transports.ts';

let directory: string;
let socketPath: string;
let local: InProcessBus;
let server: SocketBusServer;
const clients: Bus[] = [];

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-bus-'));
  socketPath = path.join(directory, 'bus');
  local = createInProcessBus({ log: silent });
  server = await serveSocketBus({ path: socketPath, bus: local, log: silent });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

function client(): Bus {
  const opened = connectSocketBus({ path: socketPath, log: silent });
  clients.push(opened);
  return opened;
}

test('the socket can be opened by its own user only', async () => {
  expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
});

test('a socket that a killed process left is replaced', async () => {
  await server.close();
  await writeFile(socketPath, '');
  server = await serveSocketBus({ path: socketPath, bus: local, log: silent });
  const asker = client();
  await connected(asker);
});

test('the socket is removed when it is closed', async () => {
  await server.close();
  await expect(stat(socketPath)).rejects.toThrow('ENOENT');
});

test.each([
  ['a length beyond all messages', Buffer.from('7fffffff00000002', 'hex')],
  ['a head longer than its frame', Buffer.from('0000000200000009', 'hex')],
  ['a head that is no JSON', Buffer.from('0000000200000002787b', 'hex')],
  ['a head of unknown form', Buffer.from('00000002000000027b7d', 'hex')],
])('a client that sends %s is disconnected, others are not', async (_what, bytes) => {
  const asker = client();
  await connected(asker);
  const foreign = createConnection(socketPath);
  foreign.on('error', () => undefined);
  foreign.write(bytes);
  await once(foreign, 'close');
  local.serve('receiving.message.accept', async () => accepted('em_1'));
  expect(await asker.ask('receiving.message.accept', question)).toEqual(accepted('em_1'));
});

test('frames that the stream splits at any byte are joined again', async () => {
  const heard: string[] = [];
  local.onWake('receiving.parse.wake', ({ emailIds }) => void heard.push(...emailIds));
  const foreign = createConnection(socketPath);
  await once(foreign, 'connect');
  foreign.setNoDelay(true);
  const frames = Buffer.concat(['em_1', 'em_2', 'em_3'].map((id) => wakeFrame(id)));
  for (const byte of frames) {
    foreign.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await waitFor(() => expect(heard).toEqual(['em_1', 'em_2', 'em_3']));
  foreign.destroy();
});

test('a payload larger than one read from the socket arrives whole, in its own buffer', async () => {
  const sent = Buffer.alloc(1_000_000, 'A line of mail.\r\n');
  local.serve('receiving.message.accept', async (_request, bytes) => {
    expect(Buffer.compare(bytes, sent)).toBe(0);
    return accepted(`em_${bytes.buffer.byteLength}`);
  });
  const asker = client();
  await connected(asker);
  expect(await asker.ask('receiving.message.accept', question, { bytes: sent })).toEqual(accepted('em_1000000'));
});

function wakeFrame(emailId: string): Buffer {
  const message = { workspaceId: 'usr_1', emailIds: [emailId] };
  const head = Buffer.from(JSON.stringify({ op: 'wake', subject: 'receiving.parse.wake', message }));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(head.byteLength, 0);
  lengths.writeUInt32BE(head.byteLength, 4);
  return Buffer.concat([lengths, head]);
}

test('a member whose client disconnects gets no more questions, and those in progress fail at once', async () => {
  const member = client();
  await connected(member);
  const isAsked = Promise.withResolvers<void>();
  member.serve('receiving.message.accept', () => {
    isAsked.resolve();
    return new Promise(() => undefined);
  });
  await settle(member);
  const asked = local.ask('receiving.message.accept', question).catch((error: unknown) => error);
  await isAsked.promise;
  await member.close();
  expect(await asked).toBeInstanceOf(BusUnavailable);
  await expect(local.ask('receiving.message.accept', question)).rejects.toBeInstanceOf(BusUnavailable);
});

test('questions that the server did not read within their time limit are not served later', async () => {
  // The client is a process of its own; this one, the server, is then held up by busy work.
  const served: string[] = [];
  local.serve('receiving.message.accept', async (request) => {
    served.push(request.helo);
    return accepted(request.helo);
  });
  const mayAsk = `${socketPath}.may-ask`;
  const givenUp = `${socketPath}.given-up`;
  const script = `
    import { existsSync, writeFileSync } from 'node:fs';
    import { connectSocketBus } from ${JSON.stringify(path.resolve('actors/bus/socket.ts'))};
    const log = { info() {}, warn() {}, error() {} };
    const bus = connectSocketBus({ path: ${JSON.stringify(socketPath)}, log });
    const question = ${JSON.stringify(question)};
    const ask = (helo, limitMs) =>
      bus.ask('receiving.message.accept', { ...question, helo }, { limitMs }).then(() => 'answered', (error) => error.name);
    while (!bus.isConnected()) await new Promise((resolve) => setTimeout(resolve, 10));
    await ask('before', 5000);
    process.stdout.write('ready\\n');
    while (!existsSync(${JSON.stringify(mayAsk)})) await new Promise((resolve) => setTimeout(resolve, 10));
    const outcome = await ask('during', 200);
    writeFileSync(${JSON.stringify(givenUp)}, outcome);
    await ask('after', 10000);
    process.stdout.write(outcome + '\\n');
    await bus.close();
    process.exit(0);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data: Buffer) => {
    said += data.toString();
  });
  await waitFor(() => expect(said).toContain('ready'));
  // From here until the client gave up, the event loop does not turn: no question can be read in its time.
  writeFileSync(mayAsk, '');
  while (!existsSync(givenUp)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  await once(child, 'exit');
  expect(said).toBe(`ready\n${BusTimeout.name}\n`);
  expect(served).toEqual(['before', 'after']);
});

test('the time that a question waited for room in flight counts towards its time limit', async () => {
  await server.close();
  const limits: (number | undefined)[] = [];
  const bus: InProcessBus = {
    ...local,
    ask(subject, request, options) {
      limits.push(options?.limitMs);
      return local.ask(subject, request, options);
    },
  };
  server = await serveSocketBus({ path: socketPath, bus, log: silent });
  const full = Promise.withResolvers<void>();
  local.serve('receiving.message.accept', async (request) => {
    if (request.helo === 'large') await full.promise;
    return accepted(request.helo);
  });
  const asker = client();
  await connected(asker);
  const ask = (helo: string, count: number) =>
    asker.ask('receiving.message.accept', { ...question, helo }, { bytes: Buffer.alloc(count), limitMs: 60_000 });
  const large = [ask('large', 16_000_000), ask('large', 4_000_000)];
  await waitFor(() => expect(limits).toHaveLength(2));
  const late = ask('late', 1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  full.resolve();
  await Promise.all([...large, late]);
  expect(limits).toHaveLength(3);
  expect(limits[2]).toBeLessThan(59_600);
});

test('a client starts without a running server', async () => {
  await server.close();
  const asker = client();
  await expect(asker.ask('receiving.message.accept', question)).rejects.toBeInstanceOf(BusUnavailable);
  server = await serveSocketBus({ path: socketPath, bus: local, log: silent });
  local.serve('receiving.message.accept', async () => accepted('em_1'));
  await connected(asker);
  expect(await asker.ask('receiving.message.accept', question)).toEqual(accepted('em_1'));
});
