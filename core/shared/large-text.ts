/** Memory of a text that was loaded for one use. Texts that are parts of it share it. */
class TextMemory {
  #blocks: readonly ArrayBuffer[];
  #isFree = false;

  constructor(blocks: readonly ArrayBuffer[]) {
    this.#blocks = blocks;
  }

  get isFree(): boolean {
    return this.#isFree;
  }

  free(): void {
    // What is transferred into nothing is gone at once.
    for (const block of this.#blocks) if (!block.detached) block.transfer(0);
    this.#isFree ||= this.#blocks.length > 0;
    this.#blocks = [];
  }
}

/**
 * A text of megabytes as UTF-8, in pieces that end between characters. As a string it would take up to two bytes per character, because a
 * single character outside Latin-1 doubles all of it, and the process would make it, and write it as JSON, in one go.
 */
export class LargeText {
  readonly #pieces: readonly Buffer[];
  readonly #memory: TextMemory;
  /** of all pieces */
  readonly bytes: number;

  constructor(pieces: readonly Buffer[], memory: TextMemory = new TextMemory([])) {
    this.#pieces = pieces;
    this.#memory = memory;
    this.bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** Returns a text of pieces whose memory nothing else uses, so that `free` gives it back. */
  static own(pieces: readonly Buffer<ArrayBuffer>[]): LargeText {
    return new LargeText(pieces, new TextMemory(pieces.map(({ buffer }) => buffer)));
  }

  /**
   * Gives the memory of a text from `own` back at once: the garbage collector would keep it, and that of those after it, for a while. Neither
   * this text nor any that is a part of it can be read afterwards.
   */
  free(): void {
    this.#memory.free();
  }

  get pieces(): readonly Buffer[] {
    if (this.#memory.isFree) throw new Error('the memory of this text was given back');
    return this.#pieces;
  }

  /** Yields the text in strings of at most `maxBytes` in UTF-8, four at least. */
  *strings(maxBytes: number): Generator<string, void> {
    for (const piece of this.pieces)
      for (let at = 0; at < piece.length; ) {
        const end = characterEnd(piece, at + maxBytes);
        yield piece.toString('utf8', at, end);
        at = end;
      }
  }

  /** Returns the first `length` UTF-16 code units, or all of a shorter text. */
  beginning(length: number): string {
    const strings: string[] = [];
    let missing = length;
    for (const text of this.strings(STEP_BYTES)) {
      strings.push(text.slice(0, missing));
      missing -= text.length;
      if (missing <= 0) break;
    }
    return strings.join('');
  }

  /**
   * Returns the parts between offsets in UTF-16 code units, in order and not overlapping, one after the other. They share the memory of this
   * text.
   */
  slice(parts: readonly { start: number; end: number }[]): LargeText {
    const pieces: Buffer[] = [];
    let [part, ...later] = parts;
    let from = 0;
    for (const piece of this.pieces)
      for (let at = 0; at < piece.length && part !== undefined; ) {
        const end = characterEnd(piece, at + STEP_BYTES);
        const text = piece.toString('utf8', at, end);
        while (part !== undefined && part.start < from + text.length) {
          const [first, last] = [Math.max(0, part.start - from), Math.min(text.length, part.end - from)];
          if (last > first)
            pieces.push(
              piece.subarray(at + Buffer.byteLength(text.slice(0, first)), at + Buffer.byteLength(text.slice(0, last))),
            );
          if (part.end > from + text.length) break;
          [part, ...later] = later;
        }
        from += text.length;
        at = end;
      }
    return new LargeText(pieces, this.#memory);
  }

  /** Returns the text without white space at both ends, like String.trim; it shares the memory of this text. */
  trim(): LargeText {
    const pieces = [...this.pieces];
    for (let first = pieces.shift(); first !== undefined; first = pieces.shift()) {
      const spaces = spaceBytes(first, 'start');
      if (spaces === first.length) continue;
      pieces.unshift(first.subarray(spaces));
      break;
    }
    for (let last = pieces.pop(); last !== undefined; last = pieces.pop()) {
      const spaces = spaceBytes(last, 'end');
      if (spaces === last.length) continue;
      pieces.push(last.subarray(0, last.length - spaces));
      break;
    }
    return new LargeText(pieces, this.#memory);
  }

  /** Returns the whole text, which takes as much memory again, or twice. */
  toString(): string {
    return [...this.strings(STEP_BYTES)].join('');
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Gives the memory of all large texts in a value back; see LargeText.free. */
export function freeTexts(value: unknown): void {
  if (value instanceof LargeText) value.free();
  else if (Array.isArray(value)) for (const item of value) freeTexts(item);
  else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
    for (const member of Object.values(value)) freeTexts(member);
}

/** Returns whether a value has a large text. */
export function hasLargeText(value: unknown): boolean {
  if (value instanceof LargeText) return true;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  return Object.values(value).some(hasLargeText);
}

/** A body of an email: a LargeText if it has more than LARGE_BODY_BYTES. */
export type BodyText = string | LargeText;

/** Bodies of more bytes than this are a LargeText. */
export const LARGE_BODY_BYTES = 262_144;

/** Bytes that are decoded at once; a fraction of a millisecond. */
const STEP_BYTES = 65_536;

/** Returns the first `length` UTF-16 code units of a text. */
export function textBeginning(text: BodyText, length: number): string {
  return typeof text === 'string' ? text.slice(0, length) : text.beginning(length);
}

/** Returns a text as a string, however long it is. */
export function wholeText(text: BodyText): string;
export function wholeText(text: BodyText | null): string | null;
export function wholeText(text: BodyText | null): string | null {
  return text instanceof LargeText ? text.toString() : text;
}

/** Returns the end of the last character that begins before the offset, or the end of the bytes. */
function characterEnd(bytes: Buffer, offset: number): number {
  let end = Math.min(offset, bytes.length);
  // 10xxxxxx continues a character (RFC 3629 §3).
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** Returns how many bytes of white space a text begins or ends with. */
function spaceBytes(bytes: Buffer, side: 'start' | 'end'): number {
  let count = 0;
  while (count < bytes.length) {
    const [from, to] =
      side === 'start'
        ? [count, characterEnd(bytes, count + STEP_BYTES)]
        : [characterEnd(bytes, Math.max(0, bytes.length - count - STEP_BYTES)), bytes.length - count];
    const text = bytes.toString('utf8', from, to);
    const left = side === 'start' ? text.trimStart() : text.trimEnd();
    if (left !== '') return count + Buffer.byteLength(text) - Buffer.byteLength(left);
    count += to - from;
  }
  return count;
}
