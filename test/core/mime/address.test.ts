import { expect, test } from 'vitest';
import { parseAddressList, readAddressFields, readPlusTag } from '../../../core/mime/address.ts';
import { readHeaderSection } from '../../../core/mime/header-fields.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

const read = (text: string) => readAddressFields(readHeaderSection(Buffer.from(text, 'latin1')));

test.each([
  ['joe@x.test', [[null, 'joe@x.test']]],
  ['Joe <joe@x.test>', [['Joe', 'joe@x.test']]],
  [
    '"Doe, Joe" <joe@x.test>, ann@y.test',
    [
      ['Doe, Joe', 'joe@x.test'],
      [null, 'ann@y.test'],
    ],
  ],
  ['joe@x.test (Joe Doe)', [['Joe Doe', 'joe@x.test']]],
  ['=?utf-8?Q?J=C3=BCrgen?= <j@x.test>', [['Jürgen', 'j@x.test']]],
  ['=?utf-8?Q?Doe=2C_Joe?= <j@x.test>', [['Doe, Joe', 'j@x.test']]],
  [
    'Team: a@x.test, B <b@x.test>;, c@x.test',
    [
      [null, 'a@x.test'],
      ['B', 'b@x.test'],
      [null, 'c@x.test'],
    ],
  ],
  ['undisclosed-recipients:;', []],
  ['martin', [[null, 'martin']]],
  ['martin>', [[null, 'martin']]],
  ['"joe@x.test" <joe@x.test>', [['joe@x.test', 'joe@x.test']]],
  [
    '"joe@x.test" <ann@x.test>, joe@x.test',
    [
      ['joe@x.test', 'ann@x.test'],
      [null, 'joe@x.test'],
    ],
  ],
  [
    'Ann <ann@x.test, bo@x.test>',
    [
      ['Ann', 'ann@x.test'],
      [null, 'bo@x.test'],
    ],
  ],
  [
    'ann@x.test, bo@x.test>',
    [
      [null, 'ann@x.test'],
      [null, 'bo@x.test'],
    ],
  ],
  ['No Address', []],
  ['', []],
  ['"ceo@bank.test" <joe@x.test>', [['ceo@bank.test', 'joe@x.test']]],
  ['=?utf-8?Q?ceo=40bank.test?= <joe@x.test>', [['ceo@bank.test', 'joe@x.test']]],
  ['=?utf-8?Q?Evil_=3Ce=40evil.test=3E?= <joe@x.test>', [['Evil <e@evil.test>', 'joe@x.test']]],
  ['Grüße <grüße@x.test>', [['Grüße', 'grüße@x.test']]],
  ['__proto__ <__proto__@x.test>', [['__proto__', '__proto__@x.test']]],
])('%s contains %j', (value, mailboxes) => {
  expect(parseAddressList(value).addresses.map(({ name, address }) => [name, address])).toEqual(mailboxes);
});

test('the text is that of the field, decoded', () => {
  expect(read('From: =?utf-8?Q?J=C3=BCrgen?=\r\n <j@x.test>\r\n\r\n').from).toEqual({
    text: 'Jürgen <j@x.test>',
    addresses: [{ name: 'Jürgen', address: 'j@x.test' }],
  });
});

test('repairs change no address of a From field', () => {
  const value = 'CEO <ceo@bank.test, Ann <ann@x.test>';
  const { from, to } = read(`From: ${value}\r\nTo: ${value}\r\n\r\n`);
  expect(from?.addresses.map(({ address }) => address)).toEqual(['ann@x.test']);
  expect(to?.addresses.map(({ address }) => address)).toEqual(['ceo@bank.test', 'ann@x.test']);
});

test('a missing field is null, of two From fields the first counts, and all To fields count', () => {
  const fields = read('From: a@x.test\r\nFrom: b@x.test\r\nTo: c@x.test\r\nTo: d@x.test\r\nReply-To: e@x.test\r\n\r\n');
  expect(fields.from?.addresses.map(({ address }) => address)).toEqual(['a@x.test']);
  expect(fields.to).toEqual({
    text: 'c@x.test, d@x.test',
    addresses: [
      { name: null, address: 'c@x.test' },
      { name: null, address: 'd@x.test' },
    ],
  });
  expect([fields.cc, fields.bcc]).toEqual([null, null]);
  expect(fields.replyTo?.text).toBe('e@x.test');
});

const mailboxes = (count: number) => Array.from({ length: count }, (_, n) => `u${n}@x.test`).join(', ');

test('keeps 1,000 of 50,000 mailboxes, and all of them in the text', () => {
  const value = mailboxes(50_000);
  const list = parseAddressList(value);
  expect(list.addresses).toHaveLength(1_000);
  expect(list.text).toBe(value);
});

test('parses up to 50,000 mailboxes in linear time', () => {
  expectLinearGrowth((count) => parseAddressList(mailboxes(count)), 50_000);
});

test.each([
  ['ann+news@x.test', 'news'],
  ['Ann+News+More@X.test', 'News+More'],
  ['ann@x.test', null],
  ['ann+@x.test', null],
  ['+news@x.test', null],
  ['"a+b"@x.test', null],
  ['ann', null],
])('the tag of %s is %s', (address, tag) => {
  expect(readPlusTag(address)).toBe(tag);
});
