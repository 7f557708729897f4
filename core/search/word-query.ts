import {
  ANYWHERE,
  ATTACHMENT_MARK,
  domainMark,
  type EmailTerms,
  emailMarks,
  foldedTexts,
  PLACES,
  type SearchableText,
  searchableWords,
  type WordSource,
} from './email-terms.ts';
import type { SearchedWords, SearchTerm } from './search-query.ts';
import { mayHaveWord } from './search-words.ts';
import { isWanted, type WantedWord } from './wanted-word.ts';

/** Consecutive words in one of the places, or a mark. */
export interface WordTerm {
  /** in order, at least one; of a mark the mark alone */
  words: readonly WantedWord[];
  /** mask of PLACES */
  places: number;
  isMark: boolean;
}

/** The words that a search wants and does not want: an email matches when it has all wanted ones and no unwanted one. */
export interface WordQuery {
  wanted: WordTerm[];
  unwanted: WordTerm[];
}

/** Returns the words of a search. The absence of attachments is a column of the email, not a word. */
export function wordQuery(terms: readonly SearchTerm[]): WordQuery {
  const of = (isNegated: boolean) =>
    terms.filter((term) => term.isNegated === isNegated).flatMap((term) => wordTerm(term) ?? []);
  return { wanted: of(false), unwanted: of(true) };
}

function wordTerm(term: SearchTerm): WordTerm | null {
  if (term.kind === 'words')
    return {
      words: wantedWords(term),
      places: term.place === 'anywhere' ? ANYWHERE : PLACES[term.place],
      isMark: false,
    };
  if (term.kind === 'domain') return markTerm(domainMark(term.name));
  return term.kind === 'flag' && term.flag === 'attachment' && !term.isNegated ? markTerm(ATTACHMENT_MARK) : null;
}

/** The last word may be a prefix. A single word may have a stem, which others have as well. */
function wantedWords({ words, isWhole, stem }: SearchedWords): WantedWord[] {
  const last = words.length - 1;
  const [word = ''] = words;
  if (last === 0 && !isWhole && stem != null)
    return [{ start: stem.start, isPrefix: true, accepts: (other) => other.startsWith(word) || stem.has(other) }];
  return words.map((start, at) => ({ start, isPrefix: !isWhole && at === last, accepts: null }));
}

function markTerm(mark: string): WordTerm {
  return { words: [{ start: mark, isPrefix: false, accepts: null }], places: PLACES.body, isMark: true };
}

/** Returns whether the search has no words. */
export function isWordless({ wanted, unwanted }: WordQuery): boolean {
  return wanted.length === 0 && unwanted.length === 0;
}

/** Returns whether an email matches. The text of one that does not have the words is not split into words. */
export function matchesSource(query: WordQuery, source: WordSource): boolean {
  const texts = foldedTexts(source);
  if (!mayMatch(query, texts)) return false;
  const hasMarks = [...query.wanted, ...query.unwanted].some(({ isMark }) => isMark);
  return matchesTerms(query, { texts: searchableWords(texts), marks: hasMarks ? emailMarks(source) : [] });
}

/** Returns whether an email with these folded texts may match; false: it does not. Many times as fast as finding out. */
export function mayMatch({ wanted }: WordQuery, texts: readonly SearchableText[]): boolean {
  return wanted.every(
    ({ isMark, places, words }) =>
      isMark ||
      texts.some(([place, text]) => (place & places) !== 0 && words.every(({ start }) => mayHaveWord(text, start))),
  );
}

/** Returns whether the words of an email match. */
export function matchesTerms({ wanted, unwanted }: WordQuery, email: EmailTerms): boolean {
  return wanted.every((term) => hasTerm(term, email)) && !unwanted.some((term) => hasTerm(term, email));
}

function hasTerm({ words, places, isMark }: WordTerm, email: EmailTerms): boolean {
  if (isMark) return words.every(({ start }) => email.marks.includes(start));
  const last = words.length - 1;
  return email.texts.some((text) => {
    if ((text.place & places) === 0) return false;
    for (let start = 0; start + last < text.words.length; start++) {
      if (words.every((wanted, at) => isWanted(wanted, text.words[start + at] ?? ''))) return true;
    }
    return false;
  });
}
