import { expect, test } from 'vitest';
import { archiveNames } from '../../../core/mime/archive-names.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

test.each([
  ['report.pdf', 'report.pdf'],
  ['Größe 1.pdf', 'Größe 1.pdf'],
  ['../../etc/passwd', '_.._etc_passwd'],
  ['C:\\a\\b.txt', 'C__a_b.txt'],
  ['/etc/passwd', '_etc_passwd'],
  ['..', 'attachment'],
  ['.bashrc', 'bashrc'],
  ['a. ', 'a'],
  ['CON', '_CON'],
  ['nul.txt', '_nul.txt'],
  ['console.log', 'console.log'],
  ['a\u202efdp.exe', 'a_fdp.exe'],
  ['a\0b', 'a_b'],
  ['\ud800.txt', '_.txt'],
  [`${'ä'.repeat(200)}.pdf`, `${'ä'.repeat(98)}.pdf`],
])('the file %j is %j in an archive', (name, expected) => {
  expect(archiveNames([name])).toEqual([expected]);
});

test('files of one archive have different names, whatever the case', () => {
  expect(archiveNames(['a.txt', 'A.TXT', 'a.txt', 'a (2).txt', 'b', 'b'])).toEqual([
    'a.txt',
    'A (2).TXT',
    'a (3).txt',
    'a (2) (2).txt',
    'b',
    'b (2)',
  ]);
  const many = archiveNames(Array.from({ length: 1_000 }, () => `${'x'.repeat(300)}.pdf`));
  expect(new Set(many).size).toBe(1_000);
  expect(many.every((name) => Buffer.byteLength(name) <= 200)).toBe(true);
});

test('a name of any length takes linear time', () => {
  expectLinearGrowth((size) => archiveNames([`${'ä'.repeat(size)}.pdf`]), 65_536);
});
