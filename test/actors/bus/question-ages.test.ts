import { expect, test } from 'vitest';
import { createQuestionAges } from '../../../actors/bus/question-ages.ts';

test('the age of a question is its travel time minus the shortest of its caller', () => {
  const ages = createQuestionAges();
  expect(ages.ageMs('a', 1_000_000, 50)).toBe(0);
  expect(ages.ageMs('a', 1_000_100, 152)).toBe(2);
  expect(ages.ageMs('a', 1_001_000, 21_050)).toBe(20_000);
  expect(ages.ageMs('a', 1_021_005, 21_054)).toBe(0);
});

test('ages of different callers are computed separately', () => {
  const ages = createQuestionAges();
  ages.ageMs('a', 0, 1_000);
  expect(ages.ageMs('b', 900_000, 1_000)).toBe(0);
  expect(ages.ageMs('a', 100, 1_400)).toBe(300);
});

test('a late question after a long silence is still recognized as late', () => {
  const ages = createQuestionAges();
  ages.ageMs('a', 0, 0);
  expect(ages.ageMs('a', 3_600_000, 3_620_000)).toBe(20_000);
});

test('a caller whose clock stood still for an hour is trusted again after one window', () => {
  const ages = createQuestionAges();
  ages.ageMs('a', 0, 0);
  const hour = 3_600_000;
  const seen = [0, 30_000, 59_000, 61_000, 90_000].map((at) => ages.ageMs('a', at, at + hour));
  expect(seen).toEqual([hour, hour, hour, 0, 0]);
});

test('the number of remembered callers is limited', () => {
  const ages = createQuestionAges();
  for (let number = 0; number < 2_000; number++) ages.ageMs(`asker-${number}`, 0, number);
  expect(ages.ageMs('asker-1999', 0, 2_099)).toBe(100);
  expect(ages.ageMs('asker-0', 0, 2_099)).toBe(0);
});
