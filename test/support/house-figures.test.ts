import { describe, expect, test } from 'vitest';
import { countStepFiles, countWords } from './house-figures.ts';

/** Figures of this day. Lower a bound when its figure falls; none rises. The targets are 35 and 30 files. */
const MAX_FILES = { 'The way in: SMTP to webhook': 68, 'The way out: POST to MX': 38 };
const MAX_WORDS = { functionsInOf: 711, answers: 1_475, most: 0, places: 135 };

test.each(Object.entries(MAX_FILES))('the steps of "%s" name at most %i files', (heading, most) => {
  const files = countStepFiles(heading);
  expect(files).toBeGreaterThan(10);
  expect(files).toBeLessThanOrEqual(most);
});

describe('words that misname what they stand for', () => {
  const counts = countWords();
  test.each(Object.entries(MAX_WORDS))('%s stand at most %i times in the sources', (word, most) => {
    expect(counts[word as keyof typeof counts]).toBeLessThanOrEqual(most);
  });
});
