/** Languages whose words have stems, as Snowball has rules for them. */
export const STEM_LANGUAGES = [
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'hungarian',
  'italian',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'spanish',
  'swedish',
] as const;
export type StemLanguage = (typeof STEM_LANGUAGES)[number];

/** Returns the stem of a word: what its forms have in common. */
export type Stemmer = (word: string) => string;

/** The words that have the stem of a searched one. */
export interface WordStem {
  /** the letters that all of them begin with, and the searched word, too */
  start: string;
  has: (word: string) => boolean;
}

/** Letters that a word has in common with its stem, at least, and with others of its stem. */
const MIN_START = 3;

/**
 * Returns which words have the stem of this one: those with its stem that begin as it does, up to the last letter that it shares with its
 * stem (`happy` becomes `happi`). Null for a word that has too little in common with its stem.
 */
export function findStem(word: string, stemmer: Stemmer): WordStem | null {
  const stem = stemmer(word);
  let common = 0;
  while (common < Math.min(word.length, stem.length) && word[common] === stem[common]) common++;
  if (common < MIN_START) return null;
  const start = word.slice(0, Math.max(MIN_START, common - 1)).toWellFormed();
  return word.startsWith(start) ? { start, has: (other) => stemmer(other) === stem } : null;
}
