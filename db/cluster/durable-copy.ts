import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import type { SystemUser } from './native-postgresql.ts';

/** Length and checksum of a written file. */
export interface WrittenFile {
  sizeBytes: number;
  /** in hex */
  sha256: string;
}

/** Copies a file with mode 0600; it is on disk when this resolves. Owner null: the user of this process. */
export async function copyFileDurably(from: string, to: string, owner: SystemUser | null): Promise<WrittenFile> {
  const source = await open(from, 'r');
  try {
    // Anything written after this point while we read is also in the WAL.
    const { size } = await source.stat();
    return await write(to, owner, (target) => copyBytes(source, target, size));
  } finally {
    await source.close();
  }
}

/** Like copyFileDurably, with bytes in memory. */
export async function writeFileDurably(to: string, bytes: Uint8Array, owner: SystemUser | null): Promise<WrittenFile> {
  return write(to, owner, async (target) => {
    await target.writeFile(bytes);
    return { sizeBytes: bytes.byteLength, sha256: createHash('sha256').update(bytes).digest('hex') };
  });
}

/** Creates the folder with mode 0700, and its parents. Its entries are durable only after syncDirectory. */
export async function makeDirectory(directory: string, owner: SystemUser | null): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (owner === null) return;
  const handle = await open(directory, 'r');
  try {
    await handle.chown(owner.uid, owner.gid);
  } finally {
    await handle.close();
  }
}

/** Makes created, renamed and removed entries of the folder durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns length and checksum of a file. */
export async function sumOfFile(file: string): Promise<WrittenFile> {
  const source = await open(file, 'r');
  try {
    return await copyBytes(source, null, Number.POSITIVE_INFINITY);
  } finally {
    await source.close();
  }
}

/** Runs the work on all items, a few at a time; after the first failure no more are started. */
export async function eachAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let isFailed = false;
  const worker = async () => {
    for (let next = left.next(); next.done !== true && !isFailed; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Bytes per read. */
const CHUNK_BYTES = 1_048_576;

async function write(
  to: string,
  owner: SystemUser | null,
  fill: (target: FileHandle) => Promise<WrittenFile>,
): Promise<WrittenFile> {
  const target = await open(to, 'wx', 0o600);
  try {
    const written = await fill(target);
    if (owner !== null) await target.chown(owner.uid, owner.gid);
    await target.sync();
    return written;
  } catch (cause) {
    throw new Error(`${to} could not be written: ${(cause as Error).message}`, { cause });
  } finally {
    await target.close();
  }
}

async function copyBytes(source: FileHandle, target: FileHandle | null, limit: number): Promise<WrittenFile> {
  const sum = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(limit, 1)));
  let sizeBytes = 0;
  while (sizeBytes < limit) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, limit - sizeBytes), sizeBytes);
    if (bytesRead === 0) break;
    const bytes = buffer.subarray(0, bytesRead);
    sum.update(bytes);
    for (let at = 0; target !== null && at < bytesRead; )
      at += (await target.write(bytes, at, bytesRead - at, sizeBytes + at)).bytesWritten;
    sizeBytes += bytesRead;
  }
  return { sizeBytes, sha256: sum.digest('hex') };
}
