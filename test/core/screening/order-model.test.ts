import { expect, test } from 'vitest';
import { FEATURE_COUNT, hashPiece, MACHINE_LEVELS } from '../../../core/screening/order-features.ts';
import { nameFeature } from '../../../core/screening/order-model.ts';
import WEIGHTS from '../../../core/screening/order-weights.json' with { type: 'json' };

const names = Array.from({ length: FEATURE_COUNT }, (_each, feature) => nameFeature(feature));

test('the weights name features that exist', () => {
  const known = new Set(names);
  const lists = [WEIGHTS.shared, ...MACHINE_LEVELS.map((level) => WEIGHTS.byLevel[level])];
  for (const list of lists) expect(Object.keys(list).filter((name) => !known.has(name))).toEqual([]);
  expect(Object.keys(WEIGHTS.shared).some((name) => name.startsWith('both '))).toBe(true);
  expect(Object.keys(WEIGHTS.shared).some((name) => name.startsWith('address with '))).toBe(true);
});

test('features of two groups and of a flag with a group have names of their own', () => {
  const paired = names.filter((name) => /^(?:near|next|both) |^\w+ with /.test(name));
  expect(new Set(paired).size).toBe(paired.length);
});

test('pieces of the weights have hashes of their own', () => {
  const pieces = Object.keys(WEIGHTS.words);
  const shared = pieces.length - new Set(pieces.map(hashPiece)).size;
  expect(shared).toBeLessThan(pieces.length / 1_000);
});
