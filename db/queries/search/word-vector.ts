import { createHash } from 'node:crypto';
import type { EmailTerms } from '../../../core/search/email-terms.ts';

/** The parts of an email in which words occur, as weights of a tsvector: subject, sender, recipients, bodies. */
export type WordPlace = 'A' | 'B' | 'C' | 'D';

/** Each character is stored once per word of an email and once per entry of the index. */
const KEY_LENGTH = 2;
const KEY_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-';

/**
 * Prefix of each of the user's words in a tsvector, so that words of other users do not slow down a search. Users who share one by chance
 * share only that cost.
 */
export function userKey(userId: string): string {
  const digest = createHash('sha256').update(userId).digest().subarray(0, KEY_LENGTH);
  return Array.from(digest, (byte) => KEY_ALPHABET[byte % KEY_ALPHABET.length]).join('');
}

/**
 * Returns a tsvector as text: the words of the texts with their positions in order, with a gap between texts, and marks, which are not
 * words. PostgreSQL accepts it whatever the texts contain.
 */
export function wordVector(userId: string, { texts, marks }: EmailTerms): string {
  const key = userKey(userId);
  const positions = new Map<string, string>();
  let position = 0;
  for (const { place, words } of texts) {
    const weight = WEIGHTS[Math.log2(place)] ?? 'D';
    for (const word of words) {
      position++;
      if (word === '') continue;
      const known = positions.get(word);
      positions.set(word, known === undefined ? `:${position}${weight}` : `${known},${position}${weight}`);
    }
    position++;
  }
  let vector = marks.map((mark) => `'${key}${mark}'`).join(' ');
  for (const [word, at] of positions) vector += ` '${key}${word}'${at}`;
  return vector;
}

const WEIGHTS: readonly WordPlace[] = ['A', 'B', 'C', 'D'];

/** A search term: consecutive words, the last one whole or a prefix, in one part or any; or a mark. */
export type WordTerm =
  | { words: readonly string[]; isPrefix: boolean; place: Exclude<WordPlace, 'D'> | null }
  | { mark: string };

/** Returns a tsquery as text; null without terms. Words come from wordsOf, marks from this file. */
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
