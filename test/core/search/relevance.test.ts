import { describe, expect, test } from 'vitest';
import { emailTerms, type WordSource } from '../../../core/search/email-terms.ts';
import {
  type RankedCorpus,
  rankedWords,
  relevance,
  requireRankedWords,
  wordUse,
} from '../../../core/search/relevance.ts';
import {
  compareRelevance,
  decodeRelevanceCursor,
  encodeRelevanceCursor,
} from '../../../core/search/relevance-cursor.ts';
import { parseSearch } from '../../../core/search/search-query.ts';
import { wordQuery } from '../../../core/search/word-query.ts';
import { encodeCursor } from '../../../core/shared/page.ts';

const NOW = new Date('2026-07-01T00:00:00Z');
const PLAIN: WordSource = {
  subject: 'Keys',
  fromText: 'Ann <ann@x.test>',
  fromAddress: 'ann@x.test',
  recipientTexts: ['Bob <bob@y.test>'],
  recipients: ['bob@y.test'],
  ownAddress: 'bob@y.test',
  text: 'nothing to see here at all',
  html: null,
  hasAttachments: false,
};
const CORPUS: RankedCorpus = { emailCount: 1_000, averageLength: 14, having: [10, 10] };

function score(search: string, changes: Partial<WordSource>, corpus: Partial<RankedCorpus> = {}): number {
  const words = rankedWords(wordQuery(parseSearch(search, NOW)));
  return relevance(wordUse(words, emailTerms({ ...PLAIN, ...changes })), { ...CORPUS, ...corpus });
}

describe('an email is more relevant', () => {
  test('with the word in its subject than in its body, and in its sender than in its body', () => {
    const body = score('rent', { text: 'the rent of this month here' });
    expect(score('rent', { subject: 'Rent', text: 'nothing of this month here' })).toBeGreaterThan(body);
    expect(score('rent', { fromText: 'Rent <ann@x.test>', text: 'nothing of this month here' })).toBeGreaterThan(body);
  });

  test('with the word more often, each time by less', () => {
    const scores = [1, 2, 3, 4].map((count) =>
      score('rent', { text: `${'rent '.repeat(count)}${'x '.repeat(10 - count)}` }),
    );
    const gains = scores.slice(1).map((value, at) => value - (scores[at] ?? 0));
    expect(gains.every((gain) => gain > 0)).toBe(true);
    expect(gains.toSorted((one, other) => other - one)).toEqual(gains);
  });

  test('when it is shorter', () => {
    expect(score('rent', { text: 'rent' })).toBeGreaterThan(score('rent', { text: `rent ${'x '.repeat(100)}` }));
  });

  test('with a rare word than with a common one', () => {
    const text = 'rent hello';
    expect(score('rent', { text }, { having: [3] })).toBeGreaterThan(score('rent', { text }, { having: [900] }));
    expect(score('rent', { text }, { having: [1_000] })).toBeGreaterThan(0);
  });
});

test('a word counts only in the searched places, a prefix with all its words, and unwanted words not at all', () => {
  const use = (search: string) =>
    wordUse(
      rankedWords(wordQuery(parseSearch(search, NOW))),
      emailTerms({ ...PLAIN, subject: 'Rents', text: 'rent rental rents' }),
    ).frequencies;
  expect(use('subject:rent')).toEqual([4]);
  expect(use('rent')).toEqual([7]);
  expect(use('"rents"')).toEqual([5]);
  expect(use('"rent rental" -rents has:attachment')).toEqual([1, 1]);
});

test('a search without a wanted word cannot be ordered by relevance', () => {
  for (const search of ['', '-rent', 'has:attachment', 'domain:x.test is:unread', 'after:7d'])
    expect(() => requireRankedWords(parseSearch(search, NOW)), search).toThrow(/word or phrase to find/);
  for (const search of ['rent', '"a b"', 'from:ann -x']) requireRankedWords(parseSearch(search, NOW));
});

test('a cursor holds its position, and cursors of other lists are refused', () => {
  const cursor = { score: 12_345_678, at: NOW, id: 'em_1' };
  expect(decodeRelevanceCursor(encodeRelevanceCursor(cursor))).toEqual(cursor);
  expect(decodeRelevanceCursor(encodeRelevanceCursor({ ...cursor, score: 0 }))?.score).toBe(0);
  for (const text of ['', 'x', encodeCursor(cursor), Buffer.from('relevance:!:x').toString('base64url')])
    expect(decodeRelevanceCursor(text), text).toBeNull();
});

test('the most relevant emails come first, of equal relevance the newest', () => {
  const at = (ms: number, scored: number, id: string) => ({ score: scored, at: new Date(ms), id });
  const sorted = [at(5, 9, 'a'), at(7, 3, 'b'), at(6, 3, 'd'), at(6, 3, 'c')];
  expect(sorted.toReversed().toSorted(compareRelevance)).toEqual(sorted);
});
