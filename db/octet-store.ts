import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from './database.ts';

/** Where the octets of messages are read from. PostgreSQL holds them; what came in a moment ago is answered from memory. */
export interface OctetStore {
  /** Keeps octets in memory that were just committed, so that parser and delivery need not read them back. */
  keep(rawId: string, octets: Buffer): void;
  /** The whole message; null when it is gone or its sha256 no longer fits (which is logged). */
  get(rawId: string): Promise<Buffer | null>;
  /** `length` octets from `start` (0-based), fewer at the end of the message; null when it is gone. */
  slice(rawId: string, start: number, length: number): Promise<Buffer | null>;
}

export interface OctetStoreOptions {
  database: Database;
  log: Logger;
  /** most octets kept in memory */
  cacheOctets?: number;
}

/** Octets of messages kept in memory; speed.md "The hand-over needs a cap". */
const CACHE_OCTETS = 128_000_000;
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

  return {
    keep(rawId, octets) {
      if (octets.length > cacheOctets) return;
      drop(rawId);
      kept.set(rawId, { octets: onItsOwn(octets), keptAt: performance.now() });
      keptOctets += octets.length;
      if (keptOctets > cacheOctets) dropOld();
      else setTimer();
    },

    async get(rawId) {
      const entry = kept.get(rawId);
      if (entry !== undefined) return entry.octets;
      const rows = await readOctets<{ sha256: Buffer }>(
        database,
        'get',
        (octets) => `select ${octets('octets')} as octets, sha256 from raw_message where id = $1`,
        [rawId],
      );
      const row = rows[0];
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

    async slice(rawId, start, length) {
      const entry = kept.get(rawId);
      if (entry !== undefined) return entry.octets.subarray(start, start + length);
      const rows = await readOctets(
        database,
        'slice',
        (octets) =>
          `select ${octets('substring(octets from $2::integer + 1 for $3::integer)')} as octets from raw_message where id = $1`,
        [rawId, start, length],
      );
      return rows[0]?.octets ?? null;
    },
  };
}

/** A view into a larger buffer would keep, and make a message to a worker copy, all of that. */
function onItsOwn(octets: Buffer): Buffer {
  return octets.buffer.byteLength === octets.length ? octets : Buffer.from(new Uint8Array(octets).buffer);
}

/** SQLSTATE character_not_in_repertoire. */
const NOT_IN_REPERTOIRE = '22021';

/**
 * Reads octets as text of one character per octet, which costs a third of the driver's own way, hex (it has no binary results).
 * PostgreSQL's text has no U+0000: octets that hold one come as hex.
 */
async function readOctets<Row>(
  database: Database,
  name: string,
  statement: (octets: (expression: string) => string) => string,
  values: unknown[],
): Promise<(Row & { octets: Buffer })[]> {
  const run = <R extends object>(way: string, octets: (expression: string) => string) =>
    database.pool.query<R>({ name: `octet-store-${name}-${way}`, text: statement(octets), values });
  try {
    const { rows } = await run<Row & { octets: string }>('text', (octets) => `convert_from(${octets}, 'LATIN1')`);
    return rows.map((row) => ({ ...row, octets: Buffer.from(row.octets, 'latin1') }));
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_IN_REPERTOIRE) throw error;
    return (await run<Row & { octets: Buffer }>('hex', (octets) => octets)).rows;
  }
}
