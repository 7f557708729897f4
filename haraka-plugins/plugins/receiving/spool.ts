import { randomUUID } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';

/** Where one process keeps messages that are too large for its memory while they arrive. */
export interface SpoolSpace {
  /** Returns an empty spool. */
  open(): Spool;
  /** bytes of all open spools */
  sum: number;
  readonly limit: number;
  /** Whether that many more bytes may be written: within the limit, and with a tenth of the disk left free. The disk is looked at once in a second. */
  hasRoom(bytes: number): boolean;
}

const LOOK_MS = 1_000;
/** Part of the disk that is left free, and the most of it; bytes. */
const FREE_PART = 0.1;
const MAX_FREE_BYTES = 256_000_000;

/** Returns the bytes of a directory's disk that may be used; without limit when the disk does not tell. */
function usableBytes(directory: string): number {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return bavail * bsize - Math.min(MAX_FREE_BYTES, FREE_PART * blocks * bsize);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Returns the space for spools in a directory, which is created; null when nothing can be written there, which is logged. `limit`: bytes of
 * all spools, beyond which messages are deferred.
 */
export async function openSpoolSpace(
  directory: string,
  limit: number,
  log: Logger,
  readUsable = usableBytes,
): Promise<SpoolSpace | null> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(directory, { withFileTypes: true }))
      if (entry.isFile()) await removeName(path.join(directory, entry.name));
    await (await openNameless(directory)).close();
  } catch (error) {
    log.warn({ event: 'smtp.no-spool', directory, err: error }, 'large messages stay in memory while they arrive');
    return null;
  }
  let look = { at: Number.NEGATIVE_INFINITY, bound: 0 };
  const space: SpoolSpace = {
    sum: 0,
    limit,
    open: () => new Spool(space, directory),
    hasRoom(bytes) {
      const now = performance.now();
      if (now - look.at > LOOK_MS) look = { at: now, bound: space.sum + readUsable(directory) };
      return space.sum + bytes <= Math.min(limit, look.bound);
    },
  };
  return space;
}

/** Removes a file that a process has left which was killed before it did, or that another one is about to leave without a name. */
async function removeName(name: string): Promise<void> {
  await unlink(name).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** A file without a name: it ends with the process, however that ends. The directory is created again if another program has removed it. */
async function openNameless(directory: string): Promise<FileHandle> {
  const name = path.join(directory, randomUUID());
  const file = await open(name, 'wx+', 0o600).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return open(name, 'wx+', 0o600);
  });
  await removeName(name);
  return file;
}

/** The first part of a message, in a file. Pieces are written in the background; an error of the disk is told by `failure` and `load`. */
export class Spool {
  readonly #space: SpoolSpace;
  readonly #file: Promise<FileHandle>;
  #sizeBytes = 0;
  #pending = 0;
  #failure: Error | null = null;
  #onQuiet: (() => void)[] = [];
  #isClosed = false;

  constructor(space: SpoolSpace, directory: string) {
    this.#space = space;
    this.#file = openNameless(directory);
    this.#file.catch((error: Error) => {
      this.#failure ??= error;
    });
  }

  /** Bytes of the pieces so far. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Why its bytes are not there; null: they are, or will be. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Whether several pieces are not written yet. */
  get isBehind(): boolean {
    return this.#pending > 1;
  }

  /** Appends a piece, which must not be changed; `done` is called once its memory is no longer needed. */
  write(piece: Buffer, done: () => void): void {
    const at = this.#sizeBytes;
    this.#sizeBytes += piece.length;
    this.#space.sum += piece.length;
    this.#pending += 1;
    void this.#writeAt(piece, at).finally(() => {
      this.#pending -= 1;
      done();
      if (this.#pending > 0) return;
      for (const callBack of this.#onQuiet.splice(0)) callBack();
    });
  }

  /** Calls back once all pieces are written, or an error ended that. */
  whenQuiet(callBack: () => void): void {
    if (this.#pending === 0) callBack();
    else this.#onQuiet.push(callBack);
  }

  /** Returns the pieces and what follows them in one piece of memory that nothing else uses. Rejects when the disk failed. */
  async load(rest: Buffer): Promise<Buffer> {
    await new Promise<void>((resolve) => this.whenQuiet(resolve));
    const file = await this.#file;
    if (this.#failure !== null) throw this.#failure;
    const bytes = Buffer.allocUnsafeSlow(this.#sizeBytes + rest.length);
    for (let at = 0; at < this.#sizeBytes; ) {
      const { bytesRead } = await file.read(bytes, at, this.#sizeBytes - at, at);
      if (bytesRead === 0) throw new Error('a spool is shorter than what was written');
      at += bytesRead;
    }
    rest.copy(bytes, this.#sizeBytes);
    return bytes;
  }

  /** Gives its space back. Nothing is written or loaded afterwards. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#space.sum -= this.#sizeBytes;
    this.whenQuiet(
      () =>
        void this.#file
          .then((file) => file.close())
          // What failed to open needs no end.
          .catch(() => undefined),
    );
  }

  async #writeAt(piece: Buffer, at: number): Promise<void> {
    try {
      const file = await this.#file;
      for (let done = 0; done < piece.length && this.#failure === null && !this.#isClosed; ) {
        const { bytesWritten } = await file.write(piece, done, piece.length - done, at + done);
        done += bytesWritten;
      }
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }
}
