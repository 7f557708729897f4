import type { SearchTerm } from './search-query.ts';
import { findStem, type Stemmer } from './word-stem.ts';

/** Returns the search in which single words outside quotes, of subjects and of any place, also find words of their stem. */
export function withStems(terms: readonly SearchTerm[], stemmer: Stemmer): SearchTerm[] {
  return terms.map((term) => {
    const isStemmed = term.kind === 'words' && !term.isWhole && term.words.length === 1;
    if (!isStemmed || (term.place !== 'anywhere' && term.place !== 'subject')) return term;
    return { ...term, stem: findStem(term.words[0] ?? '', stemmer) };
  });
}
