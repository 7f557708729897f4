import { expect, test } from 'vitest';
import { createSizedCache } from '../../../core/shared/sized-cache.ts';

const entry = (length: number) => ({ text: 'x'.repeat(length) });
const open = (maxEntrySize?: number) =>
  createSizedCache<{ text: string }>({
    maxSize: 100_000,
    ...(maxEntrySize === undefined ? {} : { maxEntrySize }),
    size: ({ text }) => text.length,
  });

test('a cache forgets what was used longest ago when its entries are too large together', () => {
  const cache = open();
  for (let at = 0; at < 100; at++) cache.set(`key ${at}`, entry(9_800));
  expect(cache.size).toBe(10);
  expect(cache.calculatedSize).toBe(100_000);
  cache.get('key 90');
  cache.set('another', entry(100));
  expect([cache.has('key 90'), cache.has('key 91')]).toEqual([true, false]);
});

test('a cache keeps no entry above its limit, and forgets what the key had', () => {
  const cache = open(1_000);
  cache.set('key', entry(800));
  cache.set('key', entry(801));
  expect(cache.has('key')).toBe(false);
});

test('empty entries count, too', () => {
  const cache = open();
  for (let at = 0; at < 1_000; at++) cache.set(`key ${at}`, entry(0));
  expect(cache.size).toBe(500);
});
