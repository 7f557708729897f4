import { expect, test } from 'vitest';
import { emailTerms, PLACES, type WordSource } from '../../../core/search/email-terms.ts';

const PLAIN: WordSource = {
  subject: 'Rent',
  fromText: '"Ann Lee" <ann@x.test>',
  fromAddress: 'ann@x.test',
  recipientTexts: ['Bob <bob@y.test>'],
  recipients: ['bob@y.test'],
  ownAddress: 'bob@y.test',
  text: 'the text',
  html: null,
  hasAttachments: false,
};

test('an email has its words with their places, its domains, and whether it has attachments', () => {
  const { texts, marks } = emailTerms({ ...PLAIN, hasAttachments: true });
  expect(texts).toEqual([
    { place: PLACES.subject, words: ['rent'] },
    { place: PLACES.from, words: ['ann', 'lee', 'ann', 'x', 'test'] },
    { place: PLACES.to, words: ['bob', 'bob', 'y', 'test'] },
    { place: PLACES.to, words: [] },
    { place: PLACES.body, words: ['the', 'text'] },
  ]);
  expect([...marks].toSorted()).toEqual(['#attachment', '@x.test', '@y.test']);
});

test('HTML is read where there is no text', () => {
  const html = '<style>.unseen{}</style><p>Gr&uuml;&szlig;e</p>';
  const readBody = (changes: Partial<WordSource>) => emailTerms({ ...PLAIN, ...changes }).texts.at(-1)?.words;
  expect(readBody({ text: null, html })).toEqual(['grusse']);
  expect(readBody({ text: ' \r\n\t', html })).toEqual(['grusse']);
  expect(readBody({ text: 'x', html })).toEqual(['x']);
});

test('1,000 different words of an email can be searched for, those of its fields first', () => {
  const text = Array.from({ length: 1_200 }, (_, at) => `w${at}`).join(' ');
  const words = emailTerms({ ...PLAIN, text }).texts.flatMap((one) => one.words);
  expect(new Set(words).size).toBe(1_001);
  expect(words).toContain('w990');
  expect(words).not.toContain('w1000');
  expect(words.filter((word) => word === '').length).toBeGreaterThan(100);
});

test('16,000 words of an email can be searched for', () => {
  const words = emailTerms({ ...PLAIN, text: '1 '.repeat(40_000) }).texts.flatMap((one) => one.words);
  expect(words).toHaveLength(16_000);
});
