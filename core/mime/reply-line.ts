/** What a line of a message is: typed by its author, quoted, or of a signature. */
export type Fate = 'kept' | 'quote' | 'signature';

/** A line as its reader sees it. */
export interface Line {
  text: string;
  /** without marks of writing direction and the `&nbsp;` that QQ writes into text, with `:` for other colons, trimmed; empty for lines that are too long to introduce anything */
  short: string;
  isBlank: boolean;
  /** what the HTML of the message says about the line */
  mark: LineMark | null;
}

/**
 * `quote`: quoted by a mail program; `block`: indented, which is quoted only below an introduction; `introduction`: introduces a quotation;
 * `onwards`: a quoted message begins here; `signature`: of a signature.
 */
export type LineMark = 'quote' | 'block' | 'introduction' | 'onwards' | 'signature';

/** Returns a line; white space around it does not matter. */
export function lineOf(text: string, mark: LineMark | null): Line {
  const trimmed = text.trim();
  const short =
    text.length > MAX_LINE_LENGTH
      ? ''
      : trimmed.replace(INVISIBLE, '').replaceAll('&nbsp;', ' ').replace(OTHER_COLONS, ':').trim();
  return { text, short, isBlank: trimmed === '', mark };
}

const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Of Armenian and Amharic. */
const OTHER_COLONS = /[\u055d\u1366]/gu;

/** Maximum characters of a line that introduces a quotation or a signature. */
export const MAX_LINE_LENGTH = 300;

/** What is before the first line and behind the last one. */
export const NO_LINE: Line = { text: '', short: '', isBlank: true, mark: null };

/** A line of dashes and the like, or of at least five dots. */
export const SEPARATOR = /^(?:(?:[-_=+*~#•–—]\s?){2,}|(?:[.·…]\s?){5,})$/u;
