/**
 * A set of hashes that may say yes to others, with one bit for each value of the last bits of a hash. It is small enough for the first cache
 * of a processor: mail comes one by one, and what is looked up in larger tables comes from memory each time.
 */
export class HashBits {
  readonly #words: Int32Array;
  readonly #mask: number;

  /** `size`: number of values, a power of two. */
  constructor(size: number) {
    this.#words = new Int32Array(size / 32);
    this.#mask = size - 1;
  }

  add(hash: number): void {
    const at = (hash & this.#mask) >>> 5;
    this.#words[at] = (this.#words[at] ?? 0) | (1 << (hash & 31));
  }

  /** Returns whether a hash was added, or one with the same last bits. */
  mayHave(hash: number): boolean {
    return ((this.#words[(hash & this.#mask) >>> 5] ?? 0) & (1 << (hash & 31))) !== 0;
  }

  clear(): void {
    this.#words.fill(0);
  }
}
