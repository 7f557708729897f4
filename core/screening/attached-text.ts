import { readAllText } from './all-text.ts';

/** Characters of all attached texts together that are screened. */
export const MAX_ATTACHED = 200_000;

const CALENDAR = /^\s*BEGIN:V(?:CALENDAR|CARD|EVENT|TODO)\b/i;
const MARKUP = /^\s*<[!?a-z]/i;
const DATA = /^\s*[[{]/;
/** A value within quotation marks that has several words. */
const VALUE = /"((?:[^"\\]|\\.){3,2000})"/g;
const SEPARATORS = ['\t', ';', ','] as const;
/** Lines that tell whether a text is a table, and separators that each has at least. */
const TABLE_LINES = 2;
const TABLE_SEPARATORS = 2;

/**
 * Returns what an attached text says, as lines of prose: the values of calendars, tables and data on lines of their own, and markup without its
 * tags. Other text is returned as it is. Linear.
 */
export function readAttachedText(text: string): string {
  if (CALENDAR.test(text)) return readCalendar(text);
  if (MARKUP.test(text)) return readAllText(text);
  if (DATA.test(text)) return readData(text);
  return readTable(text) ?? text;
}

/** Unfolds the lines (RFC 5545 §3.1) and reads escaped commas and line ends (§3.3.11). */
function readCalendar(text: string): string {
  return text
    .replace(/\r?\n[ \t]/g, '')
    .replace(/^([A-Z-]{1,40})(?:;[^:\r\n]{0,200})?:/gm, '\n$1:\n')
    .replace(/\\n/gi, '\n')
    .replace(/\\([,;\\])/g, '$1');
}

/** Returns the keys and values, each with the last key before it. */
function readData(text: string): string {
  const lines: string[] = [];
  for (const { 1: value = '', index, 0: whole } of text.matchAll(VALUE)) {
    const isKey = /^\s*:/.test(text.slice(index + whole.length, index + whole.length + 4));
    lines.push(`${value.replace(/\\[nrt]/g, ' ').replace(/\\(.)/g, '$1')}${isKey ? ':' : '\n'}`);
  }
  return lines.join(' ');
}

/** Returns the cells of a table, a blank line between two; null: it is none. */
function readTable(text: string): string | null {
  const lines = text.split('\n', TABLE_LINES + 1);
  if (lines.length < TABLE_LINES) return null;
  const separator = SEPARATORS.find((each) => {
    const [first = 0, ...others] = lines.slice(0, TABLE_LINES).map((line) => line.split(each).length - 1);
    return first >= TABLE_SEPARATORS && others.every((count) => count >= first);
  });
  if (separator === undefined) return null;
  const cell = separator === ',' ? /"((?:[^"]|""){0,5000})"|[^,\n]+/g : /"((?:[^"]|""){0,5000})"|[^;\t\n]+/g;
  return [...text.matchAll(cell)].map(([whole, quoted]) => quoted ?? whole).join('\n\n');
}
