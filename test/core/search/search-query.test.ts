import { describe, expect, test } from 'vitest';
import { MAX_QUERY_LENGTH, parseSearch, type SearchTerm } from '../../../core/search/search-query.ts';
import { UserError } from '../../../core/shared/errors.ts';

const NOW = new Date('2026-07-01T12:00:00Z');
const words = (text: string, more: object = {}) => ({
  kind: 'words',
  place: 'anywhere',
  words: text.split(' '),
  isWhole: false,
  isNegated: false,
  ...more,
});
const before = (at: string, more: object = {}) => ({ kind: 'before', at: new Date(at), isNegated: false, ...more });
const flag = (name: string, more: object = {}) => ({ kind: 'flag', flag: name, isNegated: false, ...more });

describe('parses a search into terms', () => {
  const table: [text: string, terms: object[]][] = [
    ['', []],
    ['  \t\n ', []],
    ['invoice', [words('invoice')]],
    ['Invoice  MARCH', [words('invoice'), words('march')]],
    ['"annual report"', [words('annual report', { isWhole: true })]],
    ['"annual report', [words('annual report', { isWhole: true })]],
    ['say "a b"c', [words('say'), words('a b', { isWhole: true }), words('c')]],
    ['-draft', [words('draft', { isNegated: true })]],
    ['-"two words"', [words('two words', { isWhole: true, isNegated: true })]],
    ['--x', [words('x', { isNegated: true })]],
    ['well-known', [words('well known')]],
    ['- -- "" ! 🎉 "***"', []],
    ['Über straße', [words('uber'), words('strasse')]],
    ['東京', [words('東 京')]],
    ['from:ann', [words('ann', { place: 'from' })]],
    ['FROM:Ann', [words('ann', { place: 'from' })]],
    ['from:"Ann Lee"', [words('ann lee', { place: 'from', isWhole: true })]],
    ['-to:ann@x.test', [words('ann x test', { place: 'to', isNegated: true })]],
    ['subject:re:rent', [words('re rent', { place: 'subject' })]],
    [
      'domain:Example.COM domain:@müller.test',
      [
        { kind: 'domain', name: 'example.com', isNegated: false },
        { kind: 'domain', name: 'xn--mller-kva.test', isNegated: false },
      ],
    ],
    [
      'label:"To Do" -label:ÜBER',
      [
        { kind: 'label', key: 'to do', isNegated: false },
        { kind: 'label', key: 'über', isNegated: true },
      ],
    ],
    ['before:2026-01-31', [before('2026-01-31T00:00:00Z')]],
    ['before:2026/01/31', [before('2026-01-31T00:00:00Z')]],
    ['before:2024-02-29T10:30:00.5+02:00', [before('2024-02-29T08:30:00.5Z')]],
    ['before:2026-01-31T10:30', [before('2026-01-31T10:30:00Z')]],
    ['-before:7d', [before('2026-06-24T12:00:00Z', { isNegated: true })]],
    [
      'before:12h before:1w before:1y before:"0d"',
      [
        before('2026-07-01T00:00:00Z'),
        before('2026-06-24T12:00:00Z'),
        before('2025-07-01T12:00:00Z'),
        before('2026-07-01T12:00:00Z'),
      ],
    ],
    ['after:9999y', [{ kind: 'after', at: new Date(0), isNegated: false }]],
    ['has:attachment has:Attachments', [flag('attachment'), flag('attachment')]],
    ['is:unread is:READ -is:archived', [flag('unread'), flag('read'), flag('archived', { isNegated: true })]],
    [
      'in:inbox in:archive in:sent in:received in:scheduled',
      ['inbox', 'archived', 'sent', 'received', 'scheduled'].map((name) => flag(name)),
    ],
    // What only looks like an operator is words.
    ['https://x.test/a?b=c', [words('https x test a b c')]],
    ['12:30', [words('12 30')]],
    ['note:buy milk', [words('note buy'), words('milk')]],
    ['re: fwd:', [words('re'), words('fwd')]],
    ['mailto:ann@x.test', [words('mailto ann x test')]],
    ['constructor:x __proto__:y', [words('constructor x'), words('proto y')]],
    ["a' & b | !c <-> (d):* \\ ' :A", [words('a'), words('b'), words('c'), words('d'), words('a')]],
  ];
  test.each(table)('%s', (text, terms) => expect(parseSearch(text, NOW)).toEqual(terms));
});

describe('rejects an invalid value with the name of the operator and the allowed values', () => {
  test.each([
    ['before:tomorrow', /^before: does not take "tomorrow"\. It takes a date such as 2026-01-31, .*7d/],
    ['before:2026-02-30', /before:/],
    ['before:2026-13-01', /before:/],
    ['after:2026-1-1', /after:/],
    ['after:2026-01/01', /after:/],
    ['after:0999-01-01', /after:/],
    ['after:2026-01-01T25:00', /after:/],
    ['after:7m', /after:.*12h, 7d, 4w, 1y/],
    ['has:link', /has: does not take "link"\. It takes attachment/],
    ['is:starred', /is:.*unread, read, archived or snoozed/],
    ['is:unred', /is: does not take "unred"\. It takes unread, read, archived or snoozed\. Did you mean is:unread\?$/],
    ['is:constructor', /is:/],
    ['in:spam', /in:.*inbox, archive, sent, received, scheduled or trash/],
    ['domain:localhost', /domain:.*example\.com/],
    ['from:***', /from:.*an address/],
    ['label:"\u0007"', /label:/],
    ['from:', /^from: needs a value directly after it/],
    ['from: ann', /^from: needs a value directly after it/],
    ['subject:""', /^subject: needs a value/],
    [
      'cc:ann',
      /^cc: is not a search operator\. Operators are from: to: subject: domain: label: assigned: unread: before: after: has: is: in:/,
    ],
    ['older_than:7d', /older_than:/],
    ['form:ann', /^form: is not a search operator\. Did you mean from:\? .* "form:ann"$/],
    ['invoice subjct:may', /Did you mean subject:\?/],
    ['lable:urgent', /Did you mean label:\?/],
    ['-Asigned:me', /Did you mean assigned:\?/],
    ['befor:7d', /Did you mean before:\?/],
    [`is:${'x'.repeat(400)}`, /^is: does not take "x{60}…"/],
    ['x'.repeat(MAX_QUERY_LENGTH + 1), /^A search must not be longer than 500 characters; this one has 501/],
    ['a '.repeat(21), /^A search must not have more than 20 words and operators; this one has 21/],
  ])('%s', (text, message) => {
    const refused = catchError(() => parseSearch(text, NOW));
    expect(refused.code).toBe('validation');
    expect(refused.message).toMatch(message);
    expect(refused.details).toEqual([{ field: 'search', message: refused.message }]);
  });
});

test('parses or rejects any input in linear time', () => {
  const parts = [
    '"',
    '-',
    ':',
    'from:',
    'is:',
    'before:',
    '\0',
    '\ud83d',
    ' ',
    "'",
    '\\',
    'a',
    '\u0301',
    '%',
    '漢',
    '\u2028',
  ];
  let seed = 1;
  for (let round = 0; round < 3_000; round++) {
    let text = '';
    for (let length = round % 60; length > 0; length--) {
      seed = (seed * 48_271) % 2_147_483_647;
      text += parts[seed % parts.length];
    }
    let terms: SearchTerm[] = [];
    try {
      terms = parseSearch(text, NOW);
    } catch (error) {
      expect(error, JSON.stringify(text)).toBeInstanceOf(UserError);
    }
    for (const term of terms) {
      const given = term.kind === 'words' ? term.words : term.kind === 'label' ? [term.key] : [];
      // No control character, quote or backslash comes through where a query is made of it.
      if (term.kind === 'words') for (const word of given) expect(word).toMatch(/^[\p{L}\p{N}\p{M}]+$/u);
      else for (const key of given) expect(key).not.toMatch(/\p{Cc}|\p{Cs}/u);
    }
  }
});

function catchError(work: () => unknown): UserError {
  try {
    work();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

test.each(['form: ann', '"form:ann"', 'room:4', 'https://example.com', 'form://x', '12:30', 'date:today'])(
  'takes %j for words, although it has a colon',
  (text) => {
    expect(() => parseSearch(text, new Date(0))).not.toThrow();
  },
);
