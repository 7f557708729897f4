import { Readable } from 'node:stream';
import { jsonChunks } from '../../core/shared/json-chunks.ts';
import { freeTexts } from '../../core/shared/large-text.ts';
import { createTurns } from '../../core/shared/turns.ts';

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
