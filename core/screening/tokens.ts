import { CONCEPT, type Concept } from './concept.ts';
import { foldText } from './folded-text.ts';
import { HashBits } from './hash-bits.ts';
import { KnownWords } from './known-words.ts';
import { LATIN_WORDS } from './lexicon-latin.ts';
import { WORLD_WORDS } from './lexicon-world.ts';

/** A word with a meaning, in folded text. */
export interface Token {
  start: number;
  end: number;
  /** bits of CONCEPT */
  mask: number;
  /** words from the beginning of the text */
  at: number;
}

/** Han, kana, Hangul, Thai, and scripts whose articles and prepositions are written with the next word. */
const JOINED = /[\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]/;

const EXACT = new Map<string, number>();
/** Stems by their first letters. */
const STEMS = new Map<string, [stem: string, mask: number][]>();
export const STEM_KEY = 4;
/** Parts of words, for scripts that join words. */
const PIECES = new Map<string, number>();

/** Whether the lexicon may have a word with a hash, and a stem with a hash of its first letters: it has few of the words of a text. */
const WORD_HASHES = new HashBits(65_536);
const STEM_HASHES = new HashBits(65_536);

for (const words of [...Object.values(LATIN_WORDS), ...Object.values(WORLD_WORDS)])
  for (const [concept, list] of Object.entries(words))
    for (const word of foldText(list)
      .split(/[\s,]+/)
      .filter((each) => each !== ''))
      addWord(word, CONCEPT[concept as Concept]);

function addWord(word: string, mask: number): void {
  const plain = word.replaceAll('*', '').replaceAll('_', ' ');
  if (JOINED.test(plain)) PIECES.set(plain, (PIECES.get(plain) ?? 0) | mask);
  else if (!word.endsWith('*')) {
    EXACT.set(plain, (EXACT.get(plain) ?? 0) | mask);
    WORD_HASHES.add(hashWord(plain));
  } else {
    const key = plain.slice(0, STEM_KEY);
    STEMS.set(key, [...(STEMS.get(key) ?? []), [plain, mask]]);
    STEM_HASHES.add(hashWord(key));
  }
}

/** Returns the hash that addToHash makes of a word, letter by letter from 0. */
export function hashWord(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at++) hash = addToHash(hash, word.charCodeAt(at));
  return hash;
}

export function addToHash(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0;
}

/** Returns whether the lexicon may have a word; `beginning`: the hash of its first STEM_KEY letters, or of all if it has fewer. */
export function isLikely(hash: number, beginning: number): boolean {
  return WORD_HASHES.mayHave(hash) || STEM_HASHES.mayHave(beginning);
}

const PIECE = new RegExp([...PIECES.keys()].toSorted((one, other) => other.length - one.length).join('|'), 'g');

const MEANINGS = new KnownWords(lookUpMeaning);

/** Returns what the word at a place of a text means, as bits of CONCEPT; 0: nothing. `hash`: of the word. */
export function readMeaning(text: string, from: number, to: number, hash: number): number {
  return MEANINGS.find(text, from, to, hash);
}

function lookUpMeaning(word: string): number {
  const exact = EXACT.get(word) ?? 0;
  const stems = STEMS.get(word.slice(0, STEM_KEY));
  if (stems === undefined) return exact;
  return stems.reduce((mask, [stem, own]) => (word.startsWith(stem) ? mask | own : mask), exact);
}

/** Characters that count as a word in scripts without spaces. */
const PIECE_LENGTH = 3;

/** Returns the tokens with those of scripts that join words, in the order of the text. */
export function addPieces(folded: string, tokens: Token[]): Token[] {
  if (!JOINED.test(folded)) return tokens;
  for (const { 0: piece, index } of folded.matchAll(PIECE)) {
    const mask = PIECES.get(piece) ?? 0;
    tokens.push({ start: index, end: index + piece.length, mask, at: Math.floor(index / PIECE_LENGTH) });
  }
  return tokens.toSorted((one, other) => one.start - other.start);
}
