/** A row with its cursor. */
export type Placed<Row> = { cursor: string; node: Row & { id: string } };

/**
 * Returns the rows to show after the first page was read again: that page, followed by the known rows after it (`isWhole`). If the new page
 * contains none of the known rows, the rows in between are unknown, and only the new page is returned.
 */
export function mergeRows<Row>(
  page: readonly Placed<Row>[],
  hasNextPage: boolean,
  known: readonly Placed<Row>[],
): { rows: Placed<Row>[]; isWhole: boolean } {
  if (known.length === 0 || !hasNextPage) return { rows: [...page], isWhole: false };
  const inPage = new Set(page.map(({ node }) => node.id));
  const last = known.findLastIndex(({ node }) => inPage.has(node.id));
  return last === -1
    ? { rows: [...page], isWhole: false }
    : { rows: [...page, ...known.slice(last + 1)], isWhole: true };
}
