import { domainToASCII } from 'node:url';
import { expect, test } from 'vitest';
import { canonicalAddress, canonicalDomainName, parentDomains } from '../../../core/domains/domain-name.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

test.each([
  ['Example.COM', 'example.com'],
  ['example.com.', 'example.com'],
  ['  example.com\n', 'example.com'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['faß.de', 'xn--fa-hia.de'],
  ['a.b-c.d0.test', 'a.b-c.d0.test'],
  // Cyrillic а: another name than the Latin one, and seen to be
  ['аpple.com', 'xn--pple-43d.com'],
  ['１２３.example', '123.example'],
])('%j is stored as %s', (given, stored) => {
  expect(canonicalDomainName(given)).toBe(stored);
});

test.each([
  '',
  '.',
  'localhost',
  'com',
  'a..b',
  '.a.b',
  'a.b..',
  '-a.test',
  'a-.test',
  'a_b.test',
  'a b.test',
  'a\u00adb.test',
  'a\0.test',
  'x\n.test',
  'http://a.test',
  'a.test/',
  'a.test:25',
  'u@a.test',
  '%61.test',
  '1.2.3.4',
  '0x7f.1',
  '2130706433',
  '[::1]',
  'a.123',
  `${'a'.repeat(64)}.test`,
  `${'a.'.repeat(126)}ab`,
])('%j is not a domain name', (given) => {
  expect(canonicalDomainName(given)).toBeNull();
});

test.each([
  ['Hello@Inbox.Test', 'hello@inbox.test'],
  ['a+tag@b.test', 'a+tag@b.test'],
  ['"odd name"@b.test', '"odd name"@b.test'],
  ["o'neil!#$%&*/=?^`{|}~@b.test", "o'neil!#$%&*/=?^`{|}~@b.test"],
  ['x@BÜCHER.example', 'x@xn--bcher-kva.example'],
])('%j is stored as %s', (given, stored) => {
  expect(canonicalAddress(given)?.address).toBe(stored);
});

test.each([
  '',
  '@b.test',
  'a@',
  'a',
  'a@b@c.test',
  'a b@c.test',
  '.a@c.test',
  'a.@c.test',
  'a..b@c.test',
  'Name <a@c.test>',
  'a@c.test, b@c.test',
  'a\r\nBcc: x@c.test',
  'ü@c.test',
  '"a\nb"@c.test',
  `${'a'.repeat(65)}@c.test`,
  `a@${'b.'.repeat(125)}test`,
])('%j is not an address', (given) => {
  expect(canonicalAddress(given)).toBeNull();
});

test('a name of letters, digits and hyphens is the one that domainToASCII returns, or none', () => {
  const labels = [
    'a',
    'mx1',
    'a-b',
    'a--b',
    'xn--bcher-kva',
    'xn--a',
    'xn--',
    'ab--c',
    '0x1f',
    '12',
    'test',
    'x'.repeat(63),
  ];
  for (const first of labels)
    for (const second of labels)
      for (const last of labels) {
        const name = [first, second, last].join('.');
        expect([null, domainToASCII(name)], name).toContain(canonicalDomainName(name));
      }
});

test('returns parent domains nearest first, without the top-level domain', () => {
  expect(parentDomains('a.b.c.test')).toEqual(['b.c.test', 'c.test']);
  expect(parentDomains('c.test')).toEqual([]);
});

test('hostile texts of up to 50,000 characters are parsed in linear time', () => {
  for (const part of ['a', '.', '-', 'a.', '"', '\\', '@', 'a@', '!'])
    expectLinearGrowth(
      (count) => {
        for (const tail of ['', '@b.test', '.test', '\u0000']) {
          canonicalDomainName(part.repeat(count) + tail);
          canonicalAddress(part.repeat(count) + tail);
        }
      },
      50_000,
      part,
    );
});
