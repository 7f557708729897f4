import { expect, test } from 'vitest';
import { differences } from '../../../core/mime/stored-differences.ts';

const none: ReadonlySet<string> = new Set();
const bodies = new Set(['text']);

test('compares values as JSON, regardless of key order', () => {
  const before = { a: { x: 1, y: [1, 2] }, b: new Date(0), c: null, d: 'same' };
  const after = { a: { y: [1, 2], x: 1 }, b: '1970-01-01T00:00:00.000Z', c: undefined, d: 'same' };
  expect(differences(before, after, none)).toEqual([]);
});

test('lists changes in the order of the new values, cut to 500 characters', () => {
  expect(differences({ a: 1, b: 'x' }, { b: 'y'.repeat(600), a: null }, none)).toEqual([
    { field: 'b', before: 'x', after: 'y'.repeat(500), differsAt: null },
    { field: 'a', before: '1', after: null, differsAt: null },
  ]);
});

test('shows bodies from shortly before the first difference', () => {
  const same = 'x'.repeat(1_000);
  expect(differences({ text: `${same}one` }, { text: `${same}two` }, bodies)).toEqual([
    { field: 'text', before: `${'x'.repeat(40)}one`, after: `${'x'.repeat(40)}two`, differsAt: 1_000 },
  ]);
  expect(differences({ text: null }, { text: '' }, bodies)).toEqual([
    { field: 'text', before: null, after: '', differsAt: 0 },
  ]);
});

test('repairs lone surrogates at the cut', () => {
  const text = `${'x'.repeat(499)}😀`;
  expect(differences({ a: '' }, { a: text }, none)[0]?.after?.isWellFormed()).toBe(true);
});
