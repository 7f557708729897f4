import { createHash } from 'node:crypto';
import { wordsOf } from '../../../core/search/search-words.ts';

/** Where words of an email stand, as weights of a tsvector: subject, sender, recipients, bodies. */
export type WordPlace = 'A' | 'B' | 'C' | 'D';

/** Words beyond are not looked at: a tsvector holds positions up to 16,383. */
const MAX_WORDS = 16_000;
/**
 * Different words that count: each is an entry in an index, about 3 us. Text of 20,000 characters seldom has as many. At 64 characters
 * each they stay far below the 1 MiB that a tsvector may hold.
 */
const MAX_DIFFERENT_WORDS = 1_000;
const KEY_LENGTH = 4;

/**
 * What stands before each word of the user's in a tsvector, so that the words of all others cost his searches nothing. Users that share
 * one by chance share no more than that cost.
 */
export function userKey(userId: string): string {
  const number = createHash('sha256').update(userId).digest().readUInt32BE();
  return (number % 36 ** KEY_LENGTH).toString(36).padStart(KEY_LENGTH, '0');
}

/**
 * A tsvector as text: the words of the texts with their places in order, none of one text next to one of another, and marks, which are
 * no words. PostgreSQL takes it whatever the texts hold.
 */
export function wordVector(
  userId: string,
  texts: readonly [place: WordPlace, text: string][],
  marks: readonly string[],
): string {
  const key = userKey(userId);
  const positions = new Map<string, string>();
  let position = 0;
  for (const [place, text] of texts) {
    for (const word of wordsOf(text)) {
      if (++position > MAX_WORDS) break;
      const known = positions.get(word);
      if (known === undefined && positions.size >= MAX_DIFFERENT_WORDS) continue;
      positions.set(word, known === undefined ? `:${position}${place}` : `${known},${position}${place}`);
    }
    position++;
  }
  let vector = marks.map((mark) => `'${key}${mark}'`).join(' ');
  for (const [word, at] of positions) vector += ` '${key}${word}'${at}`;
  return vector;
}

/** The mark of emails with attachments. */
export const ATTACHMENT_MARK = '#attachment';

/** The mark of emails of which the sender, a recipient or the user's own address is at the domain (canonical name). */
export function domainMark(domain: string): string {
  return `@${domain}`;
}

/** What has to be found: words in order, the last one the beginning of a word or a whole one, in one place or any; or a mark. */
export type WordTerm =
  | { words: readonly string[]; isPrefix: boolean; place: Exclude<WordPlace, 'D'> | null }
  | { mark: string };

/** A tsquery as text; null without terms. Words come from wordsOf, marks from here. */
export function wordQuery(userId: string, terms: readonly WordTerm[], join: 'all' | 'any'): string | null {
  const key = userKey(userId);
  const parts = terms.map((term) => {
    if ('mark' in term) return `'${key}${term.mark}'`;
    const last = term.words.length - 1;
    const label = (at: number) => `${term.isPrefix && at === last ? '*' : ''}${term.place ?? ''}`;
    return `(${term.words.map((word, at) => `'${key}${word}'${label(at) === '' ? '' : `:${label(at)}`}`).join(' <-> ')})`;
  });
  return parts.length === 0 ? null : parts.join(join === 'all' ? ' & ' : ' | ');
}
