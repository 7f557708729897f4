import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { findNativePostgresql } from '../../../db/cluster/native-postgresql.ts';
import { readPostmaster } from '../../../db/cluster/postmaster.ts';
import { queryOnce } from '../cluster/cluster.ts';

const run = promisify(execFile);

/** The process id of the server on the data directory. Throws when none runs. */
export async function findPostmaster(directory: string): Promise<number> {
  const server = await readPostmaster(directory);
  if (server === null) throw new Error(`no server runs on ${directory}`);
  return server.pid;
}

/** Restarts the server as an operator does. Resolves when it accepts connections, whoever started it. */
export async function restartFast(directory: string): Promise<void> {
  const { pgCtl, user } = await findNativePostgresql();
  const before = await findPostmaster(directory);
  const identity = user === null ? {} : { uid: user.uid, gid: user.gid };
  const options = { ...identity, env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' }, cwd: '/' };
  const failure = await run(pgCtl, ['-D', directory, '-m', 'fast', '-w', 'restart', '-l', '/dev/null'], options).then(
    () => null,
    (error: Error) => error,
  );
  // The supervision may have been quicker; then the second server of pg_ctl ended at once.
  const after = await readPostmaster(directory);
  if (failure !== null && (after === null || after.pid === before)) throw failure;
}

/** Stops the process that writes the WAL of asynchronous commits in the background; it ends with its server. */
export async function pauseWalWriter(ownerUrl: string): Promise<void> {
  const rows = await queryOnce<{ pid: number }>(
    ownerUrl,
    `select pid from pg_stat_activity where backend_type = 'walwriter'`,
  );
  process.kill(rows[0]?.pid ?? 0, 'SIGSTOP');
}

/** Takes every connection that the server has, the service's too. Returns what gives them back. */
export async function takeAllConnections(ownerUrl: string): Promise<() => Promise<void>> {
  const [setting] = await queryOnce<{ max: number }>(ownerUrl, `select current_setting('max_connections')::int as max`);
  const max = setting?.max ?? 0;
  const held = new Map<number, pg.Client>();
  const open = async () => {
    const client = new pg.Client({ connectionString: ownerUrl });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    held.set(rows[0]?.pid ?? 0, client);
    return client;
  };
  const first = await open();
  while (held.size < max) {
    await first.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> all($1)`,
      [[...held.keys()]],
    );
    // Refused while those that were told to end have not.
    await open().catch((error: { code?: unknown }) => {
      if (error.code !== '53300') throw error;
    });
  }
  return async () => {
    await Promise.all([...held.values()].map((client) => client.end()));
  };
}

/** The records that the processes have logged. */
export function logRecords(output: string): LogRecord[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"level"') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogRecord);
}

export interface LogRecord {
  level: number;
  program: string;
  event?: string;
  msg?: string;
  restarts?: number;
  err?: { message: string };
}

/** The server's own log. */
export function serverLog(directory: string): Promise<string> {
  return readFile(`${directory}/server.log`, 'utf8');
}
