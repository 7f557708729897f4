import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import {
  copyFileDurably,
  eachAtOnce,
  makeDirectory,
  syncDirectory,
  type WrittenFile,
  writeFileDurably,
} from './durable-copy.ts';
import type { SystemUser } from './native-postgresql.ts';

/** A copy from which a server starts with the state of the source at `stopLsn`. */
export interface BaseBackup {
  /** server_version_num, such as 180004 */
  serverVersion: number;
  systemIdentifier: string;
  timeline: number;
  /** start and minimum end of the WAL replay, as PostgreSQL writes them (0/2000028) */
  startLsn: string;
  stopLsn: string;
  /** by the server's clock: transactions committed before `startedAt` are in the copy, later than `stoppedAt` are not */
  startedAt: Date;
  stoppedAt: Date;
  /** files by path relative to the copy, with slashes */
  files: Map<string, WrittenFile>;
  /** all folders below the copy, parents first */
  folders: string[];
}

export interface BaseBackupOptions {
  /** URL of a superuser (or a member of pg_read_all_settings with REPLICATION) of a server on this machine */
  url: string;
  /** folder of the copy; created if missing, must be empty */
  target: string;
  /** owner of the copy; null: the user of this process */
  owner: SystemUser | null;
  /** called before the copy starts, with the approximate size in bytes; a rejection cancels it */
  assertRoom?: (bytes: number) => Promise<void>;
  /** progress: copied and total bytes */
  onProgress?: (doneBytes: number, allBytes: number) => void;
}

/**
 * Copies a running cluster (PostgreSQL manual, 25.3.3): its files between pg_backup_start and pg_backup_stop, and all WAL since the start,
 * which makes them consistent at the first start of the copy. A temporary slot prevents that WAL from being recycled; it ends with our
 * connection. Throws when anything is missing; the target is then unusable.
 */
export async function takeBaseBackup(options: BaseBackupOptions): Promise<BaseBackup> {
  const client = new pg.Client({ connectionString: options.url, application_name: 'base backup', keepAlive: true });
  const lost: Error[] = [];
  client.on('error', (error) => void lost.push(error));
  await client.connect();
  try {
    return await copyCluster(client, options);
  } catch (error) {
    const [reason] = lost;
    if (reason === undefined) throw error;
    throw new Error(`PostgreSQL went away during the backup: ${reason.message}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Files copied at once. */
const FILES_AT_ONCE = 4;

/** Folders that are copied empty: their content belongs to the running server only (PostgreSQL manual, 25.3.3.1). */
const EMPTY_FOLDERS = new Set([
  'pg_wal',
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);

/** Files of the running server, temporary files, and our log of it. */
const LEFT_OUT =
  /^(?:postmaster\.(?:pid|opts)|backup_label(?:\.old)?|tablespace_map(?:\.old)?|backup_manifest(?:\.tmp)?|standby\.signal|recovery\.signal|.*\.tmp|pg_internal\.init.*|pgsql_tmp.*|t\d+_\d+(?:_(?:fsm|vm|init))?(?:\.\d+)?|server\.log|current_logfiles)$/;

/** Copied last. */
const CONTROL_FILE = 'global/pg_control';

async function copyCluster(client: pg.Client, options: BaseBackupOptions): Promise<BaseBackup> {
  const { target, owner } = options;
  // The copy may take longer than any statement of the service.
  await client.query('set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0');
  const about = await askServer(client);
  if (isWithin(about.directory, target)) throw new Error(`${target} is in the directory that is copied`);
  await options.assertRoom?.((await listFiles(about.directory)).bytes);
  await client.query('select pg_create_physical_replication_slot($1, true, true)', [
    `postroom_backup_${process.pid}_${Date.now()}`,
  ]);
  const startedAt = await now(client);
  await client.query(`select pg_backup_start('postroom', true)`);
  const source = await listFiles(about.directory);
  await makeEmpty(target, source.folders, owner);
  const files = new Map<string, WrittenFile>();
  let done = 0;
  await eachAtOnce(source.files, FILES_AT_ONCE, async (file) => {
    const written = await copyUnlessGone(path.join(about.directory, file.path), path.join(target, file.path), owner);
    if (written !== null) files.set(file.path, written);
    done += file.sizeBytes;
    options.onProgress?.(done, source.bytes);
  });
  const control = await readSteadily(path.join(about.directory, CONTROL_FILE));
  files.set(CONTROL_FILE, await writeFileDurably(path.join(target, CONTROL_FILE), control, owner));

  const stop = await client.query<{ lsn: string; labelfile: string; spcmapfile: string | null; file: string }>(
    'select lsn, labelfile, spcmapfile, pg_walfile_name(lsn) as file from pg_backup_stop(false)',
  );
  const [{ lsn: stopLsn, labelfile, file: lastSegment } = { lsn: '', labelfile: '', file: '' }] = stop.rows;
  const stoppedAt = await now(client);
  files.set('backup_label', await writeFileDurably(path.join(target, 'backup_label'), Buffer.from(labelfile), owner));
  const start = /^START WAL LOCATION: (\S+) \(file ([0-9A-F]{24})\)$/m.exec(labelfile);
  if (start === null) throw new Error('PostgreSQL wrote a backup label that we cannot read');
  const [, startLsn = '', firstSegment = ''] = start;
  for (const name of await walFiles(about, firstSegment, lastSegment)) {
    const file = `pg_wal/${name}`;
    // The slot keeps them. If one is missing, the copy is unusable.
    files.set(file, await copyFileDurably(path.join(about.directory, file), path.join(target, file), owner));
  }
  for (const folder of [...source.folders].toReversed()) await syncDirectory(path.join(target, folder));
  const { serverVersion, systemIdentifier } = about;
  const timeline = Number.parseInt(lastSegment.slice(0, 8), 16);
  const folders = source.folders.filter((folder) => folder !== '');
  return { serverVersion, systemIdentifier, timeline, startLsn, stopLsn, startedAt, stoppedAt, files, folders };
}

interface Server {
  directory: string;
  serverVersion: number;
  systemIdentifier: string;
  /** of a WAL segment */
  segmentBytes: number;
}

async function askServer(client: pg.Client): Promise<Server> {
  const { rows } = await client.query<{ directory: string; version: number; identifier: string; segment: number }>(
    `select current_setting('data_directory') as directory, current_setting('server_version_num')::int as version,
            (select system_identifier::text from pg_control_system()) as identifier,
            (select setting::int from pg_settings where name = 'wal_segment_size') as segment`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL does not say where its files are');
  const { rowCount } = await client.query(`select from pg_tablespace where spcname not in ('pg_default', 'pg_global')`);
  if (rowCount !== 0)
    throw new Error('PostgreSQL has tablespaces of its own, which this backup does not know; use pg_basebackup');
  return {
    directory: row.directory,
    serverVersion: row.version,
    systemIdentifier: row.identifier,
    segmentBytes: row.segment,
  };
}

async function now(client: pg.Client): Promise<Date> {
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
  return rows[0]?.now ?? new Date(0);
}

interface Listing {
  /** relative paths, parents first; '' is the cluster itself */
  folders: string[];
  files: { path: string; sizeBytes: number }[];
  bytes: number;
}

/** Lists what to copy. Files may appear and disappear meanwhile; the WAL covers them. */
async function listFiles(root: string): Promise<Listing> {
  const listing: Listing = { folders: [''], files: [], bytes: 0 };
  for (const folder of listing.folders) {
    if (EMPTY_FOLDERS.has(folder)) continue;
    const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch(unlessGone([]));
    for (const entry of entries) {
      const file = path.posix.join(folder, entry.name);
      if (LEFT_OUT.test(entry.name) || file === CONTROL_FILE) continue;
      // pg_wal may be a symbolic link to another disk.
      if (entry.isDirectory() || EMPTY_FOLDERS.has(file)) listing.folders.push(file);
      else if (entry.isFile()) {
        const sizeBytes = (await lstat(path.join(root, file)).catch(unlessGone(null)))?.size ?? 0;
        listing.files.push({ path: file, sizeBytes });
        listing.bytes += sizeBytes;
      } else throw new Error(`${file} is neither a file nor a folder: this backup does not know such a cluster`);
    }
  }
  return listing;
}

function isWithin(folder: string, target: string): boolean {
  const way = path.relative(folder, path.resolve(target));
  return way === '' || !(way.startsWith('..') || path.isAbsolute(way));
}

async function makeEmpty(target: string, folders: string[], owner: SystemUser | null): Promise<void> {
  if ((await readdir(target).catch(unlessGone([]))).length > 0) throw new Error(`${target} is not empty`);
  for (const folder of folders) await makeDirectory(path.join(target, folder), owner);
}

async function copyUnlessGone(from: string, to: string, owner: SystemUser | null): Promise<WrittenFile | null> {
  return copyFileDurably(from, to, owner).catch(unlessGone(null));
}

/** The control file is written in place, so it is read until two readings agree. */
async function readSteadily(file: string): Promise<Buffer> {
  for (let before = await readFile(file); ; ) {
    const after = await readFile(file);
    if (after.equals(before)) return after;
    before = after;
  }
}

/** Returns the names of all segments from the first to the last, and of the history files of earlier timelines. */
async function walFiles(server: Server, first: string, last: string): Promise<string[]> {
  const timeline = last.slice(0, 8);
  if (first.slice(0, 8) !== timeline) throw new Error('PostgreSQL was promoted during the backup; take it again');
  const perLog = 0x1_0000_0000 / server.segmentBytes;
  const parseLogNumber = (name: string) =>
    Number.parseInt(name.slice(8, 16), 16) * perLog + Number.parseInt(name.slice(16), 16);
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');
  const names = (await readdir(path.join(server.directory, 'pg_wal'))).filter((name) => name.endsWith('.history'));
  for (let at = parseLogNumber(first); at <= parseLogNumber(last); at++)
    names.push(`${timeline}${hex(Math.floor(at / perLog))}${hex(at % perLog)}`);
  return names;
}

function unlessGone<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
}
