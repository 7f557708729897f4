import { freeBytes } from './free-bytes.ts';
import { type Steps, textPieces } from './steps.ts';

/** A part of what was written. */
export interface JsonRange {
  start: number;
  end: number;
}

/**
 * Writes JSON text as bytes, piece by piece. Texts are not joined to a string first: to join and encode 200 KB takes longer than to make the
 * texts.
 */
export interface JsonWriter {
  /** Writes JSON text as it is. */
  json(text: string): void;
  /** Writes a value as JSON.stringify does, in steps, and returns where, quotation marks included. */
  string(value: string | null): Steps<JsonRange>;
  /** Writes a JSON string that contains the bytes in base64 (RFC 4648 §4), in steps. */
  base64(bytes: Uint8Array): Steps<void>;
  /** Writes again what was written there. */
  again(range: JsonRange): void;
}

/** Bytes. Memory that grew beyond the limit is not kept for the next text. */
const FIRST_CAPACITY = 65_536;
const MAX_KEPT_CAPACITY = 4_194_304;
let kept: Buffer | null = null;

/** Returns the bytes that `write` writes in its steps. */
export function* writeJson(write: (out: JsonWriter) => Steps<void>): Steps<Buffer> {
  const writer = new Writer(kept ?? Buffer.allocUnsafeSlow(FIRST_CAPACITY));
  // Another writer that begins before this one ends gets its own memory.
  kept = null;
  yield* write(writer);
  const { buffer, length } = writer;
  const written = buffer.subarray(0, length);
  if (buffer.length <= MAX_KEPT_CAPACITY) {
    kept = buffer;
    return Buffer.from(written);
  }
  const copy = Buffer.allocUnsafeSlow(length);
  copy.set(written);
  freeBytes(buffer);
  return copy;
}

/** Bytes that become base64 in one step; a multiple of three, so that only the last piece is padded. */
const BASE64_BYTES = 98_304;

class Writer implements JsonWriter {
  buffer: Buffer;
  length = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  json(text: string): void {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    this.#reserve(3 * text.length);
    this.length += this.buffer.write(text, this.length, 'utf8');
  }

  *string(value: string | null): Steps<JsonRange> {
    const start = this.length;
    if (value === null) this.json('null');
    else {
      this.json('"');
      for (const piece of textPieces(value)) {
        this.json(JSON.stringify(piece).slice(1, -1));
        yield;
      }
      this.json('"');
    }
    return { start, end: this.length };
  }

  *base64(bytes: Uint8Array): Steps<void> {
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.json('"');
    for (let at = 0; at < whole.length; at += BASE64_BYTES) {
      const text = whole.toString('base64', at, Math.min(whole.length, at + BASE64_BYTES));
      this.#reserve(text.length);
      this.length += this.buffer.write(text, this.length, 'latin1');
      yield;
    }
    this.json('"');
  }

  again({ start, end }: JsonRange): void {
    this.#reserve(end - start);
    this.buffer.copyWithin(this.length, start, end);
    this.length += end - start;
  }

  #reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.buffer.length, this.length + bytes));
    this.buffer.copy(larger, 0, 0, this.length);
    freeBytes(this.buffer);
    this.buffer = larger;
  }
}
