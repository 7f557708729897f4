const FIRST_CAPACITY = 1_024;
/**
 * Places that a look-up passes at most. Words that pass more were chosen by someone who knows the hash: then a Map takes over, whose hash is
 * keyed.
 */
const MAX_PASSED = 64;
/** No word has this number. */
export const UNKNOWN = -1;
/** FNV-1a. */
const HASH_SEED = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

/** Returns the hash of no character; `addToHash` adds the UTF-16 units of a word one by one. */
export const EMPTY_HASH = HASH_SEED | 0;

export function addToHash(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, HASH_PRIME);
}

/**
 * Numbers the words of many texts, from 0 in the order in which they are added. A word is looked up as a range of its text, so that no string
 * is made of each word that is read: of the words of a mailbox nearly all are known already.
 */
export class WordTable {
  readonly #words: string[] = [];
  #hashes = new Int32Array(FIRST_CAPACITY);
  /** by place in the table: the number of a word and 1, 0 where there is none */
  #places = new Int32Array(2 * FIRST_CAPACITY);
  /** the words with their numbers, once they crowd in the table */
  #crowded: Map<string, number> | null = null;

  get size(): number {
    return this.#words.length;
  }

  /** The words by their numbers. */
  get words(): readonly string[] {
    return this.#words;
  }

  /** Returns the number of the word text[start, end), UNKNOWN when it has none. */
  find(text: string, start: number, end: number, hash: number): number {
    if (this.#crowded !== null) return this.#crowded.get(text.slice(start, end)) ?? UNKNOWN;
    const mask = this.#places.length - 1;
    let at = spread(hash) & mask;
    for (let passed = 0; passed < MAX_PASSED; passed++) {
      const number = (this.#places[at] ?? 0) - 1;
      if (number === UNKNOWN || (this.#hashes[number] === hash && isAt(text, start, end, this.#words[number] ?? '')))
        return number;
      at = (at + 1) & mask;
    }
    this.#crowded = new Map(this.#words.map((word, number) => [word, number]));
    return this.find(text, start, end, hash);
  }

  /** Adds the word text[start, end), which has no number, and returns its number. */
  add(text: string, start: number, end: number, hash: number): number {
    const number = this.#words.length;
    if (this.#crowded !== null) {
      const word = text.slice(start, end);
      this.#words.push(word);
      this.#crowded.set(word, number);
      return number;
    }
    if (2 * (number + 1) > this.#places.length) this.#grow();
    this.#words.push(text.slice(start, end));
    this.#hashes[number] = hash;
    this.#place(number);
    return number;
  }

  #grow(): void {
    const hashes = new Int32Array(2 * this.#hashes.length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#places = new Int32Array(2 * this.#places.length);
    for (let number = 0; number < this.#words.length; number++) this.#place(number);
  }

  #place(number: number): void {
    const mask = this.#places.length - 1;
    let at = spread(this.#hashes[number] ?? 0) & mask;
    while (this.#places[at] !== 0) at = (at + 1) & mask;
    this.#places[at] = number + 1;
  }
}

/** Lets the high bits of a hash decide, too: the low ones of FNV depend on the last character most. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}

function isAt(text: string, start: number, end: number, word: string): boolean {
  if (word.length !== end - start) return false;
  for (let at = 0; at < word.length; at++) if (text.charCodeAt(start + at) !== word.charCodeAt(at)) return false;
  return true;
}
