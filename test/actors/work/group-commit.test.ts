import { expect, test, vi } from 'vitest';
import { createGroupCommit, WaitedTooLong } from '../../../actors/work/group-commit.ts';

/** A write that the test ends; it returns the items in capitals. */
function heldWrite() {
  const groups: { items: readonly string[]; end: (error?: Error) => void }[] = [];
  const write = (items: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const end = (error?: Error) =>
      error === undefined ? resolve(items.map((item) => item.toUpperCase())) : reject(error);
    groups.push({ items, end });
    return promise;
  };
  return { groups, write };
}

/** An error as PostgreSQL's client throws it. */
const makeError = (code: string) => Object.assign(new Error(code), { code });
const UNREACHABLE = makeError('57P01');
const DEADLOCK = makeError('40P01');
const BAD_ROW = makeError('23514');

test('writes the first item at once, and those that arrive meanwhile as the next group', async () => {
  const { groups, write } = heldWrite();
  const commit = createGroupCommit({ limits: { items: 3 }, write });
  const results = ['a', 'b', 'c', 'd', 'e'].map((item) => commit.add(item));
  expect(groups.map(({ items }) => items)).toEqual([['a']]);
  groups[0]?.end();
  await vi.waitUntil(() => groups.length === 2);
  expect(groups[1]?.items).toEqual(['b', 'c', 'd']);
  groups[1]?.end();
  await vi.waitUntil(() => groups.length === 3);
  groups[2]?.end();
  expect(await Promise.all(results)).toEqual(['A', 'B', 'C', 'D', 'E']);
});

test('a group is no larger than its size, but a single item may be', async () => {
  const { groups, write } = heldWrite();
  const commit = createGroupCommit({ limits: { items: 9, size: 4 }, sizeOf: (item) => item.length, write });
  const results = ['-', 'aa', 'bb', 'cc', 'enormous'].map((item) => commit.add(item));
  for (let n = 0; n < 4; n++) {
    await vi.waitUntil(() => groups.length === n + 1);
    groups[n]?.end();
  }
  await Promise.all(results);
  expect(groups.map(({ items }) => items)).toEqual([['-'], ['aa', 'bb'], ['cc'], ['enormous']]);
});

test('after a failure that one item may have caused, each item is written alone', async () => {
  const written: string[] = [];
  const commit = createGroupCommit<string, string>({
    limits: { items: 9 },
    gatherMs: () => 1,
    async write(items) {
      if (items.includes('bad')) throw BAD_ROW;
      written.push(...items);
      return items;
    },
  });
  const results = await Promise.allSettled(['a', 'bad', 'c'].map((item) => commit.add(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(written).toEqual(['a', 'c']);
});

test.each([
  ['PostgreSQL is unreachable: all items are rejected at once', UNREACHABLE, 1],
  ['a deadlock passes: each item is tried once more', DEADLOCK, 3],
])('%s', async (_name, error, tries) => {
  let writes = 0;
  const commit = createGroupCommit<string, string>({
    limits: { items: 9 },
    gatherMs: () => 1,
    async write(items) {
      if (++writes === 1) throw error;
      return items;
    },
  });
  const results = await Promise.allSettled(['a', 'b'].map((item) => commit.add(item)));
  expect(writes).toBe(tries);
  expect(results.every(({ status }) => status === (tries === 1 ? 'rejected' : 'fulfilled'))).toBe(true);
});

test('if PostgreSQL becomes unreachable while items are written alone, the rest is rejected at once', async () => {
  const writes: (readonly string[])[] = [];
  const commit = createGroupCommit<string, string>({
    limits: { items: 9 },
    gatherMs: () => 1,
    async write(items) {
      writes.push(items);
      throw writes.length === 1 ? BAD_ROW : UNREACHABLE;
    },
  });
  const results = await Promise.allSettled(['a', 'b', 'c'].map((item) => commit.add(item)));
  expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual(Array(3).fill(UNREACHABLE));
  expect(writes).toEqual([['a', 'b', 'c'], ['a']]);
});

test('an item that waited too long is rejected and never written', async () => {
  const { groups, write } = heldWrite();
  const commit = createGroupCommit({ limits: { items: 9 }, maxWaitMs: 1_000, write });
  const first = commit.add('a');
  const second = commit.add('b');
  second.catch(() => undefined);
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 1_000);
  groups[0]?.end();
  await expect(second).rejects.toThrow(WaitedTooLong);
  clock.mockRestore();
  expect(await first).toBe('A');
  expect(groups).toHaveLength(1);
});

test('a group waits for its first item that is due, whatever the others may wait', async () => {
  const { groups, write } = heldWrite();
  const commit = createGroupCommit<string, string>({
    limits: { items: 9 },
    gatherMs: (item) => (item === 'urgent' ? 0 : 3_600_000),
    write,
  });
  const results = [commit.add('a'), commit.add('b')];
  await new Promise((resolve) => setImmediate(resolve));
  expect(groups).toEqual([]);
  results.push(commit.add('urgent'));
  await vi.waitUntil(() => groups.length === 1);
  expect(groups[0]?.items).toEqual(['a', 'b', 'urgent']);
  groups[0]?.end();
  expect(await Promise.all(results)).toEqual(['A', 'B', 'URGENT']);
});

test('a group that is full is written before its items are due', async () => {
  const { groups, write } = heldWrite();
  const commit = createGroupCommit<string, string>({ limits: { items: 2 }, gatherMs: () => 3_600_000, write });
  void commit.add('a');
  void commit.add('b');
  await vi.waitUntil(() => groups.length === 1);
  expect(groups[0]?.items).toEqual(['a', 'b']);
  groups[0]?.end();
});
