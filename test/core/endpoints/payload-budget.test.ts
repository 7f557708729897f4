import { expect, test } from 'vitest';
import { cutToJsonOctets, jsonOctets, type PayloadSizes, planPayload } from '../../../core/endpoints/payload-budget.ts';

/** 10,000 octets in all. */
const SIZES: PayloadSizes = {
  fixed: 500,
  contents: [100, 3_000, 900],
  raw: 3_000,
  html: 1_500,
  text: 800,
  headers: 200,
};

test.each<[budget: number, contents: number[], givenWay: string[], textOctets: number | null]>([
  [10_000, [0, 1, 2], [], null],
  [9_999, [0, 2], ['attachments'], null],
  [7_000, [0, 2], ['attachments'], null],
  [6_999, [0], ['attachments'], null],
  [6_099, [], ['attachments'], null],
  [6_000, [], ['attachments'], null],
  [5_999, [], ['attachments', 'raw'], null],
  [3_000, [], ['attachments', 'raw'], null],
  [2_999, [], ['attachments', 'raw', 'html'], null],
  [1_500, [], ['attachments', 'raw', 'html'], null],
  [1_499, [], ['attachments', 'raw', 'html', 'text'], 799],
  [700, [], ['attachments', 'raw', 'html', 'text'], 0],
  [699, [], ['attachments', 'raw', 'html', 'text', 'headers'], 0],
  [1, [], ['attachments', 'raw', 'html', 'text', 'headers'], 0],
])('within %i octets contents %j are sent, and %j give way', (budget, contents, givenWay, textOctets) => {
  const plan = planPayload(budget, SIZES);
  expect([...plan.contents]).toEqual(contents);
  expect(plan).toMatchObject({
    givenWay,
    textOctets,
    hasRaw: !givenWay.includes('raw'),
    hasHtml: !givenWay.includes('html'),
    hasHeaders: !givenWay.includes('headers'),
  });
});

test('of contents of one size the later gives way first', () => {
  expect([
    ...planPayload(700, { ...SIZES, contents: [100, 100, 100], raw: 0, html: 0, text: 0, headers: 0 }).contents,
  ]).toEqual([0, 1]);
});

test('what is not there does not give way', () => {
  const { givenWay } = planPayload(400, { fixed: 500, contents: [], raw: 0, html: 0, text: 10, headers: 0 });
  expect(givenWay).toEqual(['text']);
});

const TEXTS = [
  '',
  'plain',
  '"\\"',
  '\0\x01\b\t\n\f\r\x1f\x7f',
  'äöü',
  '€\u2028',
  '😀',
  '\ud83d',
  'a\ude00b',
  '👩‍💻"\n',
];

test.each(TEXTS)('the octets of %j in JSON are counted as they are written', (text) => {
  expect(jsonOctets(text)).toBe(Buffer.byteLength(JSON.stringify(text)) - 2);
});

test.each(TEXTS)('%j is cut to the longest beginning that fits, and never within a character', (text) => {
  const characters = Array.from(text);
  for (let limit = 0; limit <= jsonOctets(text) + 1; limit++) {
    const cut = cutToJsonOctets(text, limit);
    expect(jsonOctets(cut)).toBeLessThanOrEqual(limit);
    expect(text.startsWith(cut)).toBe(true);
    const kept = Array.from(cut);
    expect(kept).toEqual(characters.slice(0, kept.length));
    const longer = characters.slice(0, kept.length + 1).join('');
    if (longer !== cut) expect(jsonOctets(longer)).toBeGreaterThan(limit);
  }
});

test('no plan exceeds its budget where what is fixed does not', () => {
  let seed = 1;
  const random = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % (most + 1);
  };
  for (let round = 0; round < 2_000; round++) {
    const sizes: PayloadSizes = {
      fixed: random(1_000),
      contents: Array.from({ length: random(6) }, () => random(5_000)),
      raw: random(20_000),
      html: random(5_000),
      text: random(5_000),
      headers: random(2_000),
    };
    const budget = sizes.fixed + random(30_000);
    const plan = planPayload(budget, sizes);
    const contents = [...plan.contents].reduce((sum, place) => sum + (sizes.contents[place] ?? 0), 0);
    const total =
      sizes.fixed +
      contents +
      (plan.hasRaw ? sizes.raw : 0) +
      (plan.hasHtml ? sizes.html : 0) +
      (plan.textOctets ?? sizes.text) +
      (plan.hasHeaders ? sizes.headers : 0);
    expect(total).toBeLessThanOrEqual(budget);
  }
});
