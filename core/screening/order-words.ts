import { foldText } from './folded-text.ts';
import { HashBits } from './hash-bits.ts';
import { KnownWords } from './known-words.ts';
import { ORDER_WORDS } from './order-lexicon.ts';
import { isDoubtful, isMeant, LANGUAGES, readCommonWords, readLanguages } from './word-languages.ts';

/** A group of words by what they do in an order. */
export type OrderGroup = keyof typeof ORDER_WORDS;
/** All groups: a group's number is its place. */
export const ORDER_GROUPS = Object.keys(ORDER_WORDS) as OrderGroup[];

/** Scripts that write words together, and whose words are found within others. */
export const JOINED = /[\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]/;
/** The first unit of these scripts. */
export const FIRST_JOINED = 0x590;
const STEM_KEY = 3;
/** Letters of a word that all its forms have. */
export const STEM_LENGTH = 5;

const EXACT = new Map<string, Set<number>>();
const STEMS = new Map<string, [stem: string, group: number][]>();
const PIECES = new Map<string, Set<number>>();

ORDER_GROUPS.forEach((name, group) => {
  for (const word of foldText(ORDER_WORDS[name]).split(/\s+/)) {
    const plain = word.replace('*', '');
    if (plain === '') continue;
    if (JOINED.test(plain)) add(PIECES, plain, group);
    else if (!word.endsWith('*')) add(EXACT, plain, group);
    else {
      const key = plain.slice(0, STEM_KEY);
      STEMS.set(key, [...(STEMS.get(key) ?? []), [plain, group]]);
    }
  }
});

function add(words: Map<string, Set<number>>, word: string, group: number): void {
  words.set(word, (words.get(word) ?? new Set()).add(group));
}

/** The words of joined scripts, the longest first. */
export const PIECE = new RegExp([...PIECES.keys()].toSorted((one, other) => other.length - one.length).join('|'), 'g');
const NO_GROUPS: readonly number[] = [];

/** What a word may mean. */
export interface Meaning {
  groups: readonly number[];
  /** the groups by language, when it means something else in some */
  byLanguage: readonly (readonly number[])[] | null;
  /** bits of the languages in which it is common */
  languages: number;
}

const KNOWN = new KnownWords(lookUpMeaning);

/** Returns what a word at a place in a text may mean. `hash`: of the word. */
export function findMeaning(text: string, from: number, to: number, hash: number): Meaning {
  return KNOWN.find(text, from, to, hash);
}

/** Returns the groups of a word of a joined script. */
export function readPieceGroups(piece: string): number[] {
  return [...(PIECES.get(piece) ?? NO_GROUPS)];
}

function lookUpMeaning(word: string): Meaning {
  const found: [group: number, stem: string][] = [...(EXACT.get(word) ?? [])].map((group) => [group, '']);
  for (const [stem, group] of STEMS.get(word.slice(0, STEM_KEY)) ?? [])
    if (word.startsWith(stem)) found.push([group, stem]);
  const listGroups = (own: typeof found) => [...new Set(own.map(([group]) => group))];
  const isInDoubt = isDoubtful(
    word,
    found.map(([, stem]) => stem),
  );
  const byLanguage =
    isInDoubt && found.length > 0
      ? LANGUAGES.map((_each, language) =>
          listGroups(found.filter(([group, stem]) => isMeant(word, stem, ORDER_GROUPS[group] ?? '', language))),
        )
      : null;
  return { groups: found.length === 0 ? NO_GROUPS : listGroups(found), byLanguage, languages: readLanguages(word) };
}

const WHOLE_HASHES = new HashBits(65_536);
const STEM_HASHES = new HashBits(65_536);
for (const word of [...EXACT.keys(), ...readCommonWords()]) WHOLE_HASHES.add(hashText(word));
for (const stems of STEMS.values()) for (const [stem] of stems) STEM_HASHES.add(hashText(stem.slice(0, STEM_LENGTH)));

/** Whether a word may be in a group, by the hashes of its first three, four and five letters and of all. */
export function mayBeInGroup(three: number, four: number, five: number, whole: number): boolean {
  return (
    WHOLE_HASHES.mayHave(whole) || STEM_HASHES.mayHave(five) || STEM_HASHES.mayHave(four) || STEM_HASHES.mayHave(three)
  );
}

/** Returns the hash of a text that is one unit longer. */
export function nextHash(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0;
}

/** Returns the hash of a text, of 32 bits. */
export function hashText(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = nextHash(hash, text.charCodeAt(at));
  return hash;
}
