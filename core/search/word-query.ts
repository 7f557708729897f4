import {
  ANYWHERE,
  ATTACHMENT_MARK,
  domainMark,
  type EmailTerms,
  emailMarks,
  PLACES,
  searchableTexts,
  searchableWords,
  type WordSource,
} from './email-terms.ts';
import type { SearchTerm } from './search-query.ts';
import { foldText, mayHaveWord } from './search-words.ts';

/** Consecutive words in one of the places, or a mark. */
export interface WordTerm {
  /** in order, at least one; of a mark the mark alone */
  words: readonly string[];
  /** whether the last word may be a prefix */
  isPrefix: boolean;
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
      words: term.words,
      isPrefix: !term.isWhole,
      places: term.place === 'anywhere' ? ANYWHERE : PLACES[term.place],
      isMark: false,
    };
  if (term.kind === 'domain') return markTerm(domainMark(term.name));
  return term.kind === 'flag' && term.flag === 'attachment' && !term.isNegated ? markTerm(ATTACHMENT_MARK) : null;
}

function markTerm(mark: string): WordTerm {
  return { words: [mark], isPrefix: false, places: PLACES.body, isMark: true };
}

/** Returns whether the search has no words. */
export function isWordless({ wanted, unwanted }: WordQuery): boolean {
  return wanted.length === 0 && unwanted.length === 0;
}

/** Returns whether an email matches. The text of one that does not have the words is not split into words. */
export function matchesSource(query: WordQuery, source: WordSource): boolean {
  const texts = searchableTexts(source);
  const wanted = query.wanted.filter((term) => !term.isMark);
  const folded = wanted.length === 0 ? [] : texts.map(([place, text]) => ({ place, text: foldText(text) }));
  const mayMatch = wanted.every(({ places, words }) =>
    folded.some(({ place, text }) => (place & places) !== 0 && words.every((word) => mayHaveWord(text, word))),
  );
  if (!mayMatch) return false;
  const hasMarks = [...query.wanted, ...query.unwanted].some(({ isMark }) => isMark);
  return matchesTerms(query, { texts: searchableWords(texts), marks: hasMarks ? emailMarks(source) : [] });
}

/** Returns whether the words of an email match. */
export function matchesTerms({ wanted, unwanted }: WordQuery, email: EmailTerms): boolean {
  return wanted.every((term) => hasTerm(term, email)) && !unwanted.some((term) => hasTerm(term, email));
}

function hasTerm({ words, isPrefix, places, isMark }: WordTerm, email: EmailTerms): boolean {
  const [first = ''] = words;
  if (isMark) return email.marks.includes(first);
  const last = words.length - 1;
  return email.texts.some((text) => {
    if ((text.place & places) === 0) return false;
    for (let start = 0; start + last < text.words.length; start++) {
      let at = 0;
      while (at <= last) {
        const word = text.words[start + at] ?? '';
        const wanted = words[at] ?? '';
        if (word !== wanted && !(isPrefix && at === last && word.startsWith(wanted))) break;
        at++;
      }
      if (at > last) return true;
    }
    return false;
  });
}
