/** Words that are kept with what was looked up of them; a power of two. */
const MAX_KNOWN = 8_192;
/** Characters of a word that is kept. */
const MAX_WORD = 40;

/** Keeps what was looked up of words in a text, by their hash: most words come again, and none has to be cut out of its text then. */
export class KnownWords<Found> {
  readonly #lookUp: (word: string) => Found;
  readonly #words: string[] = Array.from({ length: MAX_KNOWN }, () => '');
  readonly #found: (Found | undefined)[] = Array.from({ length: MAX_KNOWN }, () => undefined);

  constructor(lookUp: (word: string) => Found) {
    this.#lookUp = lookUp;
  }

  /** Returns what is found of the word at a place in a text. `hash`: of the word. */
  find(text: string, from: number, to: number, hash: number): Found {
    const at = (hash ^ (hash >>> 13)) & (MAX_KNOWN - 1);
    const known = this.#words[at] ?? '';
    const found = this.#found[at];
    if (known.length === to - from && found !== undefined && text.startsWith(known, from)) return found;
    const word = text.slice(from, to);
    const own = this.#lookUp(word);
    if (word.length <= MAX_WORD) {
      // A slice would keep the whole text in memory.
      this.#words[at] = Buffer.from(word, 'utf16le').toString('utf16le');
      this.#found[at] = own;
    }
    return own;
  }
}
