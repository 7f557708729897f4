/** What a line of a message is: typed by its author, quoted, or of a signature. */
export type Fate = 'kept' | 'quote' | 'signature';

/** A line as its reader sees it. */
export interface Line {
  text: string;
  /** without marks of writing direction and the `&nbsp;` that QQ writes into text, with `:` for other colons, trimmed; empty for lines that are too long to introduce anything */
  short: string;
  isBlank: boolean;
  /** whether it has no other characters than those of ASCII */
  isAscii: boolean;
  /** what the HTML of the message says about the line */
  mark: LineMark | null;
}

/**
 * `quote`: quoted by a mail program; `block`: indented, which is quoted only below an introduction; `introduction`: introduces a quotation;
 * `onwards`: a quoted message begins here; `signature`: of a signature.
 */
export type LineMark = 'quote' | 'block' | 'introduction' | 'onwards' | 'signature';

/** Returns a line; white space around it does not matter. `isAscii`: whether all of its text is known to be. */
export function readLine(text: string, mark: LineMark | null, isAscii = isAsciiText(text)): Line {
  const trimmed = text.trim();
  return {
    text,
    short: text.length > MAX_LINE_LENGTH ? '' : shorten(trimmed, isAscii),
    isBlank: trimmed === '',
    isAscii,
    mark,
  };
}

/** Returns whether a text has no other characters than those of ASCII: in UTF-8, only they have as many bytes as code units. */
export function isAsciiText(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function shorten(trimmed: string, isAscii: boolean): string {
  if (isAscii) return trimmed.includes('&nbsp;') ? trimmed.replaceAll('&nbsp;', ' ').trim() : trimmed;
  return trimmed.replace(INVISIBLE, '').replaceAll('&nbsp;', ' ').replace(OTHER_COLONS, ':').trim();
}

const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Of Armenian and Amharic. */
const OTHER_COLONS = /[\u055d\u1366]/gu;

/** Maximum characters of a line that introduces a quotation or a signature. */
export const MAX_LINE_LENGTH = 300;

/** What is before the first line and behind the last one. */
export const NO_LINE: Line = { text: '', short: '', isBlank: true, isAscii: true, mark: null };

/** A line of dashes and the like, or of at least five dots. */
export const SEPARATOR = /^(?:(?:[-_=+*~#•–—]\s?){2,}|(?:[.·…]\s?){5,})$/u;

const NAMED_QUOTE = /^\s{0,8}[\p{L}][\p{L}.'-]{0,15}>/u;
const OWN_MARK = /^\s{0,4}([|):}%+=!])(?:\s|$)/u;

/** Returns the mark before each line of a quotation without `>`: `|`, `)`, `JD>`; null: it is none. */
export function findOwnMark(text: string, next: string): string | null {
  const named = NAMED_QUOTE.exec(text)?.[0].trimStart();
  if (named !== undefined) return named;
  const mark = OWN_MARK.exec(text)?.[1] ?? null;
  return mark !== null && (mark === '|' || next.trim() === '' || next.trimStart().startsWith(mark)) ? mark : null;
}
