import { setTimeout as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SEARCH_CACHE_LIMITS, SearchCache } from '../../../../db/queries/search/search-cache.ts';

const LIMITS = { perProcess: 10_000, perAccount: 5_000, maxAgeMs: 60_000 };

test('an entry is found by its account, kind and key only', () => {
  const cache = new SearchCache(LIMITS);
  const blocks = cache.kind<string>('block');
  blocks.set('usr_a', 'seg 1', 'words', 100);
  expect(blocks.get('usr_a', 'seg 1')).toBe('words');
  expect(blocks.get('usr_b', 'seg 1')).toBeUndefined();
  expect(blocks.get('usr_a', 'seg')).toBeUndefined();
  expect(cache.kind<string>('ids').get('usr_a', 'seg 1')).toBeUndefined();
});

test('an account keeps at most its share, and loses what it used longest ago', () => {
  const cache = new SearchCache(LIMITS);
  const blocks = cache.kind<number>('block');
  for (let at = 0; at < 4; at++) blocks.set('usr_a', `${at}`, at, 1_000);
  blocks.get('usr_a', '0');
  blocks.set('usr_a', '4', 4, 1_000);
  expect([0, 1, 2, 3, 4].filter((at) => blocks.get('usr_a', `${at}`) !== undefined)).toEqual([0, 2, 3, 4]);
  expect(cache.bytesOfAccount('usr_a')).toBeLessThanOrEqual(LIMITS.perAccount);
  expect(cache.bytes).toBe(cache.bytesOfAccount('usr_a'));
});

test('an entry that is larger than the share of an account is not kept', () => {
  const cache = new SearchCache(LIMITS);
  const blocks = cache.kind<string>('block');
  blocks.set('usr_a', 'small', 'a', 100);
  blocks.set('usr_a', 'large', 'b', LIMITS.perAccount);
  expect([blocks.get('usr_a', 'small'), blocks.get('usr_a', 'large')]).toEqual(['a', undefined]);
});

test('an entry that is set again counts once', () => {
  const cache = new SearchCache(LIMITS);
  const blocks = cache.kind<string>('block');
  for (const bytes of [100, 1_000, 50]) blocks.set('usr_a', 'one', 'a', bytes);
  expect(cache.bytes).toBe(cache.bytesOfAccount('usr_a'));
  expect(cache.bytes).toBeLessThan(500);
});

test('a full process takes from the account that has the most, however often others read', () => {
  const cache = new SearchCache(LIMITS);
  const blocks = cache.kind<number>('block');
  const keys = (workspaceId: string) => Array.from({ length: 40 }, (_, at) => `${workspaceId} ${at}`);
  blocks.set('usr_small', 'one', 1, 1_000);
  for (const workspaceId of ['usr_a', 'usr_b', 'usr_c'])
    for (const [at, key] of keys(workspaceId).entries()) {
      blocks.set(workspaceId, key, at, 1_000);
      expect(cache.bytes).toBeLessThanOrEqual(LIMITS.perProcess);
    }
  expect(blocks.get('usr_small', 'one')).toBe(1);
  const shares = ['usr_a', 'usr_b', 'usr_c'].map((workspaceId) => cache.bytesOfAccount(workspaceId));
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1_200);
  expect(cache.bytes).toBe(shares.reduce((sum, bytes) => sum + bytes, cache.bytesOfAccount('usr_small')));
});

test('an entry is forgotten after its age, although it is read all the time, and leaves memory without being read', async () => {
  const cache = new SearchCache({ ...LIMITS, maxAgeMs: 20 });
  const blocks = cache.kind<string>('block');
  blocks.set('usr_a', 'read', 'a', 100);
  blocks.set('usr_a', 'unread', 'b', 100);
  while (blocks.get('usr_a', 'read') !== undefined) await later(1);
  while (cache.bytes > 0) await later(1);
  expect(cache.bytesOfAccount('usr_a')).toBe(0);
});

test('the shares of two accounts fit into a process', () => {
  expect(SEARCH_CACHE_LIMITS.perAccount * 2).toBeLessThan(SEARCH_CACHE_LIMITS.perProcess);
});
