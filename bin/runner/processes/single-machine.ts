import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  type DataDirectoryLock,
  keepSecrets,
  lockDataDirectory,
  makeDataDirectory,
  type RunRecord,
  readRunRecord,
  type Secrets,
  writeRunRecord,
} from '../../../db/cluster/data-directory.ts';
import {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  holdsCluster,
  PortTakenError,
  SOCKET_PATH_LIMIT,
  startEmbeddedCluster,
} from '../../../db/cluster/embedded-cluster.ts';
import { findNativePostgresql, isReachableBy, OPEN_DIRECTORY } from '../../../db/cluster/native-postgresql.ts';
import {
  type ClusterReports,
  type ClusterSupervision,
  superviseCluster,
} from '../../../db/cluster/supervise-cluster.ts';
import { chooseSharedBuffers, machineMemoryBytes } from './machine-memory.ts';

/** The locked data directory with its running PostgreSQL. */
export interface SingleMachine {
  /** real path of DATA_DIR */
  directory: string;
  /** the folder of PostgreSQL's files: in DATA_DIR, or outside if PostgreSQL's user cannot access it */
  clusterDirectory: string;
  secrets: Secrets;
  /** connection string of the database, over the fastest transport */
  databaseUrl: string;
  /** Writes to run.json that the service is running, or, with null, that it is not. */
  announce(service: { httpUrl: string; smtpAddress: string } | null): Promise<void>;
  /** Starts PostgreSQL again whenever it ends, from now on. */
  supervise(reports: ClusterReports): void;
  /** Stops PostgreSQL and then releases the lock. */
  close(): Promise<void>;
}

export interface SingleMachineOptions {
  dataDirectory: string;
  /** name of this program in `bin`, for other programs that want the lock; `start` keeps running, all others end soon */
  program: string;
  /** receives one line for the operator */
  tell: (line: string) => void;
  /** called once the lock is held, before PostgreSQL starts */
  onLocked?: () => void;
  /** called while another program holds the lock; true ends the wait with null */
  isServedElsewhere?: () => Promise<boolean>;
}

/** Another program uses the data directory. */
export class DataDirectoryTaken extends Error {
  override name = 'DataDirectoryTaken';
}

/**
 * Locks DATA_DIR, starts or takes over its PostgreSQL, and creates the database. Waits for programs that end soon. Returns null if
 * `isServedElsewhere` returns true. Throws DataDirectoryTaken if another service keeps the lock.
 */
export async function openSingleMachine(options: SingleMachineOptions): Promise<SingleMachine | null> {
  const directory = await makeDataDirectory(options.dataDirectory);
  const lock = await takeLock(directory, options);
  if (lock === null) return null;
  options.onLocked?.();
  let cluster: EmbeddedCluster | null = null;
  let supervision: ClusterSupervision | null = null;
  try {
    const secrets = await keepSecrets(directory);
    const place = await findClusterFolder(directory, secrets, options.tell);
    const started = await startCluster(directory, place, secrets);
    cluster = started;
    await createDatabase(started.url);
    const address = { databasePort: started.port, socketDirectory: started.socketDirectory };
    await writeRunRecord(directory, { ...address, pid: null, httpUrl: null, smtpAddress: null });
    return {
      directory,
      clusterDirectory: place,
      secrets,
      databaseUrl: makeDatabaseUrl(secrets, address),
      announce: (service) =>
        writeRunRecord(directory, {
          ...address,
          pid: service === null ? null : process.pid,
          httpUrl: service?.httpUrl ?? null,
          smtpAddress: service?.smtpAddress ?? null,
        }),
      supervise(reports) {
        const { port, socketDirectory } = started;
        const socket = socketDirectory === null ? {} : { socketDirectory };
        supervision ??= superviseCluster({ ...clusterOptions(place, secrets), port, ...socket }, reports);
      },
      async close() {
        await supervision?.stop();
        await started.stop();
        await lock.release();
      },
    };
  } catch (error) {
    await cluster?.stop().catch(() => undefined);
    await lock.release();
    throw error;
  }
}

/** Returns the connection string of the database `postroom`: over the Unix socket if there is one (12 % faster), otherwise over TCP. */
export function makeDatabaseUrl(secrets: Secrets, place: Pick<RunRecord, 'databasePort' | 'socketDirectory'>): string {
  const host = place.socketDirectory === null ? '127.0.0.1' : encodeURIComponent(place.socketDirectory);
  return `postgresql://postroom:${secrets.databasePassword}@${host}:${place.databasePort}/${DATABASE_NAME}`;
}

/** Name of the database in our own cluster. */
export const DATABASE_NAME = 'postroom';

/** How long to wait for a service that is stopping, and for a program that ends soon. Seconds. */
const PATIENCE_SECONDS = { service: 3, program: 90 };

/** Settings of our own cluster that differ from PostgreSQL's defaults (fsync, full_page_writes and synchronous_commit stay on). */
export const CLUSTER_SETTINGS = {
  max_connections: '60',
  shared_buffers: chooseSharedBuffers(machineMemoryBytes()),
  // Every statement here is short, and compiling one costs more than it saves.
  jit: 'off',
  max_wal_size: '2GB',
  // Four processes that would have nothing to do: statements read few pages, and nothing subscribes to this server.
  io_method: 'sync',
  max_logical_replication_workers: '0',
  // Each commit writes what it logged, so a part of a megabyte waits at a time. By default 1/32 of the shared buffers, all of it touched in turn.
  wal_buffers: '1MB',
  log_timezone: 'UTC',
};

async function takeLock(directory: string, options: SingleMachineOptions): Promise<DataDirectoryLock | null> {
  const since = Date.now();
  for (;;) {
    const { lock, holder } = await lockDataDirectory(directory, options.program);
    if (lock !== null) return lock;
    if (await options.isServedElsewhere?.()) return null;
    const isService = holder.program === 'start' && options.program === 'start';
    const patience = isService ? PATIENCE_SECONDS.service : PATIENCE_SECONDS.program;
    if (Date.now() - since > patience * 1000) {
      const who = holder.program === 'start' ? 'another Postroom' : `bin/${holder.program}.ts`;
      throw new DataDirectoryTaken(`DATA_DIR ${directory} is in use by ${who} (pid ${holder.pid})`);
    }
    await sleep(200);
  }
}

/** Ports that a start tries. */
const MAX_PORTS = 10;

async function startCluster(directory: string, place: string, secrets: Secrets): Promise<EmbeddedCluster> {
  const known = (await readRunRecord(directory))?.databasePort ?? null;
  return startOnFreePort(known, (port) => {
    const socketDirectory = `${place}.socket`;
    const hasSocket = Buffer.byteLength(path.join(socketDirectory, `.s.PGSQL.${port}`)) <= SOCKET_PATH_LIMIT;
    return startEmbeddedCluster({
      ...clusterOptions(place, secrets),
      port,
      ...(hasSocket ? { socketDirectory } : {}),
    });
  });
}

/**
 * Starts a cluster on the preferred port of 127.0.0.1, or on another one if that is taken. A port that was free a moment ago may be taken, too:
 * by a server, or by any outgoing connection.
 */
export async function startOnFreePort(
  preferred: number | null,
  start: (port: number) => Promise<EmbeddedCluster>,
): Promise<EmbeddedCluster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(attempt === 1 && preferred !== null ? preferred : await freePort());
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === MAX_PORTS) throw error;
    }
  }
}

function clusterOptions(place: string, secrets: Secrets): Omit<EmbeddedClusterOptions, 'port'> {
  return { directory: place, password: secrets.databasePassword, settings: CLUSTER_SETTINGS };
}

/**
 * Returns the folder of the cluster: in DATA_DIR or, if the system user that runs PostgreSQL cannot access it (a clone in a 0700 home
 * directory), in a separate folder whose name the secrets record. An existing cluster takes precedence over the place for a new one.
 */
export async function findClusterFolder(
  directory: string,
  secrets: Secrets,
  tell: (line: string) => void,
): Promise<string> {
  const inside = path.join(directory, 'postgresql');
  const { user } = await findNativePostgresql();
  if (user === null) return inside;
  const hash = createHash('sha256').update(secrets.databasePassword).digest('hex').slice(0, 16);
  const outside = path.join(OPEN_DIRECTORY, hash, 'postgresql');
  const isOpen = await isReachableBy(user, directory);
  if (await holdsCluster(inside)) {
    if (isOpen) return inside;
    throw new Error(
      `The system user ${user.name}, who runs PostgreSQL, cannot access ${inside}. Grant access to its parent folders`,
    );
  }
  if (isOpen && !(await holdsCluster(outside))) return inside;
  await mkdir(path.dirname(outside), { recursive: true, mode: 0o755 });
  tell(`PostgreSQL data is in ${outside} because the system user ${user.name} cannot access ${directory}`);
  return outside;
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE_NAME]);
    if (rowCount === 0) await client.query(`create database ${DATABASE_NAME}`);
  } finally {
    await client.end();
  }
}

/** Returns a TCP port of 127.0.0.1 that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
