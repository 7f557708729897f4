import { LargeText } from './large-text.ts';
import { textPieces } from './steps.ts';

/** Characters of a chunk; a longer string is split. */
const CHUNK_LENGTH = 65_536;
/** Bytes of a LargeText that become a chunk. */
const CHUNK_BYTES = 65_536;

/**
 * Yields the JSON of a value, exactly as JSON.stringify would return it, in chunks of about 64 K characters. Yields nothing for what has no JSON,
 * such as undefined.
 */
export function* jsonChunks(value: unknown): Generator<string, void> {
  let chunk = '';
  for (const piece of jsonPieces(jsonValue(value, '')) ?? []) {
    chunk += piece;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** Returns the pieces of the JSON of a value from `jsonValue`; null when it has none. */
function jsonPieces(value: unknown): Iterable<string> | null {
  if (typeof value === 'string' && value.length > CHUNK_LENGTH) return stringPieces(textPieces(value));
  if (value instanceof LargeText) return stringPieces(value.strings(CHUNK_BYTES));
  if (Array.isArray(value)) return listPieces(value);
  if (isPlainObject(value)) return objectPieces(value);
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : [text];
}

function* stringPieces(texts: Iterable<string>): Generator<string, void> {
  yield '"';
  for (const text of texts) yield JSON.stringify(text).slice(1, -1);
  yield '"';
}

function* listPieces(list: readonly unknown[]): Generator<string, void> {
  yield '[';
  for (const [at, item] of list.entries()) {
    if (at > 0) yield ',';
    yield* jsonPieces(jsonValue(item, String(at))) ?? ['null'];
  }
  yield ']';
}

function* objectPieces(object: object): Generator<string, void> {
  yield '{';
  let isFirst = true;
  for (const [name, member] of Object.entries(object) as [string, unknown][]) {
    const pieces = jsonPieces(jsonValue(member, name));
    if (pieces === null) continue;
    yield `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
    isFirst = false;
    yield* pieces;
  }
  yield '}';
}

/** Returns what JSON has for a value: the result of its `toJSON`, if it has one. A LargeText stays, because it would become a string. */
function jsonValue(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || value instanceof LargeText) return value;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value;
}

/** JSON.stringify unwraps the other objects, such as `new String('')`. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return !(value instanceof String || value instanceof Number || value instanceof Boolean || value instanceof BigInt);
}
