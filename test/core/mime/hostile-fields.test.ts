import { expect, test } from 'vitest';
import { parseAddressList } from '../../../core/mime/address.ts';
import { decodeEncodedWords } from '../../../core/mime/encoded-words.ts';
import { endOfHeaderSection } from '../../../core/mime/header-fields.ts';
import { provesEncoding } from '../../../core/mime/message-parts.ts';
import { parseParameters, readParameter } from '../../../core/mime/parameters.ts';
import { readPartBodies } from '../../../core/mime/part-reader.ts';
import { decodeCharset } from '../../../core/shared/text.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

test.each<[name: string, unit: string, end: string]>([
  ['starts of words', '=?a?Q?', ''],
  ['words', '=?utf-8?Q?=C3?= ', ''],
  ['question marks', '=?a?Q?x??', 'y'],
  ['equals signs and blanks', '=?a?Q?= = ', '?='],
  ['blocks of base64', '=?a?B?YQ==YQ==?=', ''],
])('decodes many %s in linear time', (_name, unit, end) => {
  expectLinearGrowth((count) => decodeEncodedWords(unit.repeat(count) + end), 40_000);
});

test.each<[name: string, unit: string, end: string]>([
  ['sections', '; filename*1=x', ''],
  ['quotes', '; name="', ''],
  ['backslashes', '\\', '"'],
  ['blanks', ' ', ';'],
  ['parentheses', '(', ''],
  ['dots and blanks', '. ', '('],
  ['semicolons', ';', ''],
])('reads parameters with many %s in linear time', (_name, unit, end) => {
  expectLinearGrowth((count) => {
    const list = parseParameters(`attachment; name="${unit.repeat(count)}${end}`);
    readParameter(list, 'filename', null);
    readParameter(parseParameters(`attachment; name=${unit.repeat(count)}${end}`), 'name', null);
  }, 40_000);
});

test.each<[name: string, unit: string, end: string]>([
  ['names without addresses', 'a, ', 'Ann <ann@example.com>'],
  ['brackets', '<', 'a@example.com>'],
  ['open brackets and words', '<a ', '<a@example.com>'],
  ['addresses that are not closed', '<a@example.com, ', ''],
  ['colons', 'a: ', '<a@example.com>'],
  ['quotes and backslashes', '"\\', ''],
  ['signs', '@', ' <a@example.com>'],
])('reads address lists with many %s in linear time', (_name, unit, end) => {
  expectLinearGrowth((count) => parseAddressList(unit.repeat(count) + end), 5_000);
});

test.each<[name: string, start: string, unit: string, end: string]>([
  ['short names in quotes', 'x,', '" y"', ''],
  ['words', 'x,', ' y', ' <a@b'],
  ['escaped quotes', '"', '\\"', '<'],
  ['blanks before a bracket', 'a,', ' ', '<'],
  ['blanks between brackets', '<a,', ' ', 'x <'],
  ['signs behind a bracket', '<', '@', ''],
  ['closing brackets', '<a@b.c, d@e.f', '>', ''],
])('reads an address with many %s in linear time', (_name, start, unit, end) => {
  expectLinearGrowth((count) => parseAddressList(start + unit.repeat(count) + end), 20_000);
});

test.each<[name: string, unit: string, end: string]>([
  ['equals signs', '=41', '!'],
  ['equals signs and blanks', '= ', ''],
  ['soft line ends', 'a=\r\n', '=x'],
  ['escaped equals signs', '=3D', '=x'],
  ['blanks at the end of lines', '=20=\r\n', '=x'],
  ['long lines', `${'a'.repeat(60)}=`, 'x'],
  ['lines of base64', `${'QUJD'.repeat(19)}\r\n`, '!'],
])('proves the encoding of a part with many %s in linear time', (_name, unit, end) => {
  for (const encoding of ['quoted-printable', 'base64'] as const)
    expectLinearGrowth((count) => provesEncoding(unit.repeat(count) + end, encoding), 20_000);
});

test('reads header sections with many lines like delimiters in linear time', async () => {
  const head = 'Content-Type: multipart/mixed; boundary=b\n';
  expectLinearGrowth((count) => endOfHeaderSection(Buffer.from(`${head}${'--x\n'.repeat(count)}`)), 40_000);
  const { bodies } = await readPartBodies(Buffer.from(`${head}${'--x\n'.repeat(20_000)}--b\n\nHello.\n--b--\n`));
  expect(bodies.length).toBeLessThan(3);
});

test.each([
  ['iso-2022-jp', '\x1b$B$3\x1b(B'],
  ['iso-2022-kr', '\x0e>H\x0f'],
  ['hz-gb-2312', '~{<:~}~~'],
  ['hz-gb-2312', '~'],
  ['utf-8', '\x1b'],
  ['utf-7', '+2AA-'],
])('decodes long text in %s in linear time', (charset, unit) => {
  expectLinearGrowth((count) => decodeCharset(Buffer.from(unit.repeat(count), 'latin1'), charset), 20_000);
});
