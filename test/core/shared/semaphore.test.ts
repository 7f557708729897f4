import { expect, test } from 'vitest';
import { createKeyedSemaphore, createSemaphore } from '../../../core/shared/semaphore.ts';

/** Work that ends when the test says so. */
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

test('starts work in order while there is room, continues when some ends or fails, and runs overweight work alone', async () => {
  const semaphore = createSemaphore(10);
  const { begun, work, end } = createWork();
  const weights = { a: 6, b: 4, c: 1, huge: 50, d: 1 };
  const done = Object.entries(weights).map(([name, weight]) => semaphore.run(work(name), weight));
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

test('limits each key separately, and starts all waiting work on request', async () => {
  const semaphore = createKeyedSemaphore(1);
  const { begun, work, end } = createWork();
  const done = ['a1', 'a2', 'a3', 'b1'].map((name) => semaphore.run(name.charAt(0), work(name)));
  await Promise.resolve();
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await done[0];
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  semaphore.startWaiting();
  await Promise.resolve();
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
  for (const name of ['a2', 'a3', 'b1']) end(name);
  await Promise.all(done);
  // Nothing of the run over the limit is left behind.
  const next = semaphore.run('a', work('a4'));
  const last = semaphore.run('a', work('a5'));
  await Promise.resolve();
  expect(begun.slice(4)).toEqual(['a4']);
  end('a4');
  await next;
  expect(begun.slice(4)).toEqual(['a4', 'a5']);
  end('a5');
  await last;
});
