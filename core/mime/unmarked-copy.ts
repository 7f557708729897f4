import { type ParsedMessage, previewOf } from './parse-message.ts';
import { withoutParts } from './reply-text.ts';

/** What a reply must have so that it may contain an unmarked copy of the original: non-blank lines, and characters. */
const MIN_LINES = 4;
const MIN_LENGTH = 120;
/** Characters of each text that are compared, and words of the original. */
const MAX_COMPARED_LENGTH = 50_000;
const MAX_WORDS = 2_000;
/** Words that a copy has at least, and the share of the original that it repeats. */
const MIN_COPIED_WORDS = 8;
const MIN_COPIED_SHARE = 0.8;
/** Lines that are compared with the begin of the original. */
const MAX_STARTS = 200;

/**
 * Returns whether a reply may contain the message that it answers without any sign of it: nothing of it is marked as quoted, and it is long
 * enough. True for 3 of 100 messages of public lists.
 */
export function mayContainCopy({ inReplyTo, textBody, removedParts, cleanedText }: ParsedMessage): boolean {
  if (inReplyTo.length === 0 || textBody === null || cleanedText === null) return false;
  if (cleanedText.length < MIN_LENGTH || removedParts.some(({ kind }) => kind === 'quote')) return false;
  if (/^\s{0,3}[>|]/m.test(textBody)) return false;
  return cleanedText.split('\n', 1_000).filter((line) => line.trim() !== '').length >= MIN_LINES;
}

/**
 * Returns the message without the copy of one of the originals in its text; the message itself if there is none, or nothing else remains.
 * Lines may be wrapped differently.
 */
export function withoutCopy(message: ParsedMessage, originals: readonly string[]): ParsedMessage {
  const { textBody } = message;
  if (textBody === null) return message;
  for (const original of originals) {
    const part = findCopy(textBody, original);
    if (part === null) continue;
    const others = message.removedParts.filter(({ start, end }) => end <= part.start || start >= part.end);
    const removedParts = [...others, { kind: 'quote' as const, ...part }].toSorted(
      (one, other) => one.start - other.start,
    );
    const cleanedText = withoutParts(textBody, removedParts);
    if (cleanedText === '') continue;
    return { ...message, cleanedText, removedParts, preview: previewOf({ ...message, cleanedText }) };
  }
  return message;
}

/** A word and its place in the text. */
interface Word {
  word: string;
  start: number;
  end: number;
}

/** Returns the range of whole lines in which a text repeats the original; null when it does not. */
function findCopy(text: string, original: string): { start: number; end: number } | null {
  const copied = wordsIn(original).slice(0, MAX_WORDS);
  const words = wordsIn(text);
  const [first] = copied;
  if (first === undefined || copied.length < MIN_COPIED_WORDS) return null;
  let starts = 0;
  for (const [at, { word, start }] of words.entries()) {
    if (word !== first.word || !isAtLineStart(text, start) || ++starts > MAX_STARTS) continue;
    let length = 0;
    while (length < copied.length && words[at + length]?.word === copied[length]?.word) length++;
    const last = words[at + length - 1];
    if (last === undefined || length < Math.max(MIN_COPIED_WORDS, copied.length * MIN_COPIED_SHARE)) continue;
    const lineStart = text.lastIndexOf('\n', start) + 1;
    const lineEnd = text.indexOf('\n', last.end);
    return { start: lineStart, end: lineEnd === -1 ? text.length : lineEnd + 1 };
  }
  return null;
}

function wordsIn(text: string): Word[] {
  const found = text.slice(0, MAX_COMPARED_LENGTH).matchAll(/[\p{L}\p{M}\p{N}]+/gu);
  return Array.from(found, ({ 0: word, index }) => ({
    word: word.toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}

function isAtLineStart(text: string, at: number): boolean {
  return /(?:^|\n)[^\p{L}\p{M}\p{N}\n]*$/u.test(text.slice(Math.max(0, at - 40), at));
}
