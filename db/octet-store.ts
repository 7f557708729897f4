import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from './connection/database.ts';

/** Where the octets of messages are read from. PostgreSQL holds them; what came in a moment ago is answered from memory. */
export interface OctetStore {
  /** Keeps octets in memory that were just committed, so that parser and delivery need not read them back. */
  keep(rawId: string, octets: Buffer): void;
  /** Keeps small messages in memory that will be asked for in a moment, read in one piece; large ones, and those that are gone, are left. */
  keepStored(rawIds: readonly string[]): Promise<void>;
  /**
   * Those of the messages that are in memory or small, read in one piece, by their ids, for work that is done at once: they are not kept.
   * Damaged ones are left out, too; get() tells.
   */
  readTogether(rawIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** The whole message; null when it is gone or its sha256 no longer fits (which is logged). */
  get(rawId: string): Promise<Buffer | null>;
}

export interface OctetStoreOptions {
  database: Database;
  log: Logger;
  /** most octets kept in memory */
  cacheOctets?: number;
}

/** Octets of messages kept in memory. */
const CACHE_OCTETS = 128_000_000;
/** Octets of a message that is read ahead. */
const SMALL_OCTETS = 65_536;
/** Milliseconds for which octets are kept in memory at most. */
const CACHE_AGE_MS = 60_000;

/**
 * The part of an insert that writes messages: `source` names a relation with raw_id, sha256 (hex), start (0-based) and length, and
 * `octets` a bytea parameter that holds all of them in one piece (one parameter for a whole group of messages is cheapest).
 */
export function storeOctetsSql(source: string, octets: string): string {
  return `
    insert into raw_message (id, octets, sha256, size_octets)
    select m.raw_id, substring(${octets}::bytea from m.start + 1 for m.length), decode(m.sha256, 'hex'), m.length from ${source} m`;
}

/** Reads octets from PostgreSQL, behind a cache in memory that is bounded in octets and age. */
export function createOctetStore(options: OctetStoreOptions): OctetStore {
  const { database, log, cacheOctets = CACHE_OCTETS } = options;
  // In the order of keeping: the first entry is the oldest.
  const kept = new Map<string, { octets: Buffer; keptAt: number }>();
  let keptOctets = 0;

  function drop(rawId: string): void {
    const entry = kept.get(rawId);
    if (entry === undefined) return;
    kept.delete(rawId);
    keptOctets -= entry.octets.length;
  }

  function dropOld(): void {
    const limit = performance.now() - CACHE_AGE_MS;
    for (const [rawId, entry] of kept) {
      if (keptOctets <= cacheOctets && entry.keptAt > limit) break;
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

  function keep(rawId: string, octets: Buffer): void {
    if (octets.length > cacheOctets) return;
    drop(rawId);
    kept.set(rawId, { octets: onItsOwn(octets), keptAt: performance.now() });
    keptOctets += octets.length;
    if (keptOctets > cacheOctets) dropOld();
    else setTimer();
  }

  return {
    keep,

    async keepStored(rawIds) {
      const missing = rawIds.filter((rawId) => !kept.has(rawId));
      if (missing.length < 2) return;
      for (const { id, octets, sha256 } of await readSmallMessages(database, missing))
        if (hash('sha256', octets, 'hex') === sha256) keep(id, octets);
    },

    async readTogether(rawIds) {
      const found = new Map<string, Buffer>();
      const missing: string[] = [];
      for (const rawId of rawIds) {
        const entry = kept.get(rawId);
        if (entry === undefined) missing.push(rawId);
        else found.set(rawId, entry.octets);
      }
      if (missing.length < 2) return found;
      for (const { id, octets, sha256 } of await readSmallMessages(database, missing))
        if (hash('sha256', octets, 'hex') === sha256) found.set(id, octets);
      return found;
    },

    async get(rawId) {
      const entry = kept.get(rawId);
      if (entry !== undefined) return entry.octets;
      const row = await readMessage(database, rawId);
      if (row === undefined) {
        log.error({ rawId }, 'octets of a message are gone');
        return null;
      }
      if (!hash('sha256', row.octets, 'buffer').equals(row.sha256)) {
        log.error({ rawId }, 'octets of a message do not fit their sha256');
        return null;
      }
      return row.octets;
    },
  };
}

/** A view into a larger buffer would keep, and make a message to a worker copy, all of that. */
function onItsOwn(octets: Buffer): Buffer {
  return octets.buffer.byteLength === octets.length ? octets : Buffer.from(new Uint8Array(octets).buffer);
}

/** SQLSTATE character_not_in_repertoire. */
const NOT_IN_REPERTOIRE = '22021';

interface StoredMessage {
  octets: Buffer;
  sha256: Buffer;
}

/**
 * Reads octets as text of one character per octet, which costs a third of the driver's own way, hex (it has no binary results).
 * PostgreSQL's text has no U+0000: octets that hold one come as hex. Undefined when there is no such message.
 */
async function readMessage(database: Database, rawId: string): Promise<StoredMessage | undefined> {
  try {
    const { rows } = await database.pool.query<{ octets: string; sha256: Buffer }>({
      name: 'octet-store-get-text',
      text: `select convert_from(octets, 'LATIN1') as octets, sha256 from raw_message where id = $1`,
      values: [rawId],
    });
    return rows.map((row) => ({ ...row, octets: Buffer.from(row.octets, 'latin1') }))[0];
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_IN_REPERTOIRE) throw error;
    const { rows } = await database.pool.query<StoredMessage>({
      name: 'octet-store-get-hex',
      text: 'select octets, sha256 from raw_message where id = $1',
      values: [rawId],
    });
    return rows[0];
  }
}

/** As readMessage, with sha256 in hex; none of them when one holds U+0000. */
async function readSmallMessages(
  database: Database,
  rawIds: readonly string[],
): Promise<{ id: string; octets: Buffer; sha256: string }[]> {
  try {
    const { rows } = await database.pool.query<{ id: string; octets: string; sha256: string }>({
      name: 'octet-store-get-small',
      text: `select id, convert_from(octets, 'LATIN1') as octets, encode(sha256, 'hex') as sha256 from raw_message
             where id = any($1::text[]) and size_octets <= ${SMALL_OCTETS}`,
      values: [rawIds],
    });
    return rows.map((row) => ({ ...row, octets: Buffer.from(row.octets, 'latin1') }));
  } catch (error) {
    if ((error as { code?: unknown }).code === NOT_IN_REPERTOIRE) return [];
    throw error;
  }
}
