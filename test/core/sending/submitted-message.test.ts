import { describe, expect, test } from 'vitest';
import { prepareSubmitted, submissionSha256 } from '../../../core/sending/submitted-message.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

const made = { messageId: '<made@mine.test>', date: new Date('2026-06-01T12:00:00Z') };
const prepare = (text: string) => prepareSubmitted(Buffer.from(text, 'latin1'), made);
const HEAD = 'From: a@mine.test\r\nDate: Mon, 01 Jun 2026 10:00:00 +0000\r\nMessage-ID: <own@mine.test>\r\n';
const BODY = '\r\nBcc: this is text\r\n  caf\xe9\r\n';

describe('a submitted message', () => {
  test('that has Message-ID and Date stays as it is, byte for byte', () => {
    const bytes = Buffer.from(`${HEAD}Subject:   odd \r\n\tspace\r\nX-Empty:\r\n${BODY}`, 'latin1');
    const prepared = prepareSubmitted(bytes, made);
    expect(prepared).toMatchObject({ messageId: '<own@mine.test>', hasOwnId: true });
    expect('bytes' in prepared && prepared.bytes).toBe(bytes);
  });

  test.each([
    ['at the start', `Bcc: x@a.test\r\n${HEAD}${BODY}`],
    ['at the end', `${HEAD}Bcc: x@a.test\r\n${BODY}`],
    ['folded', `${HEAD}bcc: x@a.test,\r\n\ty@a.test,\r\n z@a.test\r\n${BODY}`],
    ['several, in odd forms', `BCC :x@a.test\r\n${HEAD}Resent-Bcc: y@a.test\r\nBcc:\r\n${BODY}`],
    ['without a body', `${HEAD}Bcc: x@a.test\r\n`, HEAD],
  ])('loses its Bcc fields: %s', (_case, text, rest = `${HEAD}${BODY}`) => {
    expect(prepare(text)).toEqual({ bytes: Buffer.from(rest, 'latin1'), messageId: '<own@mine.test>', hasOwnId: true });
  });

  test('keeps fields whose names only begin alike, and lines of the body', () => {
    const text = `${HEAD}Bcc-Count: 3\r\nX-Bcc: y\r\n${BODY}`;
    expect(prepare(text)).toMatchObject({ bytes: Buffer.from(text, 'latin1') });
  });

  test('gets Message-ID and Date where they are missing', () => {
    const prepared = prepare(`From: a@mine.test\r\n${BODY}`);
    expect(prepared).toMatchObject({ messageId: '<made@mine.test>', hasOwnId: false });
    expect('bytes' in prepared && prepared.bytes.toString('latin1')).toBe(
      `Message-ID: <made@mine.test>\r\nDate: Mon, 01 Jun 2026 12:00:00 +0000\r\nFrom: a@mine.test\r\n${BODY}`,
    );
  });

  test.each([
    ['a long line', `${HEAD}\r\n${'x'.repeat(999)}\r\n`, /998 bytes/],
    ['a NUL', `${HEAD}\r\na\0b\r\n`, /NUL/],
    ['a lone CR', `${HEAD}\r\na\rb\r\n`, /lone CR/],
    ['an 8-bit header', `${HEAD}Subject: caf\xe9\r\n${BODY}`, /encoded words/],
    ['two From fields', `${HEAD}From: b@mine.test\r\n${BODY}`, /several from fields/],
    ['a Message-ID that is none', `From: a@mine.test\r\nMessage-ID: none\r\n${BODY}`, /Message-ID is not valid/],
    [
      'a From field below a delimiter, where other programs see it',
      `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n--b\r\nFrom: ceo@mine.test\r\n${BODY}`,
      /exactly one address/,
    ],
  ])('is refused for %s', (_case, text, error) => {
    expect(prepare(text)).toEqual({ error: expect.stringMatching(error) });
  });

  test.each([
    'CEO <ceo@mine.test, x <a@mine.test>',
    'CEO <ceo@mine.test> <a@mine.test>',
    'ceo@mine.test <a@mine.test>',
    'a@mine.test (ceo@mine.test)',
    '"CEO\\" <ceo@mine.test>, "x" <a@mine.test>',
    'ceo@mine.test; a@mine.test',
    'Ann (") <a@mine.test> (") <ceo@mine.test>',
    '"ceo"@mine.test <a@mine.test>',
  ])('is refused where programs may read another author than one: %s', (from) => {
    expect(prepare(`From: ${from}\r\n${BODY}`)).toEqual({ error: expect.stringMatching(/exactly one address/) });
  });

  test.each(['"Ann (ann@home.test)" <a@mine.test>', '=?utf-8?Q?Ann_@_Mine?= <a@mine.test>', 'a@mine.test (Ann)'])(
    'is accepted where all programs read one author: %s',
    (from) => expect(prepare(`From: ${from}\r\n${BODY}`)).not.toHaveProperty('error'),
  );

  test('is refused for a From field of many quotes, in linear time', () => {
    const quotes = `${'"\\"'.repeat(250)}\r\n `;
    expectLinearGrowth((count) => prepare(`From: ${quotes.repeat(count / 250)}<a@mine.test>\r\n${BODY}`), 20_000);
    expect(prepare(`From: ${quotes}<a@mine.test>\r\n${BODY}`)).toHaveProperty('error');
  });

  test.each([
    'a@mine.test',
    '<a@mine.test>',
    'Ann <a@mine.test>',
    'A@mine.test <a@mine.test>',
    '"Ann <ann@home.test>, \\"CEO\\"" <a@mine.test>',
    'Lee, Ann <a@mine.test>',
    '=?utf-8?Q?Ann_=40_home?= <a@mine.test>',
    '"Ann (home)"\r\n <a@mine.test>',
    '"a b"@mine.test',
  ])('may be from %s', (from) => {
    expect(prepare(`From: ${from}\r\n${BODY}`)).toMatchObject({ hasOwnId: false });
  });
});

test('a repeated submission has the same Message-ID and the same recipients, in any order', () => {
  const first = submissionSha256('<a@b.test>', ['x@a.test', 'Y@a.test']);
  expect(submissionSha256('<a@b.test>', ['y@a.test', 'x@a.test'])).toBe(first);
  expect(submissionSha256('<a@b.test>', ['x@a.test'])).not.toBe(first);
  expect(submissionSha256('<c@b.test>', ['x@a.test', 'y@a.test'])).not.toBe(first);
});
