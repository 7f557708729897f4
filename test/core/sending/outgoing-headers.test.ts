import { describe, expect, test } from 'vitest';
import {
  checkOutgoingHeaders,
  checkSubject,
  isWritableId,
  THREADING_FIELDS,
} from '../../../core/sending/outgoing-headers.ts';

describe('accepts custom header fields', () => {
  test.each([
    ['X-Entity-Ref-ID', '123', '123'],
    ['List-Unsubscribe', '<https://x.test/u?a=b>, <mailto:u@x.test>', '<https://x.test/u?a=b>, <mailto:u@x.test>'],
    ['X-Json', '{"a": 1}', '{"a": 1}'],
    ['X-Greeting', 'Grüße 🎉', 'Grüße 🎉'],
    ['X-Tab', 'a\t\tb', 'a b'],
    ['X-Spaces', '  a    b  ', 'a b'],
    ['X-Empty', '', ''],
    ['Auto-Submitted', 'auto-generated', 'auto-generated'],
    ['Precedence', 'bulk', 'bulk'],
    ['x'.repeat(126), 'v', 'v'],
    ['X-Long', 'x'.repeat(997), 'x'.repeat(997)],
    ['X-Words', `${'x'.repeat(498)} ${'x'.repeat(499)}`, `${'x'.repeat(498)} ${'x'.repeat(499)}`],
    ['X-Wide', 'ü'.repeat(998), 'ü'.repeat(998)],
  ])('%s', (name, value, sent) => {
    expect(checkOutgoingHeaders({ [name]: value })).toEqual({
      fields: [[name, sent]],
      inReplyTo: null,
      references: [],
    });
  });

  test('up to 50', () => {
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`X-${index}`, 'v']));
    expect(checkOutgoingHeaders(fields).fields).toHaveLength(50);
  });

  test('names of Object.prototype members like any other', () => {
    expect(checkOutgoingHeaders({ constructor: 'a', toString: 'b', hasOwnProperty: 'c' }).fields).toHaveLength(3);
  });
});

describe('rejects custom header fields', () => {
  test.each([
    'From',
    'from',
    'FROM',
    'Sender',
    'To',
    'Cc',
    'Bcc',
    'bCC',
    'Reply-To',
    'Subject',
    'Date',
    'Message-ID',
    'Message-Id',
    'Return-Path',
    'Received',
    'Received-SPF',
    'Delivered-To',
    'DKIM-Signature',
    'DomainKey-Signature',
    'Authentication-Results',
    'ARC-Seal',
    'MIME-Version',
    'Mime-Foo',
    'Content-Type',
    'content-transfer-encoding',
    'Resent-From',
    'Resent-Bcc',
    'Apparently-To',
  ])('%s is reserved', (name) => {
    expect(checkOutgoingHeaders({ [name]: 'a@x.test' }).error).toMatch(`Header cannot be set: ${name}`);
  });

  test('Reply-To, with a hint to use the key', () => {
    expect(checkOutgoingHeaders({ 'Reply-To': 'a@x.test' }).error).toBe(
      'Header cannot be set: Reply-To. Use reply_to instead',
    );
  });

  test.each([
    ['nothing', ''],
    ['a colon', 'X-A:'],
    ['a field behind a colon', 'From: ceo@bank.test (X'],
    ['a space', 'X A'],
    ['a space at the end', 'Bcc '],
    ['a space in front', ' Bcc'],
    ['a tab', 'Bcc\t'],
    ['CRLF', 'X-A\r\nBcc'],
    ['LF', 'X-A\n'],
    ['CR', '\rBcc'],
    ['NUL', 'B\0cc'],
    ['DEL', 'B\u007fcc'],
    ['NEL', 'Bcc\u0085'],
    ['U+2028', 'X-A\u2028'],
    ['letters beyond ASCII', 'X-Ü'],
    ['a dotless i', 'MıME-Version'],
    ['a long s', 'ſender'],
    ['__proto__', '__proto__'],
    ['127 letters', 'x'.repeat(127)],
  ])('a name with %s', (_, name) => {
    const headers = Object.fromEntries([[name, 'v']]);
    expect(checkOutgoingHeaders(headers).error).toMatch(/^(?:Invalid header name|Header cannot be set): /);
  });

  test.each([
    ['CRLF and a field', 'v\r\nBcc: evil@e.test'],
    ['a folded line', 'v\r\n w'],
    ['LF', 'v\nw'],
    ['CR', 'v\rw'],
    ['NUL', 'v\0w'],
    ['VT', 'v\u000bw'],
    ['FF', 'v\fw'],
    ['ESC', 'v\u001b[0m'],
    ['DEL', 'v\u007f'],
    ['NEL', 'v\u0085w'],
    ['U+2028', 'v\u2028w'],
    ['U+2029', 'v\u2029w'],
    ['half a character', 'v\udc00'],
    ['999 characters', 'v '.repeat(500).slice(0, 999)],
    ['a word that fits no line', 'v'.repeat(998)],
  ])('a value with %s', (_, value) => {
    expect(checkOutgoingHeaders({ 'X-A': value }).error).toBe('Invalid value for header: X-A');
  });

  test('more than 50', () => {
    const fields = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, 'v']));
    expect(checkOutgoingHeaders(fields).error).toBe('Headers cannot be more than 50');
  });

  test('duplicates in different case', () => {
    expect(checkOutgoingHeaders({ 'X-A': '1', 'x-a': '2' }).error).toBe('Header is given twice: x-a');
    expect(checkOutgoingHeaders({ 'x-a': '1', 'X-A': '2' }).error).toBe('Header is given twice: X-A');
  });
});

describe('In-Reply-To and References in custom fields', () => {
  test('are read as threading fields', () => {
    expect(
      checkOutgoingHeaders({ 'in-reply-to': '<b@x.test>', References: '<a@x.test>  <b@x.test>', 'X-A': 'v' }),
    ).toEqual({ fields: [['X-A', 'v']], inReplyTo: '<b@x.test>', references: ['<a@x.test>', '<b@x.test>'] });
  });

  test.each(['b@x.test', 'yes', '<no-at>', '<ü@x.test>'])('must name messages, not %s', (value) => {
    expect(checkOutgoingHeaders({ 'In-Reply-To': value }).error).toBe('Invalid value for header: In-Reply-To');
  });

  test('are rejected in a reply', () => {
    expect(checkOutgoingHeaders({ References: '<a@x.test>' }, THREADING_FIELDS).error).toBe(
      'Header cannot be set: References',
    );
  });

  test('need ids that fit on one line of ASCII', () => {
    expect(isWritableId(`<${'a'.repeat(993)}@x>`)).toBe(true);
    expect(isWritableId(`<${'a'.repeat(994)}@x>`)).toBe(false);
    expect(isWritableId('<ü@x>')).toBe(false);
  });
});

describe('a subject', () => {
  test.each(['Hello', '', 'Grüße 🎉', 'a\tb', 'x'.repeat(998), '=?utf-8?q?a?='])('%j is fine', (subject) => {
    expect(checkSubject(subject)).toBeNull();
  });

  test.each(['a\r\nBcc: evil@e.test', 'a\nb', 'a\rb', 'a\0b', 'a\u2028b', 'a\u0085b', 'a\ud800', 'x'.repeat(999)])(
    '%j is refused',
    (subject) => {
      expect(checkSubject(subject)).toMatch(/^Subject /);
    },
  );
});
