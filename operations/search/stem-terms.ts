import type { SearchTerm } from '../../core/search/search-query.ts';
import { withStems } from '../../core/search/stemmed-search.ts';
import type { StemLanguage, Stemmer } from '../../core/search/word-stem.ts';
import { createCountedCache } from '../../core/shared/sized-cache.ts';

/** Words of which the stem is kept, of all languages. @limit */
export const MAX_STEMS = 20_000;

/** Each language is loaded with the first search in it. */
const LOADERS: Readonly<Record<StemLanguage, () => Promise<{ stemmer: Stemmer }>>> = {
  danish: () => import('@orama/stemmers/danish'),
  dutch: () => import('@orama/stemmers/dutch'),
  english: () => import('@orama/stemmers/english'),
  finnish: () => import('@orama/stemmers/finnish'),
  french: () => import('@orama/stemmers/french'),
  german: () => import('@orama/stemmers/german'),
  hungarian: () => import('@orama/stemmers/hungarian'),
  italian: () => import('@orama/stemmers/italian'),
  norwegian: () => import('@orama/stemmers/norwegian'),
  portuguese: () => import('@orama/stemmers/portuguese'),
  romanian: () => import('@orama/stemmers/romanian'),
  russian: () => import('@orama/stemmers/russian'),
  spanish: () => import('@orama/stemmers/spanish'),
  swedish: () => import('@orama/stemmers/swedish'),
};

/** A stem takes about 10 µs, and a search compares those of thousands of words. */
const stems = createCountedCache<string>(MAX_STEMS);

/** Returns the search in which words also find those of their stem; as it is without a language. */
export async function stemTerms(
  terms: readonly SearchTerm[],
  language: StemLanguage | undefined,
): Promise<readonly SearchTerm[]> {
  return language === undefined ? terms : withStems(terms, await loadStemmer(language));
}

/** Returns the stemmer of a language. */
export async function loadStemmer(language: StemLanguage): Promise<Stemmer> {
  const { stemmer } = await LOADERS[language]();
  return (word) => {
    const key = `${language} ${word}`;
    let stem = stems.get(key);
    if (stem === undefined) stems.set(key, (stem = stemmer(word)));
    return stem;
  };
}
