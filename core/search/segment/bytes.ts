/** The bytes of a segment are not what was written. */
export class DamagedSegment extends Error {}

const FIRST_CAPACITY = 4_096;

/** Bytes that grow at their end. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Writes an integer from 0 to 2 ** 53 - 1, seven bits to a byte, the lowest first. */
  integer(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest % 128) | 0x80;
      // Division is slow, and numbers that a shift cannot take are rare.
      rest = rest <= 0x7fffffff ? rest >>> 7 : Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Writes a number from 0 to 255. */
  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes the text from that UTF-16 unit on, after its length in bytes. */
  text(text: string, start = 0): void {
    const count = text.length - start;
    this.#reserve(count + 8);
    const lengthBefore = this.#length;
    this.integer(count);
    const bytes = this.#bytes;
    for (let at = start; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) return this.#otherText(text.slice(start), lengthBefore);
      bytes[this.#length++] = unit;
    }
  }

  /** Writes a text that is not ASCII, in place of what was written of it. */
  #otherText(text: string, lengthBefore: number): void {
    this.#length = lengthBefore;
    const bytes = Buffer.from(text, 'utf8');
    this.integer(bytes.length);
    this.bytes(bytes);
  }

  /** Returns a copy of the bytes, and begins again. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + count));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** Reads what ByteWriter wrote. Throws DamagedSegment at the end of the bytes. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  integer(): number {
    const bytes = this.#bytes;
    const first = bytes[this.#at];
    if (first !== undefined && first < 0x80) {
      this.#at++;
      return first;
    }
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 8; count++) {
      const byte = bytes[this.#at++];
      if (byte === undefined) throw new DamagedSegment('a number is cut off');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new DamagedSegment('a number is too long');
  }

  /** Returns a view of the next bytes. */
  bytes(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new DamagedSegment('bytes are cut off');
    const view = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return view;
  }

  /** Passes the next bytes, and returns where they begin, for `byteAt`. */
  skip(count: number): number {
    const start = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new DamagedSegment('bytes are cut off');
    return start;
  }

  byteAt(at: number): number {
    return this.#bytes[at] ?? 0;
  }

  text(): string {
    const start = this.skip(this.integer());
    return this.#bytes.toString('utf8', start, this.#at);
  }
}
