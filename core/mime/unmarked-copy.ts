import { sanitizeHtmlBody } from '../html/sanitize-html.ts';
import { makePreview, type ParsedMessage } from './parse-message.ts';
import { readHtmlReply } from './reply-html.ts';
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

/** Characters of HTML that is compared. */
const MAX_HTML_LENGTH = 100_000;
/** Elements that begin or end lines; a copy below a reply has some. */
const LINE_ELEMENT = /<(?:br|p|div|li|tr|pre|h[1-6])[\s/>]/gi;
const MIN_LINE_ELEMENTS = 3;

/**
 * Returns whether a reply may contain the message that it replies to without any sign of it: nothing of it is marked as quoted, and it is long
 * enough. True for 3 of 100 messages of public lists.
 */
export function mayContainCopy({ inReplyTo, textBody, htmlBody, removedParts, cleanedText }: ParsedMessage): boolean {
  if (inReplyTo.length === 0 || removedParts.some(({ kind }) => kind === 'quote')) return false;
  if (textBody === null) return htmlBody !== null && mayHoldCopy(htmlBody);
  if (cleanedText === null || cleanedText.length < MIN_LENGTH || /^\s{0,3}[>|]/m.test(textBody)) return false;
  return cleanedText.split('\n', 1_000).filter((line) => line.trim() !== '').length >= MIN_LINES;
}

function mayHoldCopy(html: string): boolean {
  if (html.length < MIN_LENGTH || html.length > MAX_HTML_LENGTH || /<blockquote[\s>]/i.test(html)) return false;
  let elements = 0;
  for (const _ of html.matchAll(LINE_ELEMENT)) if (++elements >= MIN_LINE_ELEMENTS) return true;
  return false;
}

/**
 * Returns the message without the copy of one of the originals in its text, and in its HTML; the message itself if there is none, or
 * nothing else remains. Lines may be wrapped differently.
 */
export function withoutCopy(message: ParsedMessage, originals: readonly string[]): ParsedMessage {
  const { textBody } = message;
  const cleaned =
    textBody === null ? withoutHtmlCopy(message, originals) : withoutTextCopy(message, textBody, originals);
  return cleaned === null ? message : { ...cleaned, preview: makePreview(cleaned) };
}

function withoutTextCopy(message: ParsedMessage, textBody: string, originals: readonly string[]): ParsedMessage | null {
  for (const original of originals) {
    const part = findCopy(textBody, original);
    if (part === null) continue;
    const others = message.removedParts.filter(({ start, end }) => end <= part.start || start >= part.end);
    const removedParts = [...others, { kind: 'quote' as const, ...part }].toSorted(
      (one, other) => one.start - other.start,
    );
    const cleanedText = withoutParts(textBody, removedParts);
    if (cleanedText === '') continue;
    const { cleanedHtml } = withoutHtmlCopy(message, [original]) ?? message;
    return { ...message, cleanedText, removedParts, cleanedHtml };
  }
  return null;
}

function withoutHtmlCopy(message: ParsedMessage, originals: readonly string[]): ParsedMessage | null {
  const { htmlBody } = message;
  if (htmlBody === null || message.cleanedHtml === null || htmlBody.length > MAX_HTML_LENGTH) return null;
  const reply = readHtmlReply(htmlBody, { findCopied: (lines) => findCopiedLines(lines, originals) });
  if (reply.removed.length === 0 && reply.html === htmlBody) return null;
  return { ...message, removedParts: reply.removed, cleanedHtml: sanitizeHtmlBody(reply.html) };
}

/** Returns the indexes of the first copied line and the one behind the last; null when nothing is copied. */
function findCopiedLines(lines: readonly string[], originals: readonly string[]): { from: number; to: number } | null {
  const text = lines.join('\n');
  const part = originals.map((original) => findCopy(text, original)).find((found) => found !== null) ?? null;
  if (part === null) return null;
  let at = 0;
  let from = -1;
  for (const [index, line] of lines.entries()) {
    if (at >= part.end) return { from, to: index };
    if (from < 0 && at >= part.start) from = index;
    at += line.length + 1;
  }
  return from < 0 ? null : { from, to: lines.length };
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
    const { count, end } = countCopied(words, at, copied);
    const last = words[end - 1];
    if (last === undefined || count < Math.max(MIN_COPIED_WORDS, copied.length * MIN_COPIED_SHARE)) continue;
    const lineStart = text.lastIndexOf('\n', start) + 1;
    const lineEnd = text.indexOf('\n', last.end);
    return { start: lineStart, end: lineEnd === -1 ? text.length : lineEnd + 1 };
  }
  return null;
}

/** Words that a copy may lack or add at a time, such as the address of a link, and how often; words that must follow. */
const MAX_SKIPPED_WORDS = 12;
const MAX_SKIPS = 20;
const MIN_FOLLOWING_WORDS = 3;

/** Returns how many of the copied words follow one another from a word on, and the index behind the last of them. */
function countCopied(words: readonly Word[], from: number, copied: readonly Word[]): { count: number; end: number } {
  let [at, next, count, end] = [from, 0, 0, from];
  for (let skips = 0; skips <= MAX_SKIPS; skips++) {
    while (next < copied.length && words[at]?.word === copied[next]?.word) {
      at++;
      next++;
      count++;
      end = at;
    }
    const skip = next < copied.length ? findSkip(words, at, copied, next) : null;
    if (skip === null) break;
    at += skip.words;
    next += skip.copied;
  }
  return { count, end };
}

/** Returns the smallest numbers of words that are skipped on both sides so that the next ones are the same; null when there are none. */
function findSkip(
  words: readonly Word[],
  at: number,
  copied: readonly Word[],
  next: number,
): { words: number; copied: number } | null {
  for (let sum = 1; sum <= MAX_SKIPPED_WORDS; sum++)
    for (let skipped = 0; skipped <= sum; skipped++) {
      const same = (offset: number) =>
        copied[next + sum - skipped + offset] !== undefined &&
        words[at + skipped + offset]?.word === copied[next + sum - skipped + offset]?.word;
      if (Array.from({ length: MIN_FOLLOWING_WORDS }, (_, offset) => offset).every(same))
        return { words: skipped, copied: sum - skipped };
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
