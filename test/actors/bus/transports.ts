import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import { connectNatsBus } from '../../../actors/bus/nats.ts';
import { connectSocketBus, serveSocketBus } from '../../../actors/bus/socket.ts';
import { createTwoProcessBus } from '../../../actors/bus/two-process.ts';
import type { Bus, Reply, Request } from '../../../schema/messages.ts';
import { startNatsServer } from '../../support/servers/nats.ts';
import { waitFor } from '../../support/wait-for.ts';

/** One transport set up for a test: an asker and two places that can serve it. */
export interface Site {
  asker: Bus;
  /** two members of each queue group; the same bus twice where there is only one */
  servers: readonly [Bus, Bus];
  /** takes the connection of the asker away and gives it back; absent where there is none to lose */
  takeAway?: () => Promise<void>;
  giveBack?: () => Promise<void>;
  close(): Promise<void>;
}

export const silent = pino({ level: 'silent' });

export const transports: { transport: string; open: () => Promise<Site> }[] = [
  { transport: 'in-process', open: openInProcess },
  { transport: 'socket', open: openSocket },
  { transport: 'two-process', open: openTwoProcess },
  { transport: 'nats', open: openNats },
];

export const question: Request<'receiving.message.accept'> = {
  reversePath: 'ann@sender.test',
  recipients: [
    {
      recipient: 'bob@inbox.test',
      workspaceId: 'usr_1',
      addressId: null,
      domainId: 'dom_1',
      ownAddress: 'bob@inbox.test',
    },
  ],
  remoteAddress: '127.0.0.1',
  helo: 'sender.test',
  isTls: false,
  traceFields: 'Received: from sender.test\r\n',
};

export function accepted(...emailIds: string[]): Reply<'receiving.message.accept'> {
  return { verdict: 'accepted', emailIds };
}

/** Returns when all that these buses said before has reached the middle: a round trip on the same connection. */
export async function settle(...buses: Bus[]): Promise<void> {
  for (const bus of buses) await bus.ask('receiving.capacity.check', {}, { limitMs: 5_000 }).catch(() => undefined);
}

export async function connected(...buses: Bus[]): Promise<void> {
  for (const bus of buses) await waitFor(() => expectConnected(bus));
}

function expectConnected(bus: Bus): void {
  if (!bus.isConnected()) throw new Error('not connected');
}

async function openInProcess(): Promise<Site> {
  const bus = createInProcessBus({ log: silent });
  return { asker: bus, servers: [bus, bus], close: () => bus.close() };
}

async function openSocket(): Promise<Site> {
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bus-'));
  const options = { path: path.join(directory, 'bus'), log: silent };
  const local = createInProcessBus({ log: silent });
  let server = await serveSocketBus({ ...options, bus: local });
  const asker = connectSocketBus(options);
  const second = connectSocketBus(options);
  await connected(asker, second);
  return {
    asker,
    servers: [local, second],
    takeAway: () => server.close(),
    async giveBack() {
      server = await serveSocketBus({ ...options, bus: local });
    },
    async close() {
      await Promise.all([asker.close(), second.close()]);
      await server.close();
      await local.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function openTwoProcess(): Promise<Site> {
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bus-'));
  const options = { path: path.join(directory, 'bus'), log: silent };
  const local = createInProcessBus({ log: silent });
  let server = await serveSocketBus({ ...options, bus: local });
  const asker = createTwoProcessBus(options);
  await connected(asker);
  return {
    asker,
    servers: [local, local],
    takeAway: () => server.close(),
    async giveBack() {
      server = await serveSocketBus({ ...options, bus: local });
    },
    async close() {
      await asker.close();
      await server.close();
      await local.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function openNats(): Promise<Site> {
  const server = await startNatsServer();
  const connect = (name: string) => connectNatsBus({ url: server.url, log: silent, name });
  const [asker, first, second] = [connect('asker'), connect('first'), connect('second')];
  await connected(asker, first, second);
  return {
    asker,
    servers: [first, second],
    takeAway: () => server.stop(),
    giveBack: () => server.start(),
    async close() {
      await Promise.all([asker.close(), first.close(), second.close()]);
      await server.close();
    },
  };
}
