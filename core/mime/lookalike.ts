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
