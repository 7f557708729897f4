import { expect, test } from 'vitest';
import { decodeCharset, decodeRawText, storableText, wellFormedJson } from '../../../core/shared/text.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

test.each([
  ['plain', 'plain'],
  ['a\0b', 'a\ufffdb'],
  ['a\ud800b', 'a\ufffdb'],
  ['\udc00', '\ufffd'],
  ['😀', '😀'],
  ['a\u0001\u0085', 'a\u0001\u0085'],
])('%j is stored as %j', (text, stored) => {
  expect(storableText(text)).toBe(stored);
});

test('makes JSON as well-formed as its parsed strings, for any sequence of escapes', () => {
  const parts = ['\\ud83d', '\\uDE00', '\\\\', 'ud800', '\\u0041', 'D83d', '\\n', '😀'];
  const texts = Array.from({ length: 8 ** 5 }, (_, n) =>
    [0, 1, 2, 3, 4].map((place) => parts[Math.floor(n / 8 ** place) % 8]).join(''),
  );
  const wrong = texts.filter(
    (text) => JSON.parse(wellFormedJson(`"${text}"`)) !== (JSON.parse(`"${text}"`) as string).toWellFormed(),
  );
  expect(wrong).toEqual([]);
  expect(wellFormedJson('{"\\ud800": "\\u"')).toBe('{"\\ufffd": "\\u"');
});

test('reads long runs of backslashes and of escapes in linear time', () => {
  expectLinearGrowth((length) => wellFormedJson(`\\ud800${'\\'.repeat(length + 1)}`), 1_000_000);
  expectLinearGrowth((count) => wellFormedJson('\\ud800'.repeat(count)), 100_000);
});

test.each([
  ['UTF-8', 'c3bc', 'ü'],
  ['utf8', 'c3bc', 'ü'],
  ['utf-8', '61ff62', 'a\ufffdb'],
  [null, 'c3bc', 'ü'],
  [null, '61fc', 'aü'],
  ['us-ascii', '93c3fc94', '“Ãü”'],
  ['US-ASCII', 'e282ac', '€'],
  ['iso-8859-1', 'fc', 'ü'],
  ['ISO-8859-15', 'a4', '€'],
  ['windows-1251', 'cff0e8', 'При'],
  ['koi8-r', 'f0d2c9', 'При'],
  ['iso-2022-jp', '1b24422422241b2842', null],
  ['shift_jis', '82a082a2', 'あい'],
  ['euc-jp', 'a4a2a4a4', 'あい'],
  ['gb2312', 'c4e3bac3', '你好'],
  ['big5', 'a741a66e', '你好'],
  ['ks_c_5601-1987', 'bec8b3e7', '안녕'],
  ['utf-7', '2b4150772d', 'ü'],
  ['utf-16le', '6100fc00', 'aü'],
  ['no-such-charset', 'c3bc', 'ü'],
  ['__proto__', 'c3bc', 'ü'],
  ['constructor', 'c3bc', 'ü'],
])('decodes charset %s: the bytes %s are %s', (charset, hex, text) => {
  const decoded = decodeCharset(Buffer.from(hex, 'hex'), charset);
  if (text === null) expect(decoded).not.toContain('\u001b');
  else expect(decoded).toBe(text);
});

test('decodes raw header bytes as UTF-8 if valid, else as windows-1252', () => {
  expect(decodeRawText('J\xc3\xbcrgen')).toBe('Jürgen');
  expect(decodeRawText('J\xfcrgen')).toBe('Jürgen');
  expect(decodeRawText('plain')).toBe('plain');
});
