import { expect, test } from 'vitest';
import { saysFull } from '../../../core/sending/full-mailbox.ts';
import { refusalReason } from '../../../core/sending/refusal-reason.ts';
import { suppressesAddress } from '../../../core/sending/suppression.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

test.each([
  'the mailbox of the user is full',
  'your message was not delivered as the quota of this account is exceeded',
  'das benutzerpostfach ist voll',
  'der mailspeicher ist überschritten',
  'das postfach ist voll',
  'la boîte est pleine',
  'メールボックスがいっぱいです',
  'กล่องจดหมายเต็ม',
])('a mailbox is full: %s', (text) => {
  expect(saysFull(text)).toBe(true);
});

test.each([
  'your account is full of spam complaints',
  'your space in our list is full',
  'the space in the block list is full',
  'mailbox blocked: quota of complaints exceeded',
  'das konto ist voller beschwerden, speicher',
  'votre compte est plein de spam, espace',
])('no mailbox is full: %s', (text) => {
  expect(saysFull(text)).toBe(false);
});

test.each([
  ['550', 'your account is full of spam complaints'],
  ['554', 'Your space in our list is full'],
])('%s %s is neither a full mailbox nor a reason to suppress', (code, text) => {
  expect(refusalReason({ code: Number(code), status: null, text })).not.toBe('mailbox_full');
  expect(suppressesAddress({ code: Number(code), status: null, text })).toBe(false);
});

const RUNS = [
  'メ',
  'ก',
  'م',
  'ממתל',
  'ممتل',
  'a',
  'ж',
  'ह',
  '메',
  'fach',
  'tila',
  'speicher',
  'full ',
  'exceed',
  '不',
  '\u{20000}',
];

test.each(RUNS)('100,000 characters of %j are searched in time that grows with their number', (part) => {
  const makeClause = (length: number) => `full ${part.repeat(Math.ceil(length / part.length)).slice(0, length - 7)}. `;
  // The clause is the unit that is searched: four times as long clauses of the same text must not cost more.
  expectLinearGrowth((size) => {
    for (let at = 0; at < 250; at++) saysFull(makeClause(Math.max(8, Math.floor(size / 250))));
  }, 100_000);
});

test.each(RUNS)('clauses of 400 characters of %j take no more for each character than those of 50', (part) => {
  const makeText = (length: number) =>
    `full ${part.repeat(400).slice(0, length - 7)}. `.repeat(Math.floor(100_000 / length));
  const measureCost = (text: string) => {
    let least = Number.POSITIVE_INFINITY;
    for (let tried = 0; tried < 5; tried++) {
      const { user, system } = process.threadCpuUsage();
      saysFull(text);
      const after = process.threadCpuUsage();
      least = Math.min(least, (after.user + after.system - user - system) / 1_000);
    }
    return least;
  };
  const [short, long] = [makeText(50), makeText(400)].map(measureCost);
  expect(long).toBeLessThan(Math.max(short ?? 0, 20) * 3);
});
