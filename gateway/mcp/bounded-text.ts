import { type BodyText, textBeginning } from '../../core/shared/large-text.ts';

/** A part of a text, and where the rest begins. */
export interface TextPart {
  text: string;
  /** in UTF-16 code units of the whole text; null: nothing is left */
  nextOffset: number | null;
}

/** Returns up to `limit` characters of a text from an offset. It does not split a character of two code units. */
export function textPart(whole: BodyText, offset: number, limit: number): TextPart {
  const end = offset + limit;
  // One more shows whether anything is left.
  const read = textBeginning(whole, end + 1);
  if (end >= read.length) return { text: read.slice(offset), nextOffset: null };
  const last = read.charCodeAt(end - 1);
  const cut = last >= 0xd800 && last <= 0xdbff && limit > 1 ? end - 1 : end;
  return { text: read.slice(offset, cut), nextOffset: cut };
}

/** Returns a short text, with an ellipsis in place of what is beyond `limit` characters. */
export function shortText(whole: string, limit: number): string {
  const { text, nextOffset } = textPart(whole, 0, limit);
  return nextOffset === null ? text : `${text}…`;
}
