import { describe, expect, test } from 'vitest';
import {
  decodeText,
  endOfHeaderSection,
  firstField,
  readableFields,
  readHeaderSection,
  readPriority,
} from '../../../core/mime/header-fields.ts';
import { parseDate } from '../../../core/mime/parse-date.ts';

const section = (text: string) => readHeaderSection(Buffer.from(text, 'latin1'));
const names = (text: string) => section(text).fields.map((field) => field.name);

describe('the header section', () => {
  test.each([
    ['A: 1\r\nB: 2\r\n\r\nC: 3\r\n', ['a', 'b']],
    ['A: 1\nB: 2\n\nC: 3\n', ['a', 'b']],
    ['A: 1\nB: 2\r\n\nC: 3\n', ['a', 'b']],
    ['A: 1\nB: 2\n\r\nC: 3\n\n', ['a', 'b']],
    ['A: 1\r\n folded\r\n\tagain: x\r\nB: 2', ['a', 'b']],
    ['From joe Mon Jan 1\nA: 1\n\n', ['a']],
    ['no field\nA: 1\nstill none\n: empty\nB : 2\n\n', ['a', 'b']],
    ['\r\nA: 1\r\n', []],
    ['\nA: 1\n', []],
    ['', []],
    [' leading: fold\nA: 1\n\n', ['a']],
    ['__proto__: 1\nconstructor: 2\n\n', ['__proto__', 'constructor']],
    ['B\xfcro: 1\nA: 2\n\n', ['a']],
    ['A: 1\rB: 2\r\n\r\n', ['a']],
  ])('of %j has the fields %j', (text, expected) => {
    expect(names(text)).toEqual(expected);
  });

  test('is cut at 1,000 fields, and marked as truncated', () => {
    const many = section('X: 1\r\n'.repeat(1_001));
    expect([many.fields.length, many.isTruncated]).toEqual([1_000, true]);
    expect(section('X: 1\r\n'.repeat(1_000)).isTruncated).toBe(false);
  });

  test('ends where the body begins', () => {
    expect(endOfHeaderSection(Buffer.from('A: 1\r\n\r\nbody'))).toBe(6);
    expect(endOfHeaderSection(Buffer.from('A: 1\n\nbody\r\n\r\n'))).toBe(5);
    expect(endOfHeaderSection(Buffer.from('A: 1'))).toBe(4);
  });
});

test.each([
  [' Hello', 'Hello'],
  [' Hello\r\n  World', 'Hello World'],
  [' =?utf-8?Q?J=C3=BCrgen?=', 'Jürgen'],
  [' =?utf-8?B?SsO8?= =?utf-8?B?cmdlbg==?=', 'Jürgen'],
  [' =?utf-8?Q?a?=\r\n =?utf-8?Q?b?= c', 'ab c'],
  [' =?utf-8?B?w7w=?==?utf-8?B?w6Q=?=', 'üä'],
  [' =?iso-8859-1?Q?J\xfcrgen?=', 'Jürgen'],
  [' J\xfcrgen', 'Jürgen'],
  [' J\xc3\xbcrgen', 'Jürgen'],
  [' =?no-such?Q?a?=', 'a'],
  [' =?utf-8?X?a?=', '=?utf-8?X?a?='],
  [' =?utf-8?Q?a=00b?=', 'a\ufffdb'],
  [' =?utf-8?Q?unfinished', '=?utf-8?Q?unfinished'],
  [' nul\0here', 'nul\ufffdhere'],
])('decodes the value %j as %j', (raw, text) => {
  expect(decodeText(raw)).toBe(text);
});

test('returns verdicts claimed by the sender under another name', () => {
  const fields = readableFields(
    section('Authentication-Results: mx.y.test; dkim=pass\nReceived-SPF: pass\nSubject: a\nsubject: b\n\n'),
  );
  expect(fields).toEqual([
    ['x-original-authentication-results', 'mx.y.test; dkim=pass'],
    ['x-original-received-spf', 'pass'],
    ['subject', 'a'],
    ['subject', 'b'],
  ]);
  expect(firstField(section('A: 1\nA: 2\n\n'), 'a')?.raw.trim()).toBe('1');
});

test.each([
  ['Tue, 1 Apr 1997 09:06:31 -0800 (PST)', '1997-04-01T17:06:31.000Z'],
  ['1 Apr 97 09:06 EST', '1997-04-01T14:06:00.000Z'],
  ['Tue, 01 Apr 2025 09:06:31 GMT', '2025-04-01T09:06:31.000Z'],
  ['Tue, 01 Apr 2025 09:06:31 UT', '2025-04-01T09:06:31.000Z'],
  ['Tue, 01 Apr 2025 09:06:31 CEST', '2025-04-01T09:06:31.000Z'],
  ['Tue, 01 Apr 2025 09:06:31', '2025-04-01T09:06:31.000Z'],
  ['Tue, 01 Apr 2025 09:06:31 -0000', '2025-04-01T09:06:31.000Z'],
  ['Tue, (comment) 01 Apr 2025\r\n 09:06:31 +0530', '2025-04-01T03:36:31.000Z'],
  ['Tue Apr  1 09:06:31 2025', '2025-04-01T09:06:31.000Z'],
  ['2025-04-01T09:06:31Z', '2025-04-01T09:06:31.000Z'],
  ['2025-04-01 09:06:31 +0200', '2025-04-01T07:06:31.000Z'],
  ['Tue, 31 Foo 2025 09:06:31 GMT', null],
  ['1 Apr 99999 09:06:31 GMT', null],
  ['Thu, 99 Apr 2025 09:06:31 GMT', null],
  ['banana 1', null],
  ['12', null],
  ['', null],
])('parses the Date %j as %j', (raw, expected) => {
  expect(parseDate(raw)?.toISOString() ?? null).toBe(expected);
});

test.each([
  ['X-Priority: 1 (Highest)', 'high'],
  ['X-Priority: 3', 'normal'],
  ['X-Priority: 5', 'low'],
  ['Importance: High', 'high'],
  ['Importance: low', 'low'],
  ['Priority: non-urgent', 'low'],
  ['Priority: urgent', 'high'],
  ['X-MSMail-Priority: Normal', 'normal'],
  ['Subject: urgent', null],
])('%s means %s', (field, priority) => {
  expect(readPriority(section(`${field}\r\n\r\n`))).toBe(priority);
});
