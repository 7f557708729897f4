import { expect, test } from 'vitest';
import { checkOutgoingContent } from '../../../core/sending/outgoing-content.ts';
import { topLevelDomains } from '../../../operations/emails/public-suffixes.ts';
import { expectLinearGrowth } from '../../support/growth.ts';
import { makeMessage, OUTGOING_CASES } from '../../support/mail/outgoing-attacks.ts';
import { OUTGOING_EVASIONS } from '../../support/mail/outgoing-evasions.ts';

const check = (bytes: Buffer) => checkOutgoingContent(bytes, { topLevel: topLevelDomains(), hasOwnUnsubscribe: false });

test.for([...OUTGOING_CASES, ...OUTGOING_EVASIONS])('$name: $finds', ({ bytes, finds }) => {
  const { link, file, doubt } = check(bytes);
  const found = { link, file, doubt };
  if (finds === null) expect(found).toEqual({ link: null, file: null, doubt: null });
  else expect(found[finds]).not.toBeNull();
});

const HEADER = ['From: ann@inbox.test', 'MIME-Version: 1.0'];
const inText = (text: string) => makeMessage([...HEADER, 'Content-Type: text/plain; charset=utf-8'], text);
const inHtml = (html: string) => makeMessage([...HEADER, 'Content-Type: text/html; charset=utf-8'], html);

test.for([
  'a.',
  '(',
  ' ',
  'é.',
  '。',
  'a@',
  'x@a.is.',
  'mailto:',
  '\u0316\u0301',
  '\u00ad',
  '=ybegin ',
  'begin 644 a\n',
])('reads text of %j in linear time', (unit) => {
  expectLinearGrowth((count) => check(inText(unit.repeat(count))), 30_000);
});

test.for([
  '<b>',
  '<style>',
  '<b style="a:b">',
  '<!--[if',
  'x(',
  '<p style="url(',
  "url('",
  '/*',
  '&#1;',
  '<a href="mailto:a">',
  'data:',
])('reads HTML of %j in linear time', (unit) => {
  expectLinearGrowth((count) => check(inHtml(unit.repeat(count))), 10_000);
});

test('reads a message of many parts in linear time', () => {
  expectLinearGrowth(
    (count) =>
      check(
        makeMessage(
          [...HEADER, 'Content-Type: multipart/mixed; boundary=b'],
          `${'--b\r\n\r\nx\r\n'.repeat(count)}--b--`,
        ),
      ),
    900,
  );
});

test.for<[string, string]>([
  ['Subject: evil.com', 'evil.com in its subject'],
  ['Cc: "evil.com" <a@example.com>', 'evil.com in its field Cc'],
])('says where it found a link: %s', ([field, found]) => {
  const { link } = check(makeMessage([...HEADER, field], 'Hello'));
  expect(`${link?.what} in ${link?.where}`).toBe(found);
});

test('repeats at most 100 characters of a link', () => {
  expect(check(inText(`https://example.com/${'x'.repeat(500)}`)).link?.what).toHaveLength(101);
});

test('refuses text and HTML that are too large to be searched', () => {
  expect(check(inText('a '.repeat(600_000))).link?.what).toMatch(/more text/);
  expect(check(inHtml('a '.repeat(600_000))).link?.what).toMatch(/more HTML/);
  expect(check(inHtml('<p>'.repeat(150_000))).link?.what).toMatch(/more HTML/);
  expect(check(inHtml('<iframe srcdoc="'.repeat(9))).link).toBeNull();
  const rules = Array.from({ length: 3_000 }, (_, at) => `*{color:#${at}}`).join('');
  expect(check(inHtml(`<style>${rules}</style>${'<b>x'.repeat(1_000)}`)).link?.what).toMatch(/more styles/);
});

test('a List-Unsubscribe that the service wrote is no link', () => {
  const bytes = makeMessage([...HEADER, 'List-Unsubscribe: <https://mail.example/u/1>'], 'Hello');
  expect(check(bytes).link).not.toBeNull();
  const question = { topLevel: topLevelDomains(), hasOwnUnsubscribe: true };
  expect(checkOutgoingContent(bytes, question).link).toBeNull();
});

test('knows all top-level domains, also as U-labels', () => {
  const names = topLevelDomains();
  expect(names.size).toBeGreaterThan(1_500);
  for (const name of ['com', 'zip', 'xn--p1ai', 'рф', '中国', 'онлайн', 'onion']) expect(names).toContain(name);
  for (const name of ['js', 'pdf', 'html', '']) expect(names).not.toContain(name);
});
