import {
  type EmailTerms,
  emailMarks,
  foldedTexts,
  PLACE_COUNT,
  PLACES,
  type SearchableText,
  searchableWords,
  type WordSource,
} from './email-terms.ts';
import type { WantedWord } from './wanted-word.ts';
import { mayMatch, type WordQuery, type WordTerm } from './word-query.ts';

/** What the words of an email say of a search. unsure: it has the words of a phrase, and only its text tells whether in this order. */
export type WordMatch = 'yes' | 'no' | 'unsure';

/**
 * The words of an email, kept for many searches. At first these are its folded texts; only an email that may match a search is split into
 * words, once, and from then on it has each word once.
 */
export class KeptEmail {
  readonly #marks: readonly string[];
  #texts: readonly SearchableText[] | null;
  #words: readonly string[] = [];

  constructor(source: WordSource) {
    this.#marks = emailMarks(source);
    this.#texts = foldedTexts(source);
  }

  /** Whether it was split into words. */
  get isSplit(): boolean {
    return this.#texts === null;
  }

  /** Bytes of memory, about. */
  get bytes(): number {
    const texts = this.#texts === null ? this.#words : [...this.#marks, ...this.#texts.map(([, text]) => text)];
    return texts.reduce((sum, text) => sum + text.length * BYTES_OF_CHARACTER, 0);
  }

  match(query: WordQuery): WordMatch {
    if (this.#texts !== null) {
      if (!mayMatch(query, this.#texts)) return 'no';
      this.#words = listWords({ texts: searchableWords(this.#texts), marks: this.#marks });
      this.#texts = null;
    }
    const words = this.#words;
    const { wanted, unwanted } = query;
    if (!wanted.every((term) => hasWords(term, words))) return 'no';
    const found = unwanted.filter((term) => hasWords(term, words));
    if (found.some((term) => term.words.length === 1)) return 'no';
    return found.length > 0 || wanted.some((term) => term.words.length > 1) ? 'unsure' : 'yes';
  }
}

/** Most text is of one byte each; the rest makes up for what strings take beside. */
const BYTES_OF_CHARACTER = 1.5;

/** Returns a text of each place, in the order of their bits: its different words, each between two line feeds. Marks are in bodies. */
function listWords({ texts, marks }: EmailTerms): string[] {
  return Array.from({ length: PLACE_COUNT }, (_, bit) => {
    const place = 1 << bit;
    const words = new Set(texts.filter((text) => text.place === place).flatMap((text) => text.words));
    if (place === PLACES.body) for (const mark of marks) words.add(mark);
    words.delete('');
    return words.size === 0 ? '' : `\n${[...words].join('\n')}\n`;
  });
}

/** Returns whether one place has all words of the term. */
function hasWords({ words, places }: WordTerm, listed: readonly string[]): boolean {
  return listed.some((list, bit) => ((places >>> bit) & 1) === 1 && words.every((wanted) => hasWord(wanted, list)));
}

function hasWord({ start, isPrefix, accepts }: WantedWord, list: string): boolean {
  if (!isPrefix) return list.includes(`\n${start}\n`);
  for (let at = list.indexOf(`\n${start}`); at !== -1; at = list.indexOf(`\n${start}`, at + 1))
    if (accepts === null || accepts(list.slice(at + 1, list.indexOf('\n', at + 1)))) return true;
  return false;
}
