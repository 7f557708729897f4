import { describe, expect, test } from 'vitest';
import { readReply } from '../../../core/mime/reply-text.ts';
import { JOINED_LETTERS, JOINED_REPLIES } from './replies/joined-letters.ts';

describe('a letter that cites a mail within a line stays', () => {
  test.each(JOINED_LETTERS)('%s', (letter) => {
    expect(readReply(letter, false).text).toBe(letter);
    const asReply = readReply(letter, true).text;
    expect(asReply).toBe(letter.replace(/\n\n> [^\n]*$/u, ''));
  });
});

describe('a reply that is one line ends before what it quotes, and another letter of the same words does not', () => {
  test.each(JOINED_REPLIES)('%s', (text, own) => {
    expect(readReply(text, true).text).toBe(own);
    expect(readReply(text, false).text).toBe(text);
  });
});
