import { CONCEPT, type Concept } from './concept.ts';
import { foldText } from './folded-text.ts';
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
const STEM_KEY = 4;
/** Parts of words, for scripts that join words. */
const PIECES = new Map<string, number>();

for (const words of [...Object.values(LATIN_WORDS), ...Object.values(WORLD_WORDS)])
  for (const [concept, list] of Object.entries(words))
    for (const word of foldText(list)
      .split(/[\s,]+/)
      .filter((each) => each !== ''))
      addWord(word, CONCEPT[concept as Concept]);

function addWord(word: string, mask: number): void {
  const plain = word.replaceAll('*', '').replaceAll('_', ' ');
  if (JOINED.test(plain)) PIECES.set(plain, (PIECES.get(plain) ?? 0) | mask);
  else if (!word.endsWith('*')) EXACT.set(plain, (EXACT.get(plain) ?? 0) | mask);
  else {
    const key = plain.slice(0, STEM_KEY);
    STEMS.set(key, [...(STEMS.get(key) ?? []), [plain, mask]]);
  }
}

const PIECE = new RegExp([...PIECES.keys()].toSorted((one, other) => other.length - one.length).join('|'), 'g');

/** Whether a word of the lexicon has a beginning, by its hash: most words of a text do not. */
const BEGINNINGS = new Uint8Array(65_536);
for (const word of [...EXACT.keys(), ...[...STEMS.values()].flatMap((stems) => stems.map(([stem]) => stem))])
  BEGINNINGS[hashBeginning(word, 0, word.length)] = 1;

/** Returns a hash of the first four characters of a word. */
function hashBeginning(text: string, start: number, end: number): number {
  const length = end - start;
  let hash = text.charCodeAt(start) * 31 + text.charCodeAt(start + 1);
  hash = hash * 31 + (length > 2 ? text.charCodeAt(start + 2) : 0);
  hash = hash * 31 + (length > 3 ? text.charCodeAt(start + 3) : 0);
  return hash & 65_535;
}

/** Returns the words of folded text that mean something here, in their order. Linear. */
export function findTokens(folded: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let start = -1;
  let isJoined = false;
  for (let index = 0; index <= folded.length; index++) {
    const code = index === folded.length ? 0 : folded.charCodeAt(index);
    if (code > 0x58f) isJoined = true;
    if (isLetter(code)) {
      if (start === -1) start = index;
      continue;
    }
    if (start === -1) continue;
    at++;
    const length = index - start;
    if (length > 1 && length <= MAX_WORD && BEGINNINGS[hashBeginning(folded, start, index)] === 1) {
      const mask = readMeaning(folded.slice(start, index));
      if (mask !== 0) tokens.push({ start, end: index, mask, at });
    }
    start = -1;
  }
  return isJoined && JOINED.test(folded) ? addPieces(folded, tokens) : tokens;
}

const MAX_WORD = 40;

function isLetter(code: number): boolean {
  if (code < 128) return code >= 97 && code <= 122;
  return code > 0xa9 && code !== 0xab && code !== 0xbb && code !== 0xbf && (code < 0x2000 || code > 0x206f);
}

function readMeaning(word: string): number {
  const exact = EXACT.get(word) ?? 0;
  const stems = STEMS.get(word.slice(0, STEM_KEY));
  if (stems === undefined) return exact;
  return stems.reduce((mask, [stem, own]) => (word.startsWith(stem) ? mask | own : mask), exact);
}

/** Characters that count as a word in scripts without spaces. */
const PIECE_LENGTH = 3;

function addPieces(folded: string, tokens: Token[]): Token[] {
  for (const { 0: piece, index } of folded.matchAll(PIECE)) {
    const mask = PIECES.get(piece) ?? 0;
    tokens.push({ start: index, end: index + piece.length, mask, at: Math.floor(index / PIECE_LENGTH) });
  }
  return tokens.toSorted((one, other) => one.start - other.start);
}
