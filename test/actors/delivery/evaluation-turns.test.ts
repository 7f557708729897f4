import { expect, test } from 'vitest';
import { workInTurns } from '../../../actors/delivery/evaluation-turns.ts';

const UNLIMITED = Number.POSITIVE_INFINITY;

/** Works on four items while other work of the process is waiting; returns the order of both. */
async function readOrder(turnMs: number): Promise<string[]> {
  const order: string[] = [];
  const work = (item: number) => {
    order.push(`item ${item}`);
    setImmediate(() => order.push(`other work after ${item}`));
    return item;
  };
  expect(await workInTurns([1, 2, 3, 4], work, { batchMs: UNLIMITED, turnMs })).toEqual([1, 2, 3, 4]);
  return order;
}

test('yields to other work of the process when an item has used up the time of a turn', async () => {
  expect(await readOrder(0)).toEqual([
    'item 1',
    'other work after 1',
    'item 2',
    'other work after 2',
    'item 3',
    'other work after 3',
    'item 4',
  ]);
});

test('works on all items at once while they fit the time of a turn', async () => {
  expect(await readOrder(UNLIMITED)).toEqual(['item 1', 'item 2', 'item 3', 'item 4']);
});

test('evaluates the first item however little time is left, and leaves the others', async () => {
  expect(await workInTurns([1, 2, 3], (item) => item, { batchMs: 0, turnMs: 0 })).toEqual([1]);
});
