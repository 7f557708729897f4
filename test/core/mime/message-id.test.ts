import { describe, expect, test } from 'vitest';
import { parseMessageId, parseMessageIds, parseReferences } from '../../../core/mime/message-id.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

describe('the msg-ids of', () => {
  test.each([
    ['', []],
    ['<a@x.test>', ['<a@x.test>']],
    ['<a@x.test> <b@x.test>\r\n\t<c@x.test>', ['<a@x.test>', '<b@x.test>', '<c@x.test>']],
    ['<a@x.test><b@x.test>,<c@x.test>', ['<a@x.test>', '<b@x.test>', '<c@x.test>']],
    ['<b@x.test> <a@x.test> <b@x.test>', ['<b@x.test>', '<a@x.test>']],
    ['<a.long.id\r\n .folded@x.test>', ['<a.long.id.folded@x.test>']],
    ['< a@x.test >', ['<a@x.test>']],
    ['<a b@x.test>', []],
    ['<yes>', []],
    ['yes', []],
    ['joe@x.test', []],
    ['<@x.test> <a@>', []],
    ['<>', []],
    ['Your message of "Thu, 01 Aug 2002 17:15:27 BST." <a@x.test>', ['<a@x.test>']],
    ['<a@x.test> (Joe <joe@x.test>\'s message of "Mon")', ['<a@x.test>']],
    ['<a@x.test> (a (nested\\) <c@x.test>) one) <b@x.test>', ['<a@x.test>', '<b@x.test>']],
    ['(never closed <a@x.test>', ['<a@x.test>']],
    ['<a@x.test <b@x.test>', ['<a@x.test>', '<b@x.test>']],
    ['<a@x.test', ['<a@x.test>']],
    ['<a@[IPv6:::1]>', ['<a@[IPv6:::1]>']],
    ['<"quoted@local"@x.test>', ['<"quoted@local"@x.test>']],
    ['<grüße@x.test>', ['<grüße@x.test>']],
    ['<nul\0@x.test>', []],
    [`<${'a'.repeat(2_000)}@x.test>`, []],
    ['<__proto__@x.test>', ['<__proto__@x.test>']],
  ])('%j are %j', (value, ids) => {
    expect(parseMessageIds(value)).toEqual(ids);
  });
});

test('keeps the first and the last 999 of 50,000 msg-ids, in order', () => {
  const ids = Array.from({ length: 50_000 }, (_, n) => `<${n}@x.test>`);
  expect(parseMessageIds(ids.join(' '))).toEqual([ids[0], ...ids.slice(-999)]);
});

test('accepts a Message-ID without brackets if the field contains nothing else', () => {
  expect(parseMessageId(' 1204434307.8.104@x.test ')).toBe('<1204434307.8.104@x.test>');
  expect(parseMessageId('<a@x.test> <b@x.test>')).toBe('<a@x.test>');
  expect(parseMessageId('two words@x.test')).toBeNull();
  expect(parseMessageId('none')).toBeNull();
});

test.each(['a', ' ', '<', '>', '(', ')', '@', '<@', '<a@', '\r\n ', '(<', '<\r\n ', '\\('])(
  'a field of up to 250,000 bytes of %j is read in linear time',
  (unit) =>
    expectLinearGrowth((length) => {
      const value = unit.repeat(length / unit.length);
      parseMessageIds(value);
      parseMessageId(value);
    }, 250_000),
);

test.each([
  ['<a@b.test> <c@d.test>', ['<a@b.test>', '<c@d.test>']],
  ['bare@o55.example', ['bare@o55.example']],
  ['one@a.test two@b.test,three@c.test', ['one@a.test', 'two@b.test', 'three@c.test']],
  ['Your message of Monday <a@b.test>', ['<a@b.test>']],
  ['yes', []],
  ['<yes>', []],
  ['', []],
])('reads the references of %j', (value, ids) => {
  expect(parseReferences(value)).toEqual(ids);
});

test('reads at most fifty ids without brackets, the last, from a long field', () => {
  const value = Array.from({ length: 400 }, (_, at) => `id${at}@a.test`).join(' ');
  expect(parseReferences(value)).toHaveLength(50);
  expect(parseReferences(value).at(-1)).toBe('id399@a.test');
  expect(parseReferences('a@'.repeat(50_000))).toEqual([]);
});
