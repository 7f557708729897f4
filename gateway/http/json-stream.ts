import { Readable } from 'node:stream';
import { freeTexts, LargeText } from '../../core/shared/large-text.ts';
import { createTurns } from '../../core/shared/turns.ts';

/** Characters of a chunk; a longer string is split. */
const CHUNK_LENGTH = 65_536;
/** Bytes of a LargeText that become a chunk. */
const CHUNK_BYTES = 65_536;
/** Time that a stream may use before other requests go on; milliseconds. */
const TURN_MS = 2;

/** All streams of the process share the turns: however many there are, other requests wait for one of them. */
const turns = createTurns();

/**
 * Returns a value as a stream of JSON, for values with texts of megabytes: their JSON, which escapes can make six times as long, is never in
 * memory as a whole, and each chunk waits until the connection has taken the one before. Nothing may read its
 * large texts afterwards. `owner` is the account that takes it.
 */
export function streamJson(value: unknown, owner: string): Readable {
  return streamChunks(lastJsonChunks(value), owner);
}

/** The memory of large texts is given back once they are written, or not wanted. */
function* lastJsonChunks(value: unknown): Generator<string, void> {
  try {
    yield* jsonChunks(value);
  } finally {
    freeTexts(value);
  }
}

/**
 * Returns chunks as a stream that makes one at a time, and lets other requests go on in between. Without that, clients that read as fast as they
 * are written to would hold the process until the last one.
 */
export function streamChunks<Chunk extends string | Buffer>(
  chunks: Iterable<Chunk> | AsyncIterable<Chunk>,
  owner: string,
): Readable {
  async function* inTurns(): AsyncGenerator<Chunk, void> {
    let startedAt = performance.now();
    for await (const chunk of chunks) {
      yield chunk;
      if (performance.now() - startedAt < TURN_MS) continue;
      await turns.run(owner, () => undefined);
      startedAt = performance.now();
    }
  }
  return Readable.from(inTurns(), { objectMode: false, highWaterMark: 1 });
}

/** Yields the JSON of a value, as JSON.stringify would return it, in chunks of about 64 K characters. */
export function* jsonChunks(value: unknown): Generator<string, void> {
  let chunk = '';
  for (const piece of jsonPieces(value)) {
    chunk += piece;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

function* jsonPieces(value: unknown): Generator<string, void> {
  if (typeof value === 'string' && value.length > CHUNK_LENGTH) {
    yield '"';
    // A pair of surrogates that is split here is written as two escapes, which readers join.
    for (let at = 0; at < value.length; at += CHUNK_LENGTH)
      yield JSON.stringify(value.slice(at, at + CHUNK_LENGTH)).slice(1, -1);
    yield '"';
  } else if (value instanceof LargeText) {
    yield '"';
    for (const text of value.strings(CHUNK_BYTES)) yield JSON.stringify(text).slice(1, -1);
    yield '"';
  } else if (Array.isArray(value)) {
    yield '[';
    for (const [at, item] of value.entries()) {
      if (at > 0) yield ',';
      yield* jsonPieces(item);
    }
    yield ']';
  } else if (isRecord(value)) {
    yield '{';
    let isFirst = true;
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined || typeof member === 'function') continue;
      yield `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
      isFirst = false;
      yield* jsonPieces(member);
    }
    yield '}';
  } else yield value === undefined ? 'null' : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
