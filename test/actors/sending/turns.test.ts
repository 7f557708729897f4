import { expect, test } from 'vitest';
import { createTurns } from '../../../actors/sending/turns.ts';

/** Work that ends when it is told to. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () => {
    begun.push(name);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
    return promise;
  };
  return { begun, work, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

test('work begins in its order while there is room, goes on when some ends or fails, and what is too large goes alone', async () => {
  const turns = createTurns(10);
  const { begun, work, end } = createWork();
  const sizes = { a: 6, b: 4, c: 1, huge: 50, d: 1 };
  const done = Object.entries(sizes).map(([name, size]) => turns.during(size, work(name)));
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b']);
  end('b', new Error('failed'));
  await expect(done[1]).rejects.toThrow('failed');
  expect(begun).toEqual(['a', 'b', 'c']);
  end('a');
  await done[0];
  expect(begun).toEqual(['a', 'b', 'c']);
  end('c');
  await done[2];
  expect(begun).toEqual(['a', 'b', 'c', 'huge']);
  end('huge');
  expect(await done[3]).toBe('huge');
  expect(begun).toEqual(['a', 'b', 'c', 'huge', 'd']);
  end('d');
  await Promise.all(done.filter((_, n) => n !== 1));
});
