import { LRUCache } from 'lru-cache';

export interface SizedCacheOptions<Value> {
  /** of all entries */
  maxSize: number;
  /** larger entries are not kept; `maxSize` if omitted */
  maxEntrySize?: number;
  /** returns the size of an entry, in the unit of `maxSize` */
  size: (value: Value, key: string) => number;
}

/** Memory of an entry beside its key and value. Bytes. */
const ENTRY_SIZE = 200;

/**
 * Returns a cache that keeps the entries that were used last, up to a total size. A limit on their number alone is none, because a user or a
 * sender decides how large they are.
 */
export function createSizedCache<Value extends object>({
  maxSize,
  maxEntrySize = maxSize,
  size,
}: SizedCacheOptions<Value>): LRUCache<string, Value> {
  return new LRUCache({ maxSize, maxEntrySize, sizeCalculation: (value, key) => ENTRY_SIZE + size(value, key) });
}

/**
 * Returns a cache that keeps so many entries, the last used ones, each for `ttl` milliseconds if that is given. It takes memory for what
 * is in it, where LRUCache with `max` reserves 22 bytes for each entry that it could have.
 */
export function createCountedCache<Value extends object | string | boolean>(
  maxEntries: number,
  options: { ttl?: number } = {},
): LRUCache<string, Value> {
  return new LRUCache({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
}
