import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import { connectNatsBus } from '../../../actors/bus/nats.ts';
import { serveSocketBus } from '../../../actors/bus/socket.ts';
import { measured } from '../../../actors/bus/transport.ts';
import { SOCKET_PATH_LIMIT } from '../../../db/cluster/embedded-cluster.ts';
import type { Bus } from '../../../schema/messages.ts';
import { measureConnection } from '../monitoring/measure-connections.ts';

/** Opens NATS if it is configured, or else the bus within this process. `name` appears in the NATS server's monitoring. */
export function openBus(natsUrl: string | null, name: string, log: Logger): Bus {
  const bus = measured(natsUrl === null ? createInProcessBus({ log }) : connectNatsBus({ url: natsUrl, name, log }));
  measureConnection(bus, natsUrl === null ? 'in-process' : 'nats');
  return bus;
}

export interface BusDoor {
  /** path of the Unix socket, for child processes */
  path: string;
  close(): Promise<void>;
}

/**
 * Serves the bus of this process to its children over a Unix socket (0600): in the data directory or, if there is none or its path is too
 * long for a socket, in a new temporary folder.
 */
export async function openBusDoor(heldDirectory: string | null, bus: Bus, log: Logger): Promise<BusDoor> {
  const inside = heldDirectory === null ? null : path.join(heldDirectory, FILE_NAME);
  if (inside !== null && Buffer.byteLength(inside) <= SOCKET_PATH_LIMIT) {
    const server = await serveSocketBus({ path: inside, bus, log });
    return { path: inside, close: () => server.close() };
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-'));
  const server = await serveSocketBus({ path: path.join(folder, FILE_NAME), bus, log });
  return {
    path: path.join(folder, FILE_NAME),
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const FILE_NAME = 'bus.socket';
