import { stripVTControlCharacters, styleText } from 'node:util';
import { type Command, Option } from 'commander';
import stringWidth from 'string-width';

export function addJsonOption(command: Command): Command {
  return command.addOption(new Option('--json', 'print JSON instead of text'));
}

/** Prints text, of which nothing controls the terminal but colors: whatever a server or a sender wrote, also where a command forgets it. */
export function print(text: string): void {
  process.stdout.write(
    `${text
      .split(COLORS)
      .map((each) => (COLOR.test(each) ? each : harmless(each)))
      .join('')}\n`,
  );
}

const COLOR = /^\u{1b}\[[\d;]{0,20}m$/u;
const COLORS = /(\u{1b}\[[\d;]{0,20}m)/u;

/** Prints a problem to stderr, as print does to stdout. */
export function complain(text: string): void {
  process.stderr.write(`${harmless(text)}\n`);
}

/** Prints one line of JSON, or indented JSON on a terminal. */
export function printJson(value: unknown): void {
  print(toJson(value, process.stdout.isTTY ? 2 : 0));
}

/** Returns JSON that cannot control a terminal: JSON itself leaves control characters from U+007F on, and characters that reorder text. */
export function toJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(
    UNSEEN,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Prints what a person may read and a program does not need, such as the next step: to stderr, and only on a terminal. */
export function hint(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${styleText('dim', harmless(text), { stream: process.stderr })}\n`);
}

/** Colors text on a terminal that shows colors, unless NO_COLOR is set. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/**
 * Returns text of others in a form that cannot control the terminal: without escape sequences, control characters (except tabs and line
 * ends) and characters that reorder text.
 */
export function harmless(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(REORDERING, '')
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '\u{fffd}');
}

/** Embeddings, overrides and isolates of the bidirectional algorithm (UAX 9). */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/gu;
const UNSEEN = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;

/** Like `harmless`, and on one line. */
export function oneLine(text: string): string {
  return harmless(text).replaceAll(/\s+/g, ' ').trim();
}

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  style?: (row: Row) => Parameters<typeof styleText>[0] | null;
  /** takes the width that the others leave, and is cut; without it the column is as wide as its texts */
  isFlexible?: true;
}

const GAP = '  ';
const MIN_FLEXIBLE_WIDTH = 12;
/** Width of flexible columns if stdout is not a terminal. */
const WIDE = 60;

/** Returns a table that fits the terminal: the flexible columns share the width that the others leave. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const widths = columns.map(({ title }, at) =>
    Math.max(stringWidth(title), ...cells.map((line) => stringWidth(line[at] ?? ''))),
  );
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
  const flexible = columns.flatMap(({ isFlexible }, at) => (isFlexible === true ? [at] : []));
  const fixed = sum(widths.filter((_, at) => !flexible.includes(at))) + GAP.length * (columns.length - 1);
  const room = process.stdout.isTTY ? process.stdout.columns - fixed : WIDE * flexible.length;
  let [left, count] = [room, flexible.length];
  // The narrow ones first: what they do not need is left for the others.
  for (const at of flexible.toSorted((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0))) {
    widths[at] = Math.min(widths[at] ?? 0, Math.max(MIN_FLEXIBLE_WIDTH, Math.floor(left / count)));
    left -= widths[at] ?? 0;
    count -= 1;
  }
  const formatLine = (texts: string[], styleOf: (at: number) => Parameters<typeof styleText>[0] | null) =>
    texts
      .map((text, at) => {
        const cut = fit(text, widths[at] ?? 0);
        const padded =
          at === columns.length - 1 ? cut : cut + ' '.repeat(Math.max(0, (widths[at] ?? 0) - stringWidth(cut)));
        const style = styleOf(at);
        return style === null ? padded : paint(style, padded);
      })
      .join(GAP)
      .trimEnd();
  return [
    formatLine(
      columns.map(({ title }) => title),
      () => 'dim',
    ),
    ...cells.map((line, n) =>
      formatLine(line, (at) => {
        const row = rows[n];
        return row === undefined ? null : (columns[at]?.style?.(row) ?? null);
      }),
    ),
  ].join('\n');
}

/** Cuts text to a width in columns, with an ellipsis. */
function fit(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    cut += segment;
  }
  return `${cut}…`;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns the time of day in the local time zone. */
export function shortTime(date: Date): string {
  return date.toTimeString().slice(0, 8);
}

/** Returns a date as a person in a hurry wants it: the time of today's, the day of this year's, in the local time zone. */
export function shortDate(date: Date, now: Date): string {
  const isSame = (...parts: ('getFullYear' | 'getMonth' | 'getDate')[]) =>
    parts.every((part) => date[part]() === now[part]());
  const two = (value: number) => String(value).padStart(2, '0');
  if (isSame('getFullYear', 'getMonth', 'getDate')) return `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (isSame('getFullYear')) return `${MONTHS[date.getMonth()]} ${date.getDate()}`;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Ends the program when the reader of its output has, as in `postroom tail | head -1`. */
export function endQuietlyWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
}
