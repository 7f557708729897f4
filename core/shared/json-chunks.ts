import { LargeText } from './large-text.ts';
import { type Steps, textPieces } from './steps.ts';

/** Characters of a chunk; a longer string is split. */
const CHUNK_LENGTH = 65_536;
/** Bytes of a LargeText that become a chunk. */
const CHUNK_BYTES = 65_536;

/**
 * Yields the JSON of a value, exactly as JSON.stringify would return it, in chunks of about 64 K characters. Yields nothing for what has no JSON,
 * such as undefined.
 */
export function* jsonChunks(value: unknown, writeLarge = writeWhole): Generator<string, void> {
  let chunk = '';
  for (const piece of jsonPieces(jsonValue(value, ''), writeLarge) ?? []) {
    chunk += piece;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** Returns the bytes of the JSON of a value in UTF-8, in steps. Makes no string of a LargeText, so that it leaves no garbage. */
export function* countJsonBytes(value: unknown): Steps<number> {
  const texts: LargeText[] = [];
  const noteLarge: WriteLarge = (text) => {
    texts.push(text);
    return ['""'];
  };
  let bytes = 0;
  for (const chunk of jsonChunks(value, noteLarge)) {
    bytes += Buffer.byteLength(chunk);
    yield;
  }
  for (const { pieces } of texts)
    for (const piece of pieces)
      for (let at = 0; at < piece.length; at += CHUNK_BYTES) {
        const part = piece.subarray(at, at + CHUNK_BYTES);
        bytes += part.length;
        for (const byte of part) bytes += ESCAPE_BYTES[byte] ?? 0;
        yield;
      }
  return bytes;
}

/** By a byte of UTF-8: how many more its escape has (ECMA-404 §9). */
const ESCAPE_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).length - 3 : 0,
);

/** Returns the pieces of the JSON of a large text. */
type WriteLarge = (text: LargeText) => Iterable<string>;

const writeWhole: WriteLarge = (text) => stringPieces(text.strings(CHUNK_BYTES));

/** Returns the pieces of the JSON of a value from `jsonValue`; null when it has none. */
function jsonPieces(value: unknown, writeLarge: WriteLarge): Iterable<string> | null {
  if (typeof value === 'string' && value.length > CHUNK_LENGTH) return stringPieces(textPieces(value));
  if (value instanceof LargeText) return writeLarge(value);
  if (Array.isArray(value)) return listPieces(value, writeLarge);
  if (isPlainObject(value)) return objectPieces(value, writeLarge);
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : [text];
}

function* stringPieces(texts: Iterable<string>): Generator<string, void> {
  yield '"';
  for (const text of texts) yield JSON.stringify(text).slice(1, -1);
  yield '"';
}

function* listPieces(list: readonly unknown[], writeLarge: WriteLarge): Generator<string, void> {
  yield '[';
  for (const [at, item] of list.entries()) {
    if (at > 0) yield ',';
    yield* jsonPieces(jsonValue(item, String(at)), writeLarge) ?? ['null'];
  }
  yield ']';
}

function* objectPieces(object: object, writeLarge: WriteLarge): Generator<string, void> {
  yield '{';
  let isFirst = true;
  for (const [name, member] of Object.entries(object) as [string, unknown][]) {
    const pieces = jsonPieces(jsonValue(member, name), writeLarge);
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
