import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../cluster/cluster.ts';

/** A PostgreSQL of Debian's packages, with pg_dump and the like beside it. */
export interface DebianPostgresql {
  /** of the role `postroom`, which owns the database `postroom` and may make roles but is no superuser */
  url: string;
  /** Makes a further empty database of the same owner; returns its URL. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

const run = promisify(execFile);

/** The folder of the newest version's programs; null where the package is not installed. */
export async function debianPrograms(): Promise<string | null> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  const folder = newest === undefined ? null : path.join('/usr/lib/postgresql', newest, 'bin');
  const programs = folder === null ? [] : await readdir(folder).catch(() => []);
  return programs.includes('initdb') && programs.includes('pg_dump') ? folder : null;
}

/** Starts one on a free port, in that folder, which is made. As root only, as it runs under the system user `postgres`. */
export async function startDebianPostgresql(programs: string, directory: string): Promise<DebianPostgresql> {
  const { stdout } = await run('id', ['-u', 'postgres']);
  const uid = Number(stdout.trim());
  const port = await freePort();
  await mkdir(directory);
  await chown(directory, uid, uid);
  await chmod(directory, 0o700);
  const as = (program: string, words: string[]) =>
    run(path.join(programs, program), words, { uid, gid: uid, cwd: directory });
  const data = path.join(directory, 'data');
  await as('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8']);
  await writeFile(
    path.join(data, 'postgresql.auto.conf'),
    `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 200\n`,
  );
  await as('pg_ctl', ['start', '--wait', '-D', data, '-l', path.join(directory, 'log')]);
  const psql = (statement: string) =>
    as('psql', ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-c', statement]);
  const makeUrl = (name: string) => `postgresql://postroom:secret@127.0.0.1:${port}/${name}`;
  const createDatabase = async (name: string) => {
    await psql(`create database ${name} owner postroom`);
    return makeUrl(name);
  };
  await psql(`create role postroom login createrole password 'secret'`);
  return {
    url: await createDatabase('postroom'),
    createDatabase,
    async stop() {
      await as('pg_ctl', ['stop', '--wait', '-m', 'fast', '-D', data]);
    },
  };
}
