import { expect, test } from 'vitest';
import { findJsonExcess, MAX_JSON_VALUES } from '../../../core/shared/json-limits.ts';
import { finishSteps } from '../../../core/shared/steps.ts';

test.each([
  ['in one line', undefined],
  ['with a space of indentation', 1],
  ['with tabs', '\t'],
])('the bytes of a file as a list, %s, do not count as values', (_how, indent) => {
  const body = { attachments: [{ content: Array.from({ length: MAX_JSON_VALUES + 1 }, (_, at) => at % 256) }] };
  expect(finishSteps(findJsonExcess(JSON.stringify(body, null, indent)))).toBeNull();
});

test.each([undefined, '\t'])('texts in a list count as values (indentation: %j)', (indent) => {
  const texts = Array.from({ length: MAX_JSON_VALUES + 1 }, () => 'a');
  expect(finishSteps(findJsonExcess(JSON.stringify(texts, null, indent)))).toBe('values');
});
