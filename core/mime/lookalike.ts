import { domainToUnicode } from 'node:url';

/**
 * Returns text as a reader may take it: lower case, without accents and invisible characters, letters of other alphabets as the Latin ones
 * that they look like (Unicode Technical Standard 39 §4, the letters that occur in imitations).
 */
export function skeleton(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\u00ad\u200b-\u200f\u2060\ufeff]/gu, '')
    .replace(/[\u0131-\uffff]/g, (letter) => LOOKALIKES.get(letter) ?? letter);
}

/** Returns text in which the characters that a reader confuses are the same: a skeleton without `0`, `1` and `rn`. */
export function readerForm(text: string): string {
  return skeleton(text).replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('rn', 'm');
}

/** Characters in the name of a domain from which on one edit is a likeness: most shorter names are one edit apart from another honest one. */
const MIN_NAME = 5;

/**
 * Returns whether a reader may take one registered domain for another, both in ASCII: their characters look the same, or one character is
 * missing, added, replaced or in the place of its neighbor. The first character, which readers notice, must be the same. In the public
 * suffix, a character may only be missing or added: `.de` and `.dk` tell the countries of one organization apart.
 */
export function isLookalikeDomain(domain: string, known: string): boolean {
  const [seen, original] = [shownForm(domain), shownForm(known)];
  if (seen === original) return true;
  const nameLength = original.indexOf('.');
  if (nameLength < MIN_NAME || Math.abs(seen.length - original.length) > 1) return false;
  const shorter = Math.min(seen.length, original.length);
  let start = 0;
  while (start < shorter && seen[start] === original[start]) start++;
  if (start === 0) return false;
  let end = 0;
  while (end < shorter - start && seen.at(-1 - end) === original.at(-1 - end)) end++;
  const [here, there] = [seen.slice(start, seen.length - end), original.slice(start, original.length - end)];
  if (here.length !== there.length) return here.length + there.length === 1;
  if (start > nameLength) return false;
  return here.length === 1 || (here.length === 2 && here[0] === there[1] && here[1] === there[0]);
}

/** Returns the reader's form of a domain; domainToUnicode returns nothing for a name that is not allowed. */
function shownForm(domain: string): string {
  return readerForm(domainToUnicode(domain) || domain);
}

/** Latin letters, each with letters of Cyrillic, Greek, Armenian and Latin extensions that look like it. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑ',
    b: 'ьƅ',
    c: 'сϲ',
    d: 'ԁɗ',
    e: 'еєҽ',
    g: 'ɡց',
    h: 'һհ',
    i: 'іıιɩ',
    j: 'јϳ',
    k: 'кκ',
    l: 'ӏǀ',
    m: 'м',
    n: 'ոη',
    o: 'оοօ',
    p: 'рρ',
    q: 'ԛ',
    r: 'гɼ',
    s: 'ѕ',
    t: 'тτ',
    u: 'υսս',
    v: 'ѵν',
    w: 'ԝωѡ',
    x: 'хχ',
    y: 'уγү',
    z: 'ᴢ',
  }).flatMap(([latin, letters]) => letters.split('').map((letter) => [letter, latin] as const)),
);
