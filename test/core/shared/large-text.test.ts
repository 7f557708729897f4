import { expect, test } from 'vitest';
import { freeTexts, LargeText, textBeginning, wholeText } from '../../../core/shared/large-text.ts';

const CHARACTERS = ['x', 'é', '€', '\u{1f642}', ' ', '\n', '"'];
/** More than is decoded at once, with characters of one to four bytes across its boundaries. */
const TEXT = Array.from({ length: 200_000 }, (_, at) => CHARACTERS[(at * 7 + (at >> 3)) % CHARACTERS.length]).join('');

/** Splits a text into pieces that end between characters. */
function largeText(text: string, length: number = 70_001): LargeText {
  const characters = Array.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < characters.length; at += length)
    pieces.push(Buffer.from(characters.slice(at, at + length).join('')));
  return new LargeText(pieces);
}

test('becomes the text that it was made of', () => {
  const large = largeText(TEXT);
  expect(wholeText(large)).toBe(TEXT);
  expect(large.bytes).toBe(Buffer.byteLength(TEXT));
  expect(JSON.parse(JSON.stringify({ large }))).toEqual({ large: TEXT });
});

test.each([4, 5, 1_000, 65_536])('yields strings of at most %d bytes that end between characters', (maxBytes) => {
  const strings = [...largeText(TEXT).strings(maxBytes)];
  expect(strings.join('')).toBe(TEXT);
  for (const text of strings) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
    expect(text).not.toContain('\ufffd');
  }
});

test.each([0, 1, 65_535, 150_000, 10_000_000])('returns its first %d UTF-16 code units', (length) => {
  expect(textBeginning(largeText(TEXT), length)).toBe(TEXT.slice(0, length));
});

test('returns parts by their offsets in UTF-16 code units', () => {
  const marked = TEXT.replaceAll('\u{1f642}', '€');
  const parts = [
    { start: 0, end: 3 },
    { start: 3, end: 3 },
    { start: 65_000, end: 150_000 },
    { start: 150_000, end: 150_001 },
    { start: 199_000, end: 300_000 },
  ];
  const expected = parts.map(({ start, end }) => marked.slice(start, end)).join('');
  expect(largeText(marked).slice(parts).toString()).toBe(expected);
  const emoji = '\u{1f642}'.repeat(100_000);
  expect(
    largeText(emoji)
      .slice([{ start: 2, end: 199_998 }])
      .toString(),
  ).toBe(emoji.slice(2, 199_998));
  expect(largeText(TEXT).slice([]).toString()).toBe('');
});

test.each(['', ' ', '\n\u00a0\u3000', ' '.repeat(200_000)])(
  'loses the same white space as String.trim (%#)',
  (space) => {
    for (const text of [`${space}${TEXT}${space}`, `${space}a${space}`, space])
      expect(largeText(text).trim().toString()).toBe(text.trim());
  },
);

test('gives its memory back at once, and can be read no more, nor can its parts', () => {
  const pieces = [1, 2].map(() => Buffer.allocUnsafeSlow(1_000_000).fill('é'));
  const text = LargeText.own(pieces);
  const [part, trimmed] = [text.slice([{ start: 10, end: 20 }]), text.trim()];
  const other = largeText(TEXT);
  expect(part.toString()).toBe('é'.repeat(10));
  freeTexts({ messages: [{ text: part, other }], at: new Date(), none: null });
  expect(pieces.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0]);
  for (const freed of [text, part, trimmed]) expect(() => freed.toString()).toThrow('given back');
  expect(other.toString()).toBe(TEXT);
  text.free();
  for (const freed of [text, part, trimmed]) expect(() => freed.toString()).toThrow('given back');
});
