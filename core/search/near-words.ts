/** Words that are shorter are not corrected. Characters. */
const MIN_LENGTH = 4;
/** Words of this length may have two typing errors; shorter ones one. Characters. */
const TWO_ERRORS_LENGTH = 8;
/** Longer words are not corrected: the distance takes quadratic time. Characters. */
const MAX_LENGTH = 32;

/** Returns how many typing errors a word may have to be corrected; 0: it is not. */
export function allowedErrors(word: string): number {
  if (word.length < MIN_LENGTH || word.length > MAX_LENGTH || /^\d+$/.test(word)) return 0;
  return word.length < TWO_ERRORS_LENGTH ? 1 : 2;
}

/**
 * Returns how many letters were left out, added, replaced, or swapped with the next one between two words (optimal string alignment
 * distance); null: more than `most`.
 */
export function countErrors(word: string, other: string, most: number): number | null {
  if (Math.abs(word.length - other.length) > most) return null;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= word.length; row++) {
    const present = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = word[row - 1] === other[column - 1];
      let errors = Math.min(
        (last[column] ?? 0) + 1,
        (present[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwapped =
        row > 1 && column > 1 && word[row - 1] === other[column - 2] && word[row - 2] === other[column - 1];
      if (isSwapped) errors = Math.min(errors, (beforeLast[column - 2] ?? 0) + 1);
      present.push(errors);
    }
    if (Math.min(...present) > most) return null;
    beforeLast = last;
    last = present;
  }
  const errors = last[other.length] ?? 0;
  return errors <= most ? errors : null;
}

/** Returns with which letters words near this one begin, the likeliest first: at least one half of a word has at most half of the errors. */
export function nearPrefixes(word: string): string[] {
  const half = word.slice(0, Math.ceil(word.length / 2));
  const [first = '', second = ''] = word;
  return [...new Set([half, word.slice(0, 2), second + first, first])];
}

/** A word of a search as the user wrote it. */
export interface TypedWord {
  /** its place in the text */
  from: number;
  to: number;
}

/** Returns the words of a search that can be corrected: outside of quotes, without an operator other than `subject:`, and not negated. */
export function typedWords(search: string): TypedWord[] {
  return [...search.matchAll(/[^\s"]*"[^"]*"?|\S+/g)].flatMap(({ 0: text, index }) => {
    const word = /^(?:subject:)?(\p{L}[\p{L}\p{N}]*)$/iu.exec(text)?.[1];
    return word === undefined ? [] : [{ from: index + text.length - word.length, to: index + text.length }];
  });
}
