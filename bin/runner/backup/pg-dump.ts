import { execFile, spawn } from 'node:child_process';
import { access, chmod, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { primaryUrl } from '../../../db/connection/failover.ts';
import { connectClient } from '../../../db/connection/open-pool.ts';
import { processEnvironment } from '../../environment.ts';

const run = promisify(execFile);

/** Where Debian installs the programs of each major version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/**
 * Writes the database to the file in pg_dump's custom format, mode 0600, and flushes it to disk. Throws if no installed pg_dump fits the
 * server.
 */
export async function dumpDatabase(order: {
  url: string;
  file: string;
  say: (line: string) => void;
}): Promise<{ postgresqlVersion: number }> {
  const postgresqlVersion = await serverVersion(order.url);
  const program = await findProgram('pg_dump', readMajor(postgresqlVersion));
  order.say(`${program.path} (PostgreSQL ${program.major}) is dumping the database`);
  // The user that restores becomes the owner. Grants to the roles postroom_* are part of the dump.
  await runClient(program.path, ['--format=custom', '--no-owner', `--file=${order.file}`], order.url);
  await chmod(order.file, 0o600);
  const handle = await open(order.file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { postgresqlVersion };
}

/**
 * Restores a dump into the empty database in one transaction; the roles that it grants rights to must exist. Throws if the server is older
 * than the dumped one, or if no installed pg_restore can read the file.
 */
export async function restoreDump(order: {
  url: string;
  file: string;
  /** version of the dumped server */
  postgresqlVersion: number;
  say: (line: string) => void;
}): Promise<void> {
  const there = readMajor(await serverVersion(order.url));
  const dumped = readMajor(order.postgresqlVersion);
  if (there < dumped) throw new Error(`DATABASE_URL is PostgreSQL ${there}, but the backup needs ${dumped} or newer`);
  const program = await findProgram('pg_restore', dumped);
  order.say(`${program.path} (PostgreSQL ${program.major}) is restoring the database`);
  await runClient(program.path, ['--no-owner', '--exit-on-error', '--single-transaction', order.file], order.url);
}

/** Returns the version as an integer, such as 150014. */
async function serverVersion(url: string): Promise<number> {
  const client = await connectClient(url);
  try {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    return rows[0]?.version ?? 0;
  } finally {
    await client.end();
  }
}

export function readMajor(version: number): number {
  return Math.floor(version / 10_000);
}

/** Returns the newest program of that name on PATH or in Debian's folders. Throws what is installed and how to get the required version. */
async function findProgram(
  name: 'pg_dump' | 'pg_restore',
  neededMajor: number,
): Promise<{ path: string; major: number }> {
  const onPath = (processEnvironment()['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const debian = (await readdir(DEBIAN_FOLDER).catch(() => [])).map((major) => path.join(DEBIAN_FOLDER, major, 'bin'));
  const found: { path: string; major: number }[] = [];
  for (const folder of [...onPath, ...debian]) {
    const file = path.join(folder, name);
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    const { stdout } = isThere ? await run(file, ['--version']).catch(() => ({ stdout: '' })) : { stdout: '' };
    const major = Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]);
    if (major > 0) found.push({ path: file, major });
  }
  const [best] = found.toSorted((a, b) => b.major - a.major);
  if (best !== undefined && best.major >= neededMajor) return best;
  const there = best === undefined ? `there is no ${name} here` : `${best.path} is of PostgreSQL ${best.major}`;
  throw new Error(
    `The server is PostgreSQL ${neededMajor}, and ${there}: ${name} ${neededMajor} or newer is needed. On Debian and Ubuntu add the ` +
      `repository of apt.postgresql.org and install postgresql-client-${neededMajor}; elsewhere run this in an image postgres:${neededMajor}`,
  );
}

async function runClient(program: string, words: string[], url: string): Promise<void> {
  // Every user can see the arguments of a process, so the password is passed in its environment.
  const address = new URL(await primaryUrl(url));
  const password = decodeURIComponent(address.password);
  address.password = '';
  const child = spawn(program, [`--dbname=${address.href}`, '--no-password', ...words], {
    env: { ...processEnvironment(), ...(password === '' ? {} : { PGPASSWORD: password }) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => {
    said = `${said}${bytes.toString()}`.slice(-2_000);
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (status !== 0) throw new Error(`${path.basename(program)} failed: ${said.trim()}`);
}
