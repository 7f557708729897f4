/** A row with its place in a list. */
export interface Placed<Row> {
  cursor: string;
  node: Row & { id: string };
}

/**
 * The rows that are shown after the first page was read again: that page, and of the rows known before those that lie behind it (`isWhole`).
 * Where so much came in that the page has none of them, what lies between is not known, and the page stands alone.
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
