import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SOCKET_PATH_LIMIT } from '../../../db/cluster/embedded-cluster.ts';

/** A place for the Unix socket of the bus. */
export interface SocketLocation {
  path: string;
  remove(): Promise<void>;
}

/** Returns a path in the data directory or, if there is none or its path is too long for a socket, in a new temporary folder. */
export async function findSocketLocation(directory: string | null): Promise<SocketLocation> {
  const inside = directory === null ? null : path.join(directory, FILE_NAME);
  if (inside !== null && Buffer.byteLength(inside) <= SOCKET_PATH_LIMIT)
    return { path: inside, remove: () => Promise.resolve() };
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-'));
  return { path: path.join(folder, FILE_NAME), remove: () => rm(folder, { recursive: true, force: true }) };
}

const FILE_NAME = 'bus.socket';
