import { expect, test } from 'vitest';
import { labelKey, mergeLabels, normalizeLabel, subtractLabels } from '../../../core/threads/label.ts';

test.each<[string, string, string | null]>([
  ['is trimmed', '  Work \n', 'Work'],
  ['is put into NFC', 'Cafe\u0301', 'Caf\u00e9'],
  ['keeps its case and inner space', 'To Do', 'To Do'],
  ['may be of any script', '請求書 🧾', '請求書 🧾'],
  ['counts code points, 64 of them', '🧾'.repeat(64), '🧾'.repeat(64)],
  ['is not longer', 'a'.repeat(65), null],
  ['is not empty', '   ', null],
  ['has no control characters', 'a\u0007b', null],
  ['has no line of its own', 'a\u2028b', null],
  ['has no half of a character', 'a\ud800', null],
])('a label %s', (_name, text, label) => {
  expect(normalizeLabel(text)).toBe(label);
});

test('labels are compared without case', () => {
  expect(labelKey('WORK')).toBe(labelKey('work'));
  expect(labelKey('ÄRGER')).toBe(labelKey('ärger'));
  expect(labelKey('work')).not.toBe(labelKey('works'));
});

test('merged labels keep their first spelling, and are removed in any spelling', () => {
  expect(mergeLabels(['Work', 'tax'], ['WORK', 'Home', 'home'])).toEqual(['Work', 'tax', 'Home']);
  expect(subtractLabels(['Work', 'tax', 'Home'], ['work', 'HOME', 'none'])).toEqual(['tax']);
});
