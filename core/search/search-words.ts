/** UTF-16 units of a word that count; longer ones are cut, in mail and in what is searched for alike. */
const MAX_WORD_LENGTH = 64;

/**
 * The words of a text as searches compare them: letters and digits, in lower case, without accents and the like (`Über` is `uber`, `ß` is
 * `ss`, full-width forms are plain ones). Everything else parts words, so that an address is its parts in order. Scripts that put no spaces
 * between words (Chinese, Japanese, Thai and others) give one word for each character. Takes linear time, whatever the text holds.
 */
export function wordsOf(text: string): string[] {
  const found = isAscii(text) ? text.toLowerCase().match(ASCII_WORD) : folded(text).match(WORD);
  if (found === null) return [];
  for (const [at, word] of found.entries())
    if (word.length > MAX_WORD_LENGTH) found[at] = word.slice(0, MAX_WORD_LENGTH).toWellFormed();
  return found;
}

const ASCII_WORD = /[a-z0-9]+/g;
const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const WORD = new RegExp(String.raw`[[${UNSPACED}]&&[\p{L}\p{N}]]\p{M}*|[[\p{L}\p{N}\p{M}]--[${UNSPACED}]]+`, 'gv');

/** Some single characters stand for a sentence; more than this many for each are cut. */
const MAX_GROWTH = 2;
/** Putting marks into their order takes the square of their number. No script joins so many to one letter. */
const CROWD_OF_MARKS = /(\p{M}{8})\p{M}+/gu;

function folded(text: string): string {
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

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(text);
}
