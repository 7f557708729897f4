import type { Steps } from './steps.ts';

/** Objects and lists within each other in the JSON of a request. Deeper values overflow the stack of what reads them. */
export const MAX_JSON_DEPTH = 100;
/**
 * Opening brackets and commas outside texts in the JSON of a request, which are as many as its values. Numbers in lists do not count, because
 * the content of a file may be a list of its bytes. The largest batch, 100 emails with 150 recipients and 50 attachments each, has about
 * 50,000. As fields of objects, 150,000 take up to 0.3 s to parse and to check.
 */
export const MAX_JSON_VALUES = 150_000;

/**
 * Fields of one object in the JSON of a request. Whatever reads an object looks at each of them, often several times: 250,000 took up to 2.3 s
 * of processor time.
 */
export const MAX_JSON_FIELDS = 5_000;

/** What a JSON text has too much of. */
export type JsonExcess = 'depth' | 'values' | 'fields';

/** UTF-16 code units that are scanned in one step; about a millisecond. */
const STEP_LENGTH = 262_144;

/** Characters between a comma and the number behind it. */
const MAX_INDENT = 256;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPENING_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_LIST = 0x5d;
const OPENING_OBJECT = 0x7b;
const CLOSING_OBJECT = 0x7d;

/**
 * Returns which limit a JSON text exceeds, or null. Looks at characters only, before anything parses the text: takes no memory, and stops at the
 * first excess. A text that is not JSON may have one as well.
 */
export function* findJsonExcess(text: string): Steps<JsonExcess | null> {
  let depth = 0;
  let values = 0;
  let isInText = false;
  /** of the object at each depth, so far; minus infinity for a list */
  const fields = new Float64Array(MAX_JSON_DEPTH + 1);
  for (let at = 0; at < text.length; ) {
    const end = Math.min(text.length, at + STEP_LENGTH);
    // An escape may end after the step.
    for (; at < end; at++) {
      const character = text.charCodeAt(at);
      if (isInText) {
        if (character === QUOTE) isInText = false;
        else if (character === BACKSLASH) at++;
        continue;
      }
      switch (character) {
        case QUOTE:
          isInText = true;
          break;
        case OPENING_LIST:
        case OPENING_OBJECT:
          if (++depth > MAX_JSON_DEPTH) return 'depth';
          if (++values > MAX_JSON_VALUES) return 'values';
          fields[depth] = character === OPENING_OBJECT ? 1 : Number.NEGATIVE_INFINITY;
          break;
        case COMMA:
          fields[depth] = (fields[depth] ?? 0) + 1;
          if ((fields[depth] ?? 0) > MAX_JSON_FIELDS) return 'fields';
          if (!isNumberBehind(text, at) && ++values > MAX_JSON_VALUES) return 'values';
          break;
        case CLOSING_LIST:
        case CLOSING_OBJECT:
          depth--;
      }
    }
    if (at < text.length) yield;
  }
  return null;
}

/** Whether a number follows, perhaps on a line of its own. */
function isNumberBehind(text: string, comma: number): boolean {
  const end = comma + MAX_INDENT;
  let at = comma + 1;
  while (at < end && isWhitespace(text.charCodeAt(at))) at++;
  const character = text.charCodeAt(at);
  return (character >= ZERO && character <= NINE) || character === MINUS;
}

/** RFC 8259 §2. */
function isWhitespace(character: number): boolean {
  return character === SPACE || character === LINE_FEED || character === CARRIAGE_RETURN || character === TAB;
}
