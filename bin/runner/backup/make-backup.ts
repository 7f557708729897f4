import { randomBytes } from 'node:crypto';
import { lstat, readdir, realpath, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { takeBaseBackup } from '../../../db/cluster/base-backup.ts';
import {
  makeDirectory,
  sumOfFile,
  syncDirectory,
  type WrittenFile,
  writeFileDurably,
} from '../../../db/cluster/durable-copy.ts';
import { readContents, readMigrations } from '../../../db/queries/upkeep/database-contents.ts';
import { fitsSecretKey } from '../../../db/queries/upkeep/secret-canary.ts';
import { type Progress, sizeInWords } from '../progress.ts';
import { asOwner, type ReachedDatabase } from '../reach-database.ts';
import { VERSION } from '../version.ts';
import {
  type BackupManifest,
  CLUSTER_FOLDER,
  DUMP_FILE,
  FORMAT,
  SECRETS_FILE,
  writeManifest,
} from './backup-manifest.ts';
import { dumpDatabase } from './pg-dump.ts';

export interface BackupOrder {
  reached: ReachedDatabase;
  /** called before anything is written */
  begin: () => void;
  /** DATA_DIR, which must not contain the backup */
  dataDirectory: string;
  /** absolute path of the new backup */
  directory: string;
  tell: Progress;
}

/** What bin/backup.ts prints at the end. */
export interface BackupReport {
  directory: string;
  kind: BackupManifest['kind'];
  sizeBytes: number;
  files: number;
  seconds: number;
  /** everything committed before this instant is in the backup */
  startedAt: string;
  finishedAt: string;
  accounts: number;
  emails: number;
  newestEmailAt: string | null;
}

/** Extra room for the manifest and for WAL written during the copy. Bytes. */
const ROOM_OVER_BYTES = 256 * 1024 * 1024;

/**
 * Writes a backup to a draft folder beside its final name and renames it once everything is on disk, so a folder with that name is
 * complete. On an error, removes the draft and throws.
 */
export async function makeBackup(order: BackupOrder): Promise<BackupReport> {
  const { reached, directory, tell } = order;
  const begun = performance.now();
  await requireTarget(order);
  const { contents, migrations } = await asOwner(
    reached.url,
    'backup',
    async (database) => {
      if (!(await fitsSecretKey(database, reached.secretKey, randomBytes)))
        throw new Error(
          'SECRET_KEY does not match this database, so the backup could not be read. Set the original key',
        );
      return { contents: await readContents(database), migrations: (await readMigrations(database)).ran };
    },
    'unlimited',
  );
  order.begin();
  const draft = `${directory}.draft-${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  try {
    await makeDirectory(draft, null);
    const body = reached.databasePassword === null ? await dump(order, draft) : await copy(order, draft);
    const secrets = {
      secretKey: Buffer.from(reached.secretKey).toString('base64url'),
      databasePassword: reached.databasePassword,
    };
    const secretsFile = await writeFileDurably(
      path.join(draft, SECRETS_FILE),
      Buffer.from(`${JSON.stringify(secrets, null, 1)}\n`),
      null,
    );
    const files = [...body.files, [SECRETS_FILE, secretsFile] as const]
      .map(([name, written]) => ({ path: name, ...written }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const { postgresqlVersion, startedAt, finishedAt, wal, folders } = body;
    const kind = wal === null ? 'dump' : 'cluster';
    const times = { startedAt: startedAt.toISOString(), finishedAt: finishedAt.toISOString() };
    await writeManifest(draft, {
      format: FORMAT,
      kind,
      postroomVersion: VERSION,
      migrations,
      postgresqlVersion,
      ...times,
      wal,
      files,
      folders,
    });
    await syncDirectory(draft);
    await rename(draft, directory);
    await syncDirectory(path.dirname(directory));
    const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    tell.say(`${directory} is complete: ${sizeInWords(sizeBytes)} in ${files.length} files, ${seconds} s`);
    const newestEmailAt = contents.newestEmailAt?.toISOString() ?? null;
    return { directory, kind, sizeBytes, files: files.length, seconds, ...times, ...contents, newestEmailAt };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

interface Body {
  files: Map<string, WrittenFile>;
  folders: string[];
  postgresqlVersion: number;
  startedAt: Date;
  finishedAt: Date;
  wal: BackupManifest['wal'];
}

async function copy({ reached, tell }: BackupOrder, draft: string): Promise<Body> {
  const taken = await takeBaseBackup({
    url: reached.url,
    target: path.join(draft, CLUSTER_FOLDER),
    owner: null,
    async assertRoom(bytes) {
      await assertRoom(draft, bytes);
      tell.say(
        `Copying about ${sizeInWords(bytes)} ${reached.isServed === true ? 'beside the running service' : ''}`.trim(),
      );
    },
    onProgress: (done, all) => tell.step('Copied', done, all),
  });
  const { systemIdentifier, timeline, startLsn, stopLsn } = taken;
  const below = (name: string) => `${CLUSTER_FOLDER}/${name}`;
  return {
    files: new Map([...taken.files].map(([name, written]) => [below(name), written])),
    folders: [CLUSTER_FOLDER, ...taken.folders.map(below)],
    postgresqlVersion: taken.serverVersion,
    startedAt: taken.startedAt,
    finishedAt: taken.stoppedAt,
    wal: { systemIdentifier, timeline, startLsn, stopLsn },
  };
}

async function dump({ reached, tell }: BackupOrder, draft: string): Promise<Body> {
  const file = path.join(draft, DUMP_FILE);
  const startedAt = new Date();
  const { postgresqlVersion } = await dumpDatabase({ url: reached.url, file, say: tell.say });
  return {
    files: new Map([[DUMP_FILE, await sumOfFile(file)]]),
    folders: [],
    postgresqlVersion,
    startedAt,
    finishedAt: new Date(),
    wal: null,
  };
}

async function requireTarget({ directory, dataDirectory, tell }: BackupOrder): Promise<void> {
  const parent = path.dirname(directory);
  const siblings = await readdir(parent).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot read ${parent} (${error.code}). Create it first`);
  });
  await assertReplaceable(directory, parent);
  const held = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new Error(`${directory} is not a writable folder (${error.code})`);
  });
  if (held.length > 0) throw new Error(`${directory} is not empty. Choose a new folder`);
  const data = await realpath(dataDirectory).catch(() => path.resolve(dataDirectory));
  if (`${path.join(await realpath(parent), path.basename(directory))}/`.startsWith(`${data}/`))
    throw new Error(`${directory} is in DATA_DIR and would be lost with it. Choose another folder`);
  for (const name of siblings)
    if (name.startsWith(`${path.basename(directory)}.draft-`))
      tell.say(`${path.join(parent, name)} is left over from an interrupted backup. Remove it if no backup is running`);
}

/** The draft replaces the folder at the end by a rename, which is impossible for a mount point or a link. */
async function assertReplaceable(directory: string, parent: string): Promise<void> {
  const found = await lstat(directory).catch(() => null);
  if (found?.isSymbolicLink() === true)
    throw new Error(`${directory} is a symbolic link. Name the folder itself or a folder in it`);
  if (found !== null && found.dev !== (await stat(parent)).dev)
    throw new Error(`${directory} is a mount point. Name a folder in it`);
}

async function assertRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const needed = bytes + ROOM_OVER_BYTES;
  if (bavail * bsize < needed)
    throw new Error(
      `${path.dirname(directory)} has ${sizeInWords(bavail * bsize)} free, but the backup needs ${sizeInWords(needed)}`,
    );
}
