import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { finishSteps, type Steps } from '../../../core/shared/steps.ts';
import { createTurns } from '../../../core/shared/turns.ts';
import { finishInTurns } from '../../../operations/endpoints/build-in-turns.ts';

/** Works for so many milliseconds in all, in steps of two. */
function* work(milliseconds: number, result: string): Steps<string> {
  for (let left = milliseconds; left > 0; left -= 2) {
    for (const end = performance.now() + 2; performance.now() < end; );
    yield;
  }
  return result;
}

test('other requests go on between the steps of work that takes long, and short work is done at once', async () => {
  const turns = createTurns();
  let rounds = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; rounds++) await nextRound();
  })();
  expect(await finishInTurns(turns, 'a', work(100, 'long'))).toBe('long');
  isDone = true;
  await counting;
  expect(rounds).toBeGreaterThan(10);
  expect(finishSteps(work(4, 'short'))).toBe('short');
});

test('of work that takes long, one goes on at a time, and accounts take turns', async () => {
  const turns = createTurns();
  const order: string[] = [];
  const run = async (owner: string, name: string) => order.push(await finishInTurns(turns, owner, work(40, name)));
  await Promise.all([run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')]);
  expect(order.indexOf('b1')).toBeLessThan(order.indexOf('a3'));
});

test('an error of a step rejects, and the next work gets its turn', async () => {
  const turns = createTurns();
  function* fail(): Steps<string> {
    yield* work(20, '');
    throw new Error('failed');
  }
  const [failed, done] = await Promise.allSettled([
    finishInTurns(turns, 'a', fail()),
    finishInTurns(turns, 'a', work(20, 'done')),
  ]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'failed' } });
  expect(done).toEqual({ status: 'fulfilled', value: 'done' });
});

test('work whose client has left ends, in its turn or before it, and the next work gets its turn', async () => {
  const turns = createTurns();
  const closed = new Error('closed');
  const gone = new AbortController();
  let steps = 0;
  let ended = 0;
  function* counted(): Steps<string> {
    try {
      for (; steps < 10_000; steps++) yield* work(2, '');
      return 'finished';
    } finally {
      ended++;
    }
  }
  const running = finishInTurns(turns, 'a', counted(), { gone: gone.signal });
  const waiting = finishInTurns(turns, 'a', counted(), { gone: gone.signal });
  const next = finishInTurns(turns, 'b', work(20, 'next'));
  await nextRound();
  gone.abort(closed);
  const outcomes = await Promise.allSettled([running, waiting, next]);
  expect(outcomes).toEqual([
    { status: 'rejected', reason: closed },
    { status: 'rejected', reason: closed },
    { status: 'fulfilled', value: 'next' },
  ]);
  expect(ended).toBe(2);
  expect(steps).toBeLessThan(100);
});
