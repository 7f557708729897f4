import { expect, test } from 'vitest';
import { holds } from '../../../core/routing/guard-rule.ts';

test.each<[string, string, boolean]>([
  ['a casino here', 'casino', true],
  ['a casin o here', 'casino', false],
  ['', 'a', false],
  ['abc', '', true],
  ['short', 'longer than the text', false],
  // Long enough for the search that is linear.
  [`${'ab'.repeat(50_000)}aab`, 'baab', true],
  [`${'ab'.repeat(50_000)}`, 'baab', false],
  [`${'a'.repeat(490)}b`.repeat(300), `b${'a'.repeat(490)}b`, true],
  [`${'a'.repeat(490)}b`.repeat(300), 'a'.repeat(491), false],
  [`${'€uro '.repeat(30_000)}€nd`, 'uro €nd', true],
])('finds a word in a text: %#', (text, word, expected) => {
  expect(holds(text, word)).toBe(expected);
});

test('agrees with the plain search on thousands of short words of two letters', () => {
  let state = 1;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const letters = (length: number) => Array.from({ length }, () => 'ab'[random(2)]).join('');
  const text = letters(30_000);
  for (let n = 0; n < 2_000; n++) {
    const word = letters(7 + random(14));
    expect(holds(text, word)).toBe(text.includes(word));
  }
});
