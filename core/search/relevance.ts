import { type EmailTerms, PLACES } from './email-terms.ts';
import { refused, type SearchTerm } from './search-query.ts';
import { isWanted, type WantedWord } from './wanted-word.ts';
import { type WordQuery, wordQuery } from './word-query.ts';

/** A word that a search wants, by which its results can be ordered. */
export interface RankedWord {
  word: WantedWord;
  /** mask of PLACES */
  places: number;
}

/** How an email uses the words of a search. */
export interface WordUse {
  /** of each word: how often it is there, a place counts by its weight */
  frequencies: readonly number[];
  /** number of its words */
  length: number;
}

/** The emails among which an email is ranked. */
export interface RankedCorpus {
  emailCount: number;
  averageLength: number;
  /** of each word: emails that have it */
  having: readonly number[];
}

/** Returns the words that results are ordered by: the wanted ones. Marks are no words. */
export function rankedWords({ wanted }: WordQuery): RankedWord[] {
  return wanted.filter(({ isMark }) => !isMark).flatMap(({ words, places }) => words.map((word) => ({ word, places })));
}

/** Throws validation for a search without a word that results can be ordered by. */
export function requireRankedWords(terms: readonly SearchTerm[]): void {
  if (rankedWords(wordQuery(terms)).length > 0) return;
  throw refused(
    'Results can be ordered by relevance only if the search has a word or phrase to find. Add one, or order by time.',
  );
}

/** Orders of search results; docs/search.md. */
export const SEARCH_ORDERS = ['newest', 'relevance'] as const;

/** What a word in the subject, or in a name or address, counts beside one in the body. */
const WEIGHTS = new Map<number, number>([
  [PLACES.subject, 4],
  [PLACES.from, 2],
  [PLACES.to, 2],
  [PLACES.body, 1],
]);

/** Returns what a word counts in a place; 0 where it is not searched for. */
export function placeWeight(place: number, { places }: RankedWord): number {
  return (places & place) === 0 ? 0 : (WEIGHTS.get(place) ?? 0);
}

/** Returns how the email uses the words. */
export function wordUse(words: readonly RankedWord[], { texts }: EmailTerms): WordUse {
  const frequencies = words.map((ranked) => {
    const has = (word: string) => isWanted(ranked.word, word);
    return texts.reduce((sum, text) => sum + placeWeight(text.place, ranked) * text.words.filter(has).length, 0);
  });
  return { frequencies, length: texts.reduce((sum, text) => sum + text.words.length, 0) };
}

/** Constants of BM25 as in Lucene: how soon more of a word counts less, and how much the length counts. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** Scores are integers, so that a cursor holds one exactly. */
const SCORE_UNITS = 1e6;

/** Returns the relevance of an email by BM25 (Robertson and Zaragoza 2009): an integer, the larger the better. */
export function relevance({ frequencies, length }: WordUse, corpus: RankedCorpus): number {
  const norm = 1 - LENGTH_SHARE + (LENGTH_SHARE * length) / Math.max(1, corpus.averageLength);
  const score = frequencies.reduce((sum, frequency, at) => {
    const having = corpus.having[at] ?? 0;
    const rarity = Math.log(1 + Math.max(0.5, corpus.emailCount - having + 0.5) / (having + 0.5));
    return sum + (rarity * frequency * (SATURATION + 1)) / (frequency + SATURATION * norm);
  }, 0);
  return Math.round(score * SCORE_UNITS);
}
