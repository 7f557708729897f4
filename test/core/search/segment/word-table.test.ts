import { expect, test } from 'vitest';
import { addToHash, EMPTY_HASH, UNKNOWN, WordTable } from '../../../../core/search/segment/word-table.ts';
import { seededRandom } from '../../../support/rows/thread-mail.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

test('words keep their numbers, whatever their hash', () => {
  const table = new WordTable();
  const words = Array.from({ length: 5_000 }, (_, at) => `w${at.toString(36)}`);
  for (const [number, word] of [...words, ...collidingWords(7)].entries()) {
    expect(find(table, word)).toBe(UNKNOWN);
    expect(table.add(`x${word}x`, 1, 1 + word.length, hashWord(word))).toBe(number);
  }
  for (const [number, word] of table.words.entries()) expect(find(table, word)).toBe(number);
  expect(find(table, 'unknown')).toBe(UNKNOWN);
  expect(table.size).toBe(words.length + 128);
});

test('words of one hash, as an attacker finds them, take no more time for each than others', () => {
  const colliding = collidingWords(12);
  const others = colliding.map((word, at) => `${word.slice(0, -4)}${at.toString(36).padStart(4, '0')}`);
  expect(new Set(colliding.map((word) => hashWord(word))).size).toBe(1);
  fill(others);
  // Without the Map, the colliding ones take a hundred times as long.
  expect(fill(colliding)).toBeLessThan(20 * fill(others) + 50);
});

/** Returns the milliseconds of processor time that adding the words takes. */
function fill(words: readonly string[]): number {
  const before = process.cpuUsage();
  for (let round = 0; round < 2; round++) {
    const table = new WordTable();
    for (const word of words) if (find(table, word) === UNKNOWN) table.add(word, 0, word.length, hashWord(word));
    for (const word of words) find(table, word);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function find(table: WordTable, word: string): number {
  return table.find(word, 0, word.length, hashWord(word));
}

function hashWord(word: string, from = EMPTY_HASH): number {
  let hash = from;
  for (let at = 0; at < word.length; at++) hash = addToHash(hash, word.charCodeAt(at));
  return hash;
}

/** Returns 2 ** stages words of one hash: in each stage, either of two blocks of letters leads to the same state. */
function collidingWords(stages: number): string[] {
  let words = [''];
  let state = EMPTY_HASH;
  for (let stage = 0; stage < stages; stage++) {
    const [one, other] = collidingBlocks(state);
    words = words.flatMap((word) => [word + one, word + other]);
    state = hashWord(one, state);
  }
  return words;
}

const blocksOfStates = new Map<number, [string, string]>();

function collidingBlocks(state: number): [string, string] {
  const known = blocksOfStates.get(state);
  if (known !== undefined) return known;
  const random = seededRandom(state);
  const seen = new Map<number, string>();
  for (;;) {
    const block = Array.from({ length: 6 }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join('');
    const hash = hashWord(block, state);
    const before = seen.get(hash);
    if (before !== undefined && before !== block) {
      blocksOfStates.set(state, [before, block]);
      return [before, block];
    }
    seen.set(hash, block);
  }
}
