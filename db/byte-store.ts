import type { Logger } from 'pino';
import type { Database } from './connection/database.ts';
import { type PackedMessage, unpackMessage, unpackSmall } from './packed-message.ts';

/** Where the bytes of messages are read from. PostgreSQL holds them; what came in a moment ago is still in memory. */
export interface ByteStore {
  /** Keeps bytes in memory that were just committed, so that parser and delivery need not read them back. */
  keep(rawId: string, bytes: Buffer): void;
  /** Whether the message is in memory. */
  has(rawId: string): boolean;
  /** Keeps small messages in memory that will be asked for in a moment, read in one piece; large ones, and removed ones, are left. */
  keepStored(rawIds: readonly string[]): Promise<void>;
  /**
   * Those of the messages that are in memory or small, read in one piece, by their ids, for work that is done at once: they are not kept.
   * Damaged ones are left out, too; get() tells.
   */
  readTogether(rawIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** The whole message; null when it is gone or its sha256 no longer fits (which is logged). */
  get(rawId: string): Promise<Buffer | null>;
}

export interface ByteStoreOptions {
  database: Database;
  log: Logger;
  /** most bytes kept in memory */
  cacheBytes?: number;
}

/** Bytes of messages kept in memory. */
const CACHE_BYTES = 128_000_000;
/** A message from this size on is large. Bytes. */
const LARGE_BYTES = 262_144;
/** Bytes of large messages kept in memory: others are read back. */
const LARGE_CACHE_BYTES = 24_000_000;
/** Bytes of a message that is read ahead. */
const SMALL_BYTES = 65_536;
/** Milliseconds for which bytes are kept in memory at most. */
const CACHE_AGE_MS = 60_000;

/**
 * The part of an insert that writes messages: `source` names a relation with raw_id, sha256 (hex), size (of the message), start (0-based)
 * and length (of what packMessage returned), and `bytes` a bytea parameter that holds all bytes in one piece (one parameter for a whole
 * group of messages is cheapest).
 */
export function storeBytesSql(source: string, bytes: string): string {
  return `
    insert into raw_message (id, packed, sha256, size_bytes)
    select m.raw_id, substring(${bytes}::bytea from m.start + 1 for m.length), decode(m.sha256, 'hex'), m.size from ${source} m`;
}

/** Reads bytes from PostgreSQL, behind a cache in memory that is bounded in bytes and age. */
export function createByteStore(options: ByteStoreOptions): ByteStore {
  const { database, log, cacheBytes = CACHE_BYTES } = options;
  // In the order of keeping: the first entry is the oldest.
  const kept = new Map<string, { bytes: Buffer; keptAt: number }>();
  let keptBytes = 0;
  let largeBytes = 0;
  const largeSize = ({ length }: Buffer) => (length < LARGE_BYTES ? 0 : length);

  function drop(rawId: string): void {
    const entry = kept.get(rawId);
    if (entry === undefined) return;
    kept.delete(rawId);
    keptBytes -= entry.bytes.length;
    largeBytes -= largeSize(entry.bytes);
  }

  function dropOld(): void {
    const limit = performance.now() - CACHE_AGE_MS;
    for (const [rawId, entry] of kept) {
      if (keptBytes <= cacheBytes && entry.keptAt > limit) break;
      drop(rawId);
    }
    if (kept.size > 0) setTimer();
  }

  let timer: NodeJS.Timeout | undefined;
  function setTimer(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      dropOld();
    }, CACHE_AGE_MS / 4).unref();
  }

  function keep(rawId: string, bytes: Buffer): void {
    const isTooMuch = largeSize(bytes) > 0 && largeBytes + bytes.length > LARGE_CACHE_BYTES;
    if (bytes.length > cacheBytes || isTooMuch) return;
    drop(rawId);
    kept.set(rawId, { bytes: onItsOwn(bytes), keptAt: performance.now() });
    keptBytes += bytes.length;
    largeBytes += largeSize(bytes);
    if (keptBytes > cacheBytes) dropOld();
    else setTimer();
  }

  return {
    keep,
    has: (rawId) => kept.has(rawId),

    async keepStored(rawIds) {
      const missing = rawIds.filter((rawId) => !kept.has(rawId));
      if (missing.length < 2) return;
      for (const [id, bytes] of await readSmallMessages(database, missing)) keep(id, bytes);
    },

    async readTogether(rawIds) {
      const found = new Map<string, Buffer>();
      const missing: string[] = [];
      for (const rawId of rawIds) {
        const entry = kept.get(rawId);
        if (entry === undefined) missing.push(rawId);
        else found.set(rawId, entry.bytes);
      }
      if (missing.length < 2) return found;
      for (const [id, bytes] of await readSmallMessages(database, missing)) found.set(id, bytes);
      return found;
    },

    async get(rawId) {
      const entry = kept.get(rawId);
      if (entry !== undefined) return entry.bytes;
      const row = await readMessage(database, rawId);
      if (row === undefined) {
        log.error({ rawId }, 'bytes of a message are gone');
        return null;
      }
      const bytes = await unpackMessage(row);
      if (bytes === null) log.error({ rawId }, 'bytes of a message do not fit their sha256');
      return bytes;
    },
  };
}

/** A view into a larger buffer would keep, and make a message to a worker copy, all of that. */
function onItsOwn(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength === bytes.length ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
}

/** Returns a message as its row has it; undefined when there is none. */
async function readMessage(database: Database, rawId: string): Promise<PackedMessage | undefined> {
  const { rows } = await database.pool.query<PackedMessage>({
    name: 'byte-store-get',
    text: 'select packed, sha256, size_bytes as "sizeBytes" from raw_message where id = $1',
    values: [rawId],
  });
  return rows[0];
}

/** Returns those of the messages that are small and whole, by id. */
async function readSmallMessages(database: Database, rawIds: readonly string[]): Promise<[string, Buffer][]> {
  const { rows } = await database.pool.query<PackedMessage & { id: string }>({
    name: 'byte-store-get-small',
    text: `select id, packed, sha256, size_bytes as "sizeBytes" from raw_message
           where id = any($1::text[]) and size_bytes <= ${SMALL_BYTES}`,
    values: [rawIds],
  });
  return rows.flatMap(({ id, ...packed }): [string, Buffer][] => {
    const bytes = unpackSmall(packed);
    return bytes === null ? [] : [[id, bytes]];
  });
}
