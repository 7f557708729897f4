import { readAllText } from './all-text.ts';

const CALENDAR = /^\s*BEGIN:V(?:CALENDAR|CARD|EVENT|TODO)\b/i;
const MARKUP = /^\s*<[!?a-z]/i;
/** What an HTML page has near its beginning. */
const HTML = /<(?:!doctype html|html|head|body)\b/i;
const HTML_WITHIN = 1_000;
const ATTRIBUTE = /[\w:-]="(?=[^"<]{0,200} )([^"<]{12,20000})"/g;
const DATA = /^\s*[[{]/;
/** A string of valid JSON. */
const JSON_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
/** A parameter of a calendar within quotation marks. */
const QUOTED = /"([^"]*)"/g;
const RTF = /^\s*\{\\rtf/;
/** The end of a line before one that begins with a date: each line of a log speaks for itself. */
const LOG_LINE = /\n(?=\[?\d{4}-\d\d-\d\d[T ])/g;
const SEPARATORS = ['\t', ';', ','] as const;
/** Lines that tell whether a text is a table, and separators that each has at least. */
const TABLE_LINES = 2;
const TABLE_SEPARATORS = 2;

/**
 * Returns what an attached text says, as lines of prose: the values of calendars, tables and JSON on lines of their own, and markup and RTF
 * without their tags. Other text is returned as it is. Linear.
 */
export function readAttachedText(text: string): string {
  if (CALENDAR.test(text)) return readCalendar(text);
  if (MARKUP.test(text)) return readMarkup(text);
  if (RTF.test(text)) return readRichText(text);
  if (DATA.test(text)) return readData(text);
  return readTable(text) ?? text.replace(LOG_LINE, '\n\n');
}

/** Unfolds the lines (RFC 5545 §3.1) and reads quoted parameters, escaped commas and line ends (§3.3.11). */
function readCalendar(text: string): string {
  return text
    .replace(/\r?\n[ \t]/g, '')
    .replace(/^([A-Z-]{1,40})(?:;([^:\r\n]{0,200}))?:/gm, (_whole, name: string, parameters: string | undefined) => {
      const said = Array.from((parameters ?? '').matchAll(QUOTED), ([, value]) => `\n${value}\n`);
      return `${said.join('')}\n${name}:\n`;
    })
    .replace(/\\n/gi, '\n')
    .replace(/\\([,;\\])/g, '$1');
}

/** Returns the text of markup; that of XML with all attributes of several words, since any of them can hold what it says. */
function readMarkup(text: string): string {
  const said = readAllText(text);
  if (HTML.test(text.slice(0, HTML_WITHIN))) return said;
  return [said, ...Array.from(text.matchAll(ATTRIBUTE), ([, value]) => value)].join('\n\n');
}

/** Returns the strings of JSON, or of its lines that are JSON; what is none stays as it is, since brackets begin many other texts. */
function readData(text: string): string {
  return (
    readJson(text) ??
    text
      .split('\n')
      .map((line) => (DATA.test(line) ? readJson(line) : null) ?? line)
      .join('\n')
  );
}

/** Returns the decoded keys and values, each with the last key before it and also repeated ones; null: the text is no JSON. */
function readJson(text: string): string | null {
  try {
    JSON.parse(text);
    const lines: string[] = [];
    for (const { 0: whole, index } of text.matchAll(JSON_STRING)) {
      const isKey = /^\s*:/.test(text.slice(index + whole.length, index + whole.length + 4));
      lines.push(`${String(JSON.parse(whole))}${isKey ? ':' : '\n'}`);
    }
    return lines.join(' ');
  } catch {
    return null;
  }
}

/** Returns the text of RTF: without control words and groups, and with its escaped characters. */
function readRichText(text: string): string {
  return text
    .replace(/\\u(-?\d{1,5}) ?(?:\\'[0-9a-f]{2}|\?)?/gi, (_whole, code: string) =>
      String.fromCharCode((Number(code) + 65_536) % 65_536),
    )
    .replace(/\\'([0-9a-f]{2})/gi, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\(?:par|line|row|sect)\b ?/g, '\n')
    .replace(/\\[a-z]{1,32}-?\d{0,10} ?/gi, '')
    .replace(/\\([\\{}])|[{}]/g, '$1');
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
