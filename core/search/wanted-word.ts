/** A word that a search wants. */
export interface WantedWord {
  /** the word, or the letters that it begins with */
  start: string;
  /** whether words that are longer are wanted as well */
  isPrefix: boolean;
  /** returns which of the words that begin with `start` are wanted; null: all of them */
  accepts: ((word: string) => boolean) | null;
}

/** Returns whether the word is wanted. */
export function isWanted({ start, isPrefix, accepts }: WantedWord, word: string): boolean {
  return isPrefix ? word.startsWith(start) && (accepts === null || accepts(word)) : word === start;
}
