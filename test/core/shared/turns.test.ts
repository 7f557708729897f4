import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from '../../../core/shared/turns.ts';

test('owners take turns, one at a time', async () => {
  const turns = createTurns();
  const begun: string[] = [];
  const run = (owner: string, name: string) => turns.run(owner, () => void begun.push(name));
  await Promise.all([run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1'), run('c', 'c1')]);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
});

test('other work continues before the next turn, also of an owner that is alone', async () => {
  const turns = createTurns();
  let rounds = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; rounds++) await setImmediate();
  })();
  for (let at = 0; at < 100; at++) await turns.run('a', () => undefined);
  isOver = true;
  await others;
  expect(rounds).toBeGreaterThanOrEqual(99);
});

test('turns run together up to their capacity, and one that weighs more runs alone', async () => {
  const turns = createTurns(10);
  const begun: string[] = [];
  const enter = async (name: string, weight: number) => {
    const end = await turns.enter(name, weight);
    begun.push(name);
    return end;
  };
  const first = await enter('a', 6);
  const second = await enter('b', 4);
  const heavy = enter('c', 25);
  const light = enter('d', 1);
  first();
  await setImmediate();
  await setImmediate();
  expect(begun).toEqual(['a', 'b']);
  second();
  second();
  const endHeavy = await heavy;
  await setImmediate();
  expect(begun).toEqual(['a', 'b', 'c']);
  endHeavy();
  (await light)();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('a turn that is given up lets those behind it continue', async () => {
  const turns = createTurns(10);
  const end = await turns.enter('a', 8);
  const gone = new AbortController();
  const heavy = turns.enter('b', 5, gone.signal);
  const light = turns.enter('c', 2);
  gone.abort(new Error('gone'));
  await expect(heavy).rejects.toThrow('gone');
  (await light)();
  end();
  await expect(turns.enter('b', 1, gone.signal)).rejects.toThrow('gone');
});
