/** Characters that no reader sees, and that say something to a program. */
export interface UnseenCharacters {
  excerpt: string;
  why: string;
}

const TAGS = /[\u{e0020}-\u{e007e}]{3,}/gu;
const FLAG = /\u{1f3f4}$/u;
const SELECTORS = /(?:[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]){4,}/gu;
const BITS = /[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{16,}/g;
const OVERRIDE = /[\u202d\u202e]([^\u202c\n]{3,200})/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** Most text has none of these characters. */
const ANY = /[\u180e\u200b-\u200d\u202d\u202e\u2060-\u2064\ufeff\udb40]|[\ufe00-\ufe0f]/;

/** Returns what invisible characters in a text say; null: nothing. Linear. */
export function findUnseenCharacters(text: string): UnseenCharacters | null {
  if (!ANY.test(text)) return null;
  for (const { 0: run, index } of text.matchAll(TAGS)) {
    // Flags of regions are made of tag characters.
    if (FLAG.test(text.slice(Math.max(0, index - 2), index)) && run.length <= 14) continue;
    return { excerpt: spelled(run), why: 'tag characters, which no reader sees, spell a text' };
  }
  for (const [run] of text.matchAll(SELECTORS))
    return { excerpt: bytesIn(run), why: 'variation selectors, which no reader sees, hold a text' };
  for (const { 0: run, index } of text.matchAll(BITS))
    if (!isPadding(run))
      return { excerpt: text.slice(Math.max(0, index - 40), index), why: 'invisible characters hold bits of a text' };
  for (const [whole, shown = ''] of text.matchAll(OVERRIDE))
    if (/[a-z]{3}/i.test(shown) && !RIGHT_TO_LEFT.test(shown))
      return { excerpt: whole, why: 'a character reverses the text that a reader sees' };
  return null;
}

function spelled(run: string): string {
  return Array.from(run, (each) => String.fromCodePoint((each.codePointAt(0) ?? 0) - 0xe0000)).join('');
}

function bytesIn(run: string): string {
  const bytes = Array.from(run, (each) => {
    const code = each.codePointAt(0) ?? 0;
    return code < 0xfe10 ? code - 0xfe00 : code - 0xe0100 + 16;
  });
  return Buffer.from(bytes)
    .toString()
    .replace(/[\0-\x1f\ufffd]/g, '');
}

/** Newsletters fill their preview with one sequence again and again. */
function isPadding(run: string): boolean {
  return [1, 2, 3, 4].some(
    (length) =>
      run ===
      run
        .slice(0, length)
        .repeat(Math.ceil(run.length / length))
        .slice(0, run.length),
  );
}
