/** A set of documents of one segment, by number. */
export class DocumentSet {
  readonly size: number;
  readonly #words: Uint32Array;

  /** `size`: the documents of the segment, numbered from 0. */
  constructor(size: number) {
    this.size = size;
    this.#words = new Uint32Array((size + 31) >>> 5);
  }

  add(document: number): void {
    const at = document >>> 5;
    this.#words[at] = (this.#words[at] ?? 0) | (1 << (document & 31));
  }

  delete(document: number): void {
    const at = document >>> 5;
    this.#words[at] = (this.#words[at] ?? 0) & ~(1 << (document & 31));
  }

  has(document: number): boolean {
    return (((this.#words[document >>> 5] ?? 0) >>> (document & 31)) & 1) === 1;
  }

  /** Adds the documents of a bitmap, lowest first. */
  addBitmap(bitmap: Uint8Array): void {
    const words = this.#words;
    for (let at = 0; at < bitmap.length; at++)
      words[at >>> 2] = (words[at >>> 2] ?? 0) | ((bitmap[at] ?? 0) << ((at & 3) * 8));
  }

  addAll(other: DocumentSet): void {
    const words = this.#words;
    for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) | (other.#words[at] ?? 0);
  }

  keepOnly(other: DocumentSet): void {
    const words = this.#words;
    for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) & (other.#words[at] ?? 0);
  }

  deleteAll(other: DocumentSet): void {
    const words = this.#words;
    for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) & ~(other.#words[at] ?? 0);
  }

  /** Adds every document of the segment. */
  fill(): void {
    this.#words.fill(0xffffffff);
    const over = this.size & 31;
    if (over !== 0) this.#words[this.#words.length - 1] = 0xffffffff >>> (32 - over);
  }

  get count(): number {
    let count = 0;
    for (let word of this.#words) {
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    return count;
  }

  get isEmpty(): boolean {
    const words = this.#words;
    for (let at = 0; at < words.length; at++) if (words[at] !== 0) return false;
    return true;
  }

  /** Returns the first document from this one on, -1 when there is none. */
  next(from: number): number {
    if (from >= this.size) return -1;
    let at = from >>> 5;
    let word = (this.#words[at] ?? 0) & (-1 << (from & 31));
    while (word === 0) {
      if (++at >= this.#words.length) return -1;
      word = this.#words[at] ?? 0;
    }
    return at * 32 + (31 - Math.clz32(word & -word));
  }

  /** Returns the last document up to this one, -1 when there is none. */
  previous(from: number): number {
    if (from < 0) return -1;
    let at = from >>> 5;
    let word = (this.#words[at] ?? 0) & (0xffffffff >>> (31 - (from & 31)));
    while (word === 0) {
      if (--at < 0) return -1;
      word = this.#words[at] ?? 0;
    }
    return at * 32 + (31 - Math.clz32(word));
  }
}
