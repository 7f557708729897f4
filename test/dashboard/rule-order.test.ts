import { expect, test } from 'vitest';
import { setPriorities } from '../../gateway/dashboard/pages/rules/rule-values.ts';

const MOST = 1_000;

/** Rules by their priorities, each with a letter for an id, moved from one place to another, and what has to be changed. */
const cases: [what: string, priorities: number[], from: number, to: number, changed: Record<string, number>][] = [
  ['one among rules with room', [30, 20, 10], 2, 1, { c: 25 }],
  ['one to the top', [30, 20, 10], 2, 0, { c: 40 }],
  ['one to the end', [30, 20, 10], 0, 2, { a: 0 }],
  ['rules that are all the same', [0, 0, 0], 2, 1, { c: -1, b: -2 }],
  ['one where the highest has no room above', [1_000, 999, 0], 2, 0, { a: -1, b: -2 }],
  ['one where the lowest has no room below', [0, -999, -1_000], 0, 2, { b: -998, c: -999, a: -1_000 }],
];

test.each(cases)('%s: the new order holds, within the limits', (_what, priorities, from, to, changed) => {
  const order = priorities.map((priority, at) => ({ id: 'abc'[at] ?? '', priority }));
  const [moved] = order.splice(from, 1);
  if (moved !== undefined) order.splice(to, 0, moved);
  const changes = setPriorities(order, to, MOST);
  const after = order.map(({ id, priority }) => changes.find((change) => change.id === id)?.priority ?? priority);
  expect(after.every((priority, at) => at === 0 || priority < (after[at - 1] ?? 0))).toBe(true);
  expect(after.every((priority) => Math.abs(priority) <= MOST)).toBe(true);
  expect(Object.fromEntries(changes.map(({ id, priority }) => [id, priority]))).toEqual(changed);
});
