import { expect, test } from 'vitest';
import { readTestTitles, type TestTitle } from './test-titles.ts';
import { hasVerb } from './title-words.ts';

const MAX_LENGTH = 120;

/** Words with which a title begins that does not name its subject, or continues the title before it. */
const WITHOUT_SUBJECT = /^(?:it|its|they|this|these|those|that|such|so|or|than|nor|nobody|whoever|none of)\b/i;

/** Words that hide who does what. Each has a plain one: notified, returned or sent, again, no user, a user, the user who. */
const HIDING = /\b(?:told|anew|nobody|somebody|whoever|whosoever|oneself|hereby)\b/i;

const titles = readTestTitles();

test('every title of a test has a verb, read together with its groups', () => {
  expect(titles.length).toBeGreaterThan(4_000);
  expect(titles.filter((each) => !each.isGroup && !statesFact(each)).map(shown)).toEqual([]);
});

test('every title names its subject instead of pointing to it', () => {
  const wrong = titles.filter(
    ({ title, groups }) => WITHOUT_SUBJECT.test([...groups, title].join(' ')) || /^it /i.test(title),
  );
  expect(wrong.map(shown)).toEqual([]);
});

test('no title has a word that hides who does what', () => {
  expect(titles.filter(({ title }) => HIDING.test(title)).map(shown)).toEqual([]);
});

test('no title is longer than 120 characters', () => {
  expect(titles.filter(({ title }) => title.length > MAX_LENGTH).map(shown)).toEqual([]);
});

test.each([
  ['a riddle without a verb', 'nothing of anybody else', []],
  ['a noun', 'the largest message', ['receiving']],
  ['a placeholder whose rows have no verb', '%s', []],
])('%s is refused as a title', (_, title, groups) => {
  const rows = title === '%s' ? ['a domain', 'rejects a domain'] : [];
  expect(statesFact({ file: 'x.test.ts', line: 1, title, groups, isGroup: false, rows })).toBe(false);
});

/** Whether the title or a group around it has a verb, or else every row that fills its placeholder has one. */
function statesFact({ title, groups, rows }: TestTitle): boolean {
  if ([...groups, title].some(hasVerb)) return true;
  return title.includes('%s') && rows.length > 0 && rows.every(hasVerb);
}

function shown({ file, line, title, groups }: TestTitle): string {
  return `${file}:${line}: ${[...groups, title].join(' > ')}`;
}
