import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** Generated secrets of the single machine: DATA_DIR/secrets.json. */
export interface Secrets {
  databasePassword: string;
  /** 32 bytes */
  secretKey: Uint8Array;
}

/** Ports and processes of the service: DATA_DIR/run.json. It remains after a stop, so that PostgreSQL keeps its port. */
export interface RunRecord {
  /** process id of `npm start`; null while it is not running */
  pid: number | null;
  databasePort: number;
  /** folder of PostgreSQL's Unix socket; null without one */
  socketDirectory: string | null;
  httpUrl: string | null;
  smtpAddress: string | null;
}

/** The lock on the folder. It ends with the process, even when that is killed. */
export interface DataDirectoryLock {
  release(): Promise<void>;
}

/** Who has locked the folder, for the error message of another process. */
export interface LockHolder {
  pid: number;
  /** `start` keeps running; any other program ends soon */
  program: string;
}

/**
 * Creates the folder if missing and returns its real path. Other users cannot list it. If root created it, they can pass through it, because
 * the system user that runs PostgreSQL must (every file in it is 0600, every folder 0700).
 */
export async function makeDataDirectory(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  return realpath(directory);
}

/**
 * Locks the folder for this process, or returns who has locked it. The lock is a kernel lock on a file that SQLite opens, so it ends with
 * the process and never has to be removed by hand.
 */
export async function lockDataDirectory(
  directory: string,
  program: string,
): Promise<{ lock: DataDirectoryLock; holder: null } | { lock: null; holder: LockHolder }> {
  const file = path.join(directory, 'lock');
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('pragma journal_mode = memory');
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw error;
    return { lock: null, holder: await readHolder(directory) };
  }
  await chmod(file, 0o600);
  await writeJson(path.join(directory, 'lock.json'), { pid: process.pid, program } satisfies LockHolder);
  return {
    holder: null,
    lock: {
      async release() {
        await rm(path.join(directory, 'lock.json'), { force: true });
        database.close();
      },
    },
  };
}

/** Reads or creates DATA_DIR/secrets.json. Only the holder of the lock may call this. Throws when the file is invalid. */
export async function keepSecrets(directory: string): Promise<Secrets> {
  const known = await readSecrets(directory);
  if (known !== null) return known;
  const made = { databasePassword: randomBytes(24).toString('hex'), secretKey: randomBytes(32).toString('base64url') };
  await writeJson(path.join(directory, 'secrets.json'), made);
  return { ...made, secretKey: Buffer.from(made.secretKey, 'base64url') };
}

/** Writes DATA_DIR/secrets.json of a restored cluster. Only the holder of the lock may call this. */
export async function writeSecrets(directory: string, secrets: Secrets): Promise<void> {
  const secretKey = Buffer.from(secrets.secretKey).toString('base64url');
  await writeJson(path.join(directory, 'secrets.json'), { ...secrets, secretKey });
}

/** Null before the first start. Throws when the file is invalid. */
export async function readSecrets(directory: string): Promise<Secrets | null> {
  const stored = await readJson(path.join(directory, 'secrets.json'), storedSecrets);
  return stored === null ? null : { ...stored, secretKey: Buffer.from(stored.secretKey, 'base64url') };
}

/** Null when the file is missing or unreadable. */
export async function readRunRecord(directory: string): Promise<RunRecord | null> {
  return readJson(path.join(directory, 'run.json'), runRecord).catch(() => null);
}

export async function writeRunRecord(directory: string, record: RunRecord): Promise<void> {
  await writeJson(path.join(directory, 'run.json'), record);
}

/** SQLite's result code when another process holds the file. */
const SQLITE_BUSY = 5;

const storedSecrets = z.object({
  databasePassword: z.string().regex(/^[A-Za-z0-9_-]{16,}$/),
  secretKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});
const runRecord = z.object({
  pid: z.number().nullable(),
  databasePort: z.number(),
  socketDirectory: z.string().nullable(),
  httpUrl: z.string().nullable(),
  smtpAddress: z.string().nullable(),
});
const lockHolder = z.object({ pid: z.number(), program: z.string() });

async function readHolder(directory: string): Promise<LockHolder> {
  const holder = await readJson(path.join(directory, 'lock.json'), lockHolder).catch(() => null);
  // The lock may be taken while the file with the name is not written yet.
  return holder ?? { pid: 0, program: 'another program' };
}

async function readJson<T>(file: string, shape: z.ZodType<T>): Promise<T | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} is not what this program wrote; put it back from a backup`, { cause });
  }
}

/** Writes the file atomically with mode 0600: a reader, or a start after a power cut, sees the old or the new text. */
async function writeJson(file: string, value: unknown): Promise<void> {
  const draft = `${file}.${process.pid}`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
