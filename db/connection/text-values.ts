import pg from 'pg';

/*
 * Parsers of values as PostgreSQL writes them, for the two types that most rows have many of. pg's own parsers take regular expressions and
 * single characters: a fifth of the gateway's time for a list of threads. What is unusual is left to them.
 */

const parseAnyInstant = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text') as (text: string) => unknown;
/** Of `text[]`. */
export const TEXT_ARRAY_OID = 1009;
// The types of pg list no arrays.
const parseAnyTexts = pg.types.getTypeParser(TEXT_ARRAY_OID as never, 'text') as (text: string) => unknown;

const [DIGIT_0, DIGIT_9, DASH, SPACE, DOT] = [48, 57, 45, 32, 46];
/** Length of `2026-11-24 04:16:56`. */
const SECONDS_END = 19;

/** Parses a timestamptz in UTC, such as `2026-11-24 04:16:56.901+00`, to milliseconds. */
export function parseInstant(text: string): unknown {
  const end = text.length - 3;
  const isUsual =
    end >= SECONDS_END && text.charCodeAt(4) === DASH && text.charCodeAt(10) === SPACE && text.endsWith('+00');
  const year = isUsual ? pair(text, 0) * 100 + pair(text, 2) : 0;
  // Date.UTC takes years below 100 for those of the twentieth century.
  if (year < 100) return parseAnyInstant(text);
  let milliseconds = 0;
  if (text.charCodeAt(SECONDS_END) === DOT)
    for (let at = SECONDS_END + 1, unit = 100; unit >= 1; at++, unit /= 10)
      milliseconds += at < end ? (text.charCodeAt(at) - DIGIT_0) * unit : 0;
  return new Date(
    Date.UTC(year, pair(text, 5) - 1, pair(text, 8), pair(text, 11), pair(text, 14), pair(text, 17), milliseconds),
  );
}

/** Returns the number of two digits; NaN for anything else. */
function pair(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
  const areDigits = tens >= DIGIT_0 && tens <= DIGIT_9 && ones >= DIGIT_0 && ones <= DIGIT_9;
  return areDigits ? (tens - DIGIT_0) * 10 + ones - DIGIT_0 : Number.NaN;
}

/** Parses a `text[]`. */
export function parseTexts(text: string): unknown {
  if (text === '{}') return [];
  if (text.includes('\\') || text.includes('NULL') || text.lastIndexOf('{') !== 0) return parseAnyTexts(text);
  if (!text.includes('"')) return text.slice(1, -1).split(',');
  const texts: string[] = [];
  // Each pass takes an element and the comma or brace after it.
  for (let at = 1; at < text.length; ) {
    const isQuoted = text[at] === '"';
    const start = isQuoted ? at + 1 : at;
    const comma = isQuoted ? text.indexOf('"', start) : text.indexOf(',', start);
    const end = comma === -1 ? text.length - 1 : comma;
    texts.push(text.slice(start, end));
    at = end + (isQuoted ? 2 : 1);
  }
  return texts;
}
