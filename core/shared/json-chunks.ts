import { LargeText } from './large-text.ts';

/** Characters of a chunk; a longer string is split. */
const CHUNK_LENGTH = 65_536;
/** Bytes of a LargeText that become a chunk. */
const CHUNK_BYTES = 65_536;

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
