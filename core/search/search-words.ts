/** Maximum UTF-16 units of a word; longer words are cut, both in mail and in searches. */
export const MAX_WORD_LENGTH = 64;

/**
 * Returns the words of a text in the form that searches compare: letters and digits, in lower case, without accents (`Über` becomes
 * `uber`, `ß` becomes `ss`, full-width forms become plain ones). Everything else separates words, so an address is its parts in order. In
 * scripts without spaces between words (Chinese, Japanese, Thai and others) each character is a word. Takes linear time for any text.
 */
export function splitWords(text: string): string[] {
  return wordsOfFolded(foldText(text));
}

/** Returns the words of a text that foldText returned. */
export function wordsOfFolded(folded: string): string[] {
  const found = folded.match(isAscii(folded) ? ASCII_WORD : WORD);
  if (found === null) return [];
  for (const [at, word] of found.entries())
    if (word.length > MAX_WORD_LENGTH) found[at] = word.slice(0, MAX_WORD_LENGTH).toWellFormed();
  return found;
}

/** Returns the text in the form in which each of its words is a part of it. */
export function foldText(text: string): string {
  return isAscii(text) ? text.toLowerCase() : foldOther(text);
}

/** Returns whether a folded text may have the word; false: it has not. Many times as fast as splitWords. */
export function mayHaveWord(foldedText: string, word: string): boolean {
  // A long word that was cut within a character ends in a replacement.
  return foldedText.includes(word.endsWith('\ufffd') ? word.slice(0, -1) : word);
}

const ASCII_WORD = /[a-z0-9]+/g;
const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const WORD = new RegExp(String.raw`[[${UNSPACED}]&&[\p{L}\p{N}]]\p{M}*|[[\p{L}\p{N}\p{M}]--[${UNSPACED}]]+`, 'gv');

/** Some single characters expand to a sentence; each is cut to this many times its length. */
const MAX_GROWTH = 2;
/** Reordering marks takes quadratic time. No script combines this many with one letter. */
const CROWD_OF_MARKS = /(\p{M}{8})\p{M}+/gu;

function foldOther(text: string): string {
  return text
    .replace(CROWD_OF_MARKS, '$1')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .slice(0, MAX_GROWTH * text.length)
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ');
}

/** Returns whether all characters of a text are ASCII. */
export function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(text);
}
