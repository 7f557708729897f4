import { describe, expect, test } from 'vitest';
import { findLinkWarnings, MAX_LINK_WARNINGS } from '../../../core/mime/link-warnings.ts';
import { readPublicSuffixes, registrableDomain } from '../../../core/shared/registrable-domain.ts';

const suffixes = readPublicSuffixes(
  '// comment\ncom\nio\norg\nexample\nmd\nnet\nde\nuk\nco.uk\n*.ck\n!www.ck\nрф\ngithub.io\n\n',
);
const warnings = (html: string) => findLinkWarnings(html, suffixes).map(({ shown, actual }) => `${shown} > ${actual}`);

describe('a link is reported when its text names another domain than its target:', () => {
  test.each<[string, string]>([
    ['<a href="https://evil.com/x">https://bank.com/login</a>', 'bank.com > evil.com'],
    ['<a href="http://evil.com">www.bank.com</a>', 'www.bank.com > evil.com'],
    ['<a href="https://evil.com">bank.com</a>', 'bank.com > evil.com'],
    ['<a href="https://evil.com">bank.com/login?a=1</a>', 'bank.com > evil.com'],
    ['<A HREF=//evil.com><b>https://</b>ba<i>nk.c</i>om</A>', 'bank.com > evil.com'],
    ['<a href=" \nhttps://ev\til.com ">Sign in at https://bank.com now</a>', 'bank.com > evil.com'],
    ['<a href="https://bank.com.evil.com">bank.com</a>', 'bank.com > bank.com.evil.com'],
    ['<a href="https://bank.com@evil.com">https://bank.com</a>', 'bank.com > evil.com'],
    ['<a href="https://evil.co.uk">bank.co.uk</a>', 'bank.co.uk > evil.co.uk'],
    ['<a href="https://evil.github.io">good.github.io</a>', 'good.github.io > evil.github.io'],
    ['<a href="https://192.0.2.1/">https://bank.com</a>', 'bank.com > 192.0.2.1'],
    ['<a href="https://evil.com">&#98;ank&#46;com</a>', 'bank.com > evil.com'],
    ['<a href="https&colon;&sol;/evil&period;com">bank&period;com</a>', 'bank.com > evil.com'],
    ["<a title='>' class=x href='https://evil.com' href='https://bank.com'>bank.com</a>", 'bank.com > evil.com'],
    ['<a/href=https://evil.com>bank.com<!-- > --></a >', 'bank.com > evil.com'],
    ['<a href="https://evil.com">ba\u200bnk.com</a>', 'bank.com > evil.com'],
    ['<a href="https://evil.com">https://bücher.de</a>', 'xn--bcher-kva.de > evil.com'],
    ['<a href="https://track.mailer.com/c/1">https://shop.com</a>', 'shop.com > track.mailer.com'],
  ])('%s', (html, warning) => {
    expect(warnings(html)).toEqual([warning]);
  });
});

describe('no link is reported when', () => {
  test.each<[string, string]>([
    ['it leads where it says', '<a href="https://bank.com/a">https://bank.com</a>'],
    ['the organization is the same', '<a href="https://click.bank.com/a">www.bank.com</a>'],
    ['the text is not an address', '<a href="https://evil.com">Click here</a>'],
    ['the text is a sentence with a name', '<a href="https://evil.com">Read about bank.com today</a>'],
    ['the text is a file name', '<a href="https://evil.com">README.md</a>'],
    ['the text is a product', '<a href="https://evil.com">ASP.NET</a>'],
    ['the text has no public suffix', '<a href="https://evil.com">version.1</a>'],
    ['the text is a mail address', '<a href="https://evil.com">joe@bank.com</a>'],
    ['the target is a mail address', '<a href="mailto:joe@evil.com">bank.com</a>'],
    ['the target is a place in the message', '<a href="#top">bank.com</a>'],
    ['it has no target', '<a name="x">bank.com</a>'],
    ['the target is not an address', '<a href="https://[">bank.com</a>'],
    ['the address is plain text', 'bank.com'],
    ['it ends before the text', '<a href="https://evil.com"></a>bank.com'],
  ])('%s', (_, html) => {
    expect(warnings(html)).toEqual([]);
  });
});

test('a host that imitates Latin letters is reported in ASCII, whatever the text', () => {
  expect(findLinkWarnings('<a href="https://раураl.com/x">Pay</a>', suffixes)).toEqual([
    { kind: 'lookalike_host', shown: 'paypal.com', actual: 'xn--l-7sba6dbr.com' },
  ]);
  expect(findLinkWarnings('<a href="https://пример.рф">a</a><a href="https://bücher.de">b</a>', suffixes)).toEqual([]);
});

test('each pair of hosts is reported once, up to a limit', () => {
  const link = (n: number) => `<a href="https://evil${n}.com">bank.com</a>`;
  expect(warnings(link(1).repeat(3))).toHaveLength(1);
  expect(warnings(Array.from({ length: 50 }, (_, n) => link(n)).join(''))).toHaveLength(MAX_LINK_WARNINGS);
});

test.each([
  '<a href="',
  '<a x',
  '<a href=',
  '<!--',
  '<a x=\'"',
  '<a href=x>',
  '<a href="https://evil.com">www.',
  '<',
  'www.',
])('two megabytes of %j are read in linear time', (part) => {
  expect(findLinkWarnings(part.repeat(2_000_000 / part.length), suffixes).length).toBeLessThanOrEqual(
    MAX_LINK_WARNINGS,
  );
});

test.each<[string, string | null]>([
  ['bank.com', 'bank.com'],
  ['a.b.bank.co.uk', 'bank.co.uk'],
  ['co.uk', null],
  ['com', null],
  ['a.b.x.ck', 'b.x.ck'],
  ['a.www.ck', 'www.ck'],
  ['x.xn--p1ai', 'x.xn--p1ai'],
  ['bank.com.', 'bank.com'],
  ['192.0.2.1', '192.0.2.1'],
  ['localhost', null],
  ['a.b.unknown', 'b.unknown'],
  ['a..com', null],
  ['', null],
])('the registered domain of %j is %j', (host, domain) => {
  expect(registrableDomain(host, suffixes)).toBe(domain);
});
