import { describe, expect, test } from 'vitest';
import {
  envelopeRecipients,
  outgoingMailbox,
  parseRecipients,
  parseSender,
} from '../../../core/sending/outgoing-addresses.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

describe('parses a sender', () => {
  test.each([
    ['a@own.test', null, 'a@own.test', 'own.test'],
    ['<a@own.test>', null, 'a@own.test', 'own.test'],
    ['Ann <a@own.test>', 'Ann', 'a@own.test', 'own.test'],
    ['Ann<a@own.test>', 'Ann', 'a@own.test', 'own.test'],
    ['"Doe, Ann" <Ann.Doe@Own.Test>', 'Doe, Ann', 'Ann.Doe@own.test', 'own.test'],
    ['Doe, Ann <a@own.test>', 'Doe, Ann', 'a@own.test', 'own.test'],
    ['"Ann \\"A\\" Doe" <a@own.test>', 'Ann "A" Doe', 'a@own.test', 'own.test'],
    ['"Acme: Support <24h>" <a@own.test>', 'Acme: Support <24h>', 'a@own.test', 'own.test'],
    ['Ann (Sales) <a@own.test>', 'Ann (Sales)', 'a@own.test', 'own.test'],
    ['Support @ Acme <a@own.test>', 'Support @ Acme', 'a@own.test', 'own.test'],
    ['"a@own.test" <a@own.test>', null, 'a@own.test', 'own.test'],
    ['"sales@OWN.test" <a@own.test>', 'sales@OWN.test', 'a@own.test', 'own.test'],
    ['Jürgen 🎉 <a@bücher.test>', 'Jürgen 🎉', 'a@xn--bcher-kva.test', 'xn--bcher-kva.test'],
    ['=?UTF-8?Q?J=C3=BCrgen?= <a@own.test>', 'Jürgen', 'a@own.test', 'own.test'],
    ['\u200fדנה\u200e <a@own.test>', 'דנה', 'a@own.test', 'own.test'],
    ['\u202egnp.exe <a@own.test>', 'gnp.exe', 'a@own.test', 'own.test'],
    ['a+b/c=d@own.test', null, 'a+b/c=d@own.test', 'own.test'],
  ])('%s', (text, name, address, domain) => {
    expect(parseSender(text)).toEqual({ sender: { name, address }, domain });
  });
});

describe('rejects a sender', () => {
  test.each([
    ['nothing', ''],
    ['a name alone', 'Ann'],
    ['no domain', 'a@'],
    ['no local-part', '@own.test'],
    ['a domain of one label', 'a@localhost'],
    ['an address literal', 'a@[127.0.0.1]'],
    ['two addresses', 'a@own.test, b@own.test'],
    ['two addresses without a comma', 'a@own.test b@evil.test'],
    ['two addresses in brackets', '<a@own.test> <b@evil.test>'],
    ['an address as a name', 'ceo@bank.test <a@own.test>'],
    ['the address of another domain as a name', '"ceo@bank.test" <a@own.test>'],
    ['... among other words', '"The CEO (ceo@bank.test)" <a@own.test>'],
    ['... without a dot', '"ceo@bank" <a@own.test>'],
    ['... in full width', '"ceo＠bank.test" <a@own.test>'],
    ['... as an encoded word', '=?UTF-8?Q?ceo=40bank=2Etest?= <a@own.test>'],
    ['... in another script', '"ceo@bаnk.test" <a@own.test>'],
    ['a group', 'friends: a@own.test;'],
    ['an empty group', 'undisclosed-recipients:;'],
    ['a source route', '<@relay.test,@other.test:a@own.test>'],
    ['a quoted local-part', '"a@evil.test"@own.test'],
    ['a quoted local-part with a space', '"a b"@own.test'],
    ['two at signs', 'a@evil.test@own.test'],
    ['spaces within', 'a @ own . test'],
    ['spaces around a dot', 'a@own . test'],
    ['a bracket that stays open', 'Ann <a@own.test'],
    ['two dots', 'a..b@own.test'],
    ['a quotation mark that stays open', '"Ann <a@own.test>'],
    ['a comment that stays open', 'Ann (x <a@own.test>'],
    ['a comment within', 'a@own.test(b@evil.test)@x'],
    ['a bracket too much', 'a@own.test>'],
    ['brackets in brackets', '<<a@own.test>>'],
    ['a local-part beyond ASCII', 'jürgen@own.test'],
    ['CRLF and a field', 'a@own.test\r\nBcc: b@evil.test'],
    ['CRLF in the name', 'Ann\r\nBcc: b@evil.test <a@own.test>'],
    ['LF', 'Ann\n <a@own.test>'],
    ['CR', 'Ann\r <a@own.test>'],
    ['NUL', 'Ann\0 <a@own.test>'],
    ['NEL', 'Ann\u0085 <a@own.test>'],
    ['U+2028', 'Ann\u2028 <a@own.test>'],
    ['U+2029', 'a\u2029@own.test'],
    ['half a character', 'Ann \ud800 <a@own.test>'],
    ['a local-part of 65 bytes', `${'a'.repeat(65)}@own.test`],
    [
      'an address of more than 254',
      `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(30)}.test`,
    ],
    ['more than 500 characters', `${'n'.repeat(500)} <a@own.test>`],
  ])('%s', (_, text) => {
    expect(parseSender(text).error).toMatch(/^Invalid email format: /);
  });

  test('and quotes the invalid text in the error, without dangerous characters', () => {
    expect(parseSender('a\r\nb').error).toBe('Invalid email format: a\ufffd\ufffdb');
    expect(parseSender('x'.repeat(1_000)).error).toBe(`Invalid email format: ${'x'.repeat(200)}`);
  });
});

describe('parses recipients', () => {
  test.each([
    ['one', 'a@x.test', ['a@x.test']],
    ['a list in one text', 'a@x.test, Bob <b@x.test>,c@x.test', ['a@x.test', 'b@x.test', 'c@x.test']],
    ['with semicolons', 'a@x.test; b@x.test', ['a@x.test', 'b@x.test']],
    ['a comma too much', 'a@x.test,', ['a@x.test']],
    ['several texts', ['a@x.test', 'Bob <b@x.test>'], ['a@x.test', 'b@x.test']],
    ['lists in a list', ['a@x.test,b@x.test', 'c@x.test'], ['a@x.test', 'b@x.test', 'c@x.test']],
    ['twice the same', ['a@x.test', 'a@x.test'], ['a@x.test', 'a@x.test']],
    ['the case of the local-part', 'Ann@X.test', ['Ann@x.test']],
    ['a percent sign, literally', 'a%evil.test@x.test', ['a%evil.test@x.test']],
    ['a bang path, literally', 'evil!a@x.test', ['evil!a@x.test']],
    ['an address as a name', '"b@y.test" <a@x.test>', ['a@x.test']],
    ['no text', '', []],
    ['no entry', [], []],
  ] satisfies [string, string | string[], string[]][])('%s', (_, given, addresses) => {
    const read = parseRecipients(given, 'to');
    expect(read.recipients?.map((mailbox) => mailbox.address)).toEqual(addresses);
  });

  test.each([
    ['an empty entry', ['a@x.test', '']],
    ['a wrong one among good ones', ['a@x.test', 'b@', 'c@x.test']],
    ['a group', ['list: a@x.test, b@x.test;']],
    ['a hidden second address', ['a@x.test b@evil.test']],
    ['CRLF and an address', ['c@d.test\r\nBcc: evil@e.test']],
    ['a quoted local-part', ['"x@else.test"@ok.test']],
    ['a quoted local-part with a comma', ['"a@x.test,b"@y.test']],
    ['a source route', ['<@ok.test:victim@evil.test>']],
  ])('%s is refused', (_, given) => {
    expect(parseRecipients(given, 'to').error).toMatch(/^Invalid email format: /);
  });

  test.each([
    ['a very long text', '""', '"a@x.test'],
    ['parentheses without end', '(', ''],
    ['backslashes and quotation marks', '\\"', ''],
  ])('%s is refused in linear time', (_, unit, end) => {
    expectLinearGrowth((length) => {
      const given = [`${unit.repeat(length / unit.length)}${end}`];
      expect(parseRecipients(given, 'to').error).toMatch(/^Invalid email format: /);
    }, 20_000);
  });

  const many = Array.from({ length: 51 }, (_, index) => `a${index}@x.test`);
  test.each([
    ['51 entries', many],
    ['51 in one text', many.join(', ')],
    ['51 in two texts', [many.slice(0, 25).join(','), many.slice(25).join(',')]],
  ])('%s exceed the limit', (_, given) => {
    expect(parseRecipients(given, 'cc').error).toBe('Too many addresses in cc: at most 50 are allowed');
  });

  test('accepts 50 recipients, unless the field allows fewer', () => {
    expect(parseRecipients(many.slice(1), 'to').recipients).toHaveLength(50);
    expect(parseRecipients(many.slice(1), 'reply_to', 10).error).toBe(
      'Too many addresses in reply_to: at most 10 are allowed',
    );
  });
});

test('the envelope has every address once, including Bcc', () => {
  const list = (...addresses: string[]) => addresses.map((address) => ({ name: null, address }));
  expect(envelopeRecipients(list('a@x.test', 'b@x.test'), list('B@x.test', 'a@x.test'), list('c@x.test'))).toEqual([
    'a@x.test',
    'b@x.test',
    'B@x.test',
    'c@x.test',
  ]);
});

test('puts a display name of received mail on one line and limits its length', () => {
  const mailbox = outgoingMailbox({ name: ` A\r\nB\u2028C\0 ${'x'.repeat(500)}`, address: 'a@x.test' });
  expect(mailbox?.name).toBe(`A B C ${'x'.repeat(194)}`);
  expect(outgoingMailbox({ name: '\u202e', address: 'a@x.test' })).toEqual({ name: null, address: 'a@x.test' });
});
