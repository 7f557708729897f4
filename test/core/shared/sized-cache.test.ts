import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCountedCache, createSizedCache } from '../../../core/shared/sized-cache.ts';

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

test('a counted cache keeps so many entries, those that were used last', () => {
  const cache = createCountedCache<string>(3);
  for (const key of ['a', 'b', 'c']) cache.set(key, key);
  cache.get('a');
  cache.set('d', 'd');
  expect([...cache.keys()]).toEqual(['d', 'a', 'c']);
});

test('a counted cache forgets entries after their time', async () => {
  const cache = createCountedCache<string>(3, { ttl: 5 });
  cache.set('key', 'value');
  await sleep(20);
  expect(cache.get('key')).toBeUndefined();
});

test('an empty counted cache takes no memory for the entries that it could have', () => {
  const before = process.memoryUsage();
  const caches = Array.from({ length: 200 }, () => createCountedCache<string>(20_000));
  const after = process.memoryUsage();
  expect(caches).toHaveLength(200);
  expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(10_000_000);
});
