import { expect, test } from 'vitest';
import { mergeRows } from '../../gateway/dashboard/pages/activity/merge-rows.ts';

const rows = (...ids: number[]) => ids.map((id) => ({ cursor: `c${id}`, node: { id: `em_${id}` } }));

test.each([
  ['the first response is shown as it is', rows(3, 2), true, [], { rows: rows(3, 2), isWhole: false }],
  [
    'what came in goes before what was loaded',
    rows(5, 4, 3),
    true,
    rows(4, 3, 2, 1),
    { rows: rows(5, 4, 3, 2, 1), isWhole: true },
  ],
  [
    'what left the list within the page goes',
    rows(4, 2),
    true,
    rows(4, 3, 2, 1),
    { rows: rows(4, 2, 1), isWhole: true },
  ],
  ['a page without more is all there is', rows(4), false, rows(4, 3, 2), { rows: rows(4), isWhole: false }],
  [
    'where a gap may lie, the rest is asked for anew',
    rows(9, 8),
    true,
    rows(4, 3),
    { rows: rows(9, 8), isWhole: false },
  ],
])('%s', (_name, page, hasNextPage, known, expected) => {
  expect(mergeRows(page, hasNextPage, known)).toEqual(expected);
});
