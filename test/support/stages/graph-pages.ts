import { expect } from 'vitest';

interface Page {
  edges: { node: { id: string } }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
}

/** What connections are asked for: `{ edges { node { id } } pageInfo { ... } }`. */
export const PAGE = '{ edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }';

/** The ids of a whole list, read page by page from its beginning, which must be the same read page by page from its end. */
export async function walk(page: (args: string) => Promise<Page>, size: number): Promise<string[]> {
  const forwards: string[] = [];
  let after = '';
  for (let hasNext = true; hasNext; ) {
    const { edges, pageInfo } = await page(`first: ${size}${after}`);
    expect(edges.length).toBeLessThanOrEqual(size);
    forwards.push(...edges.map(({ node }) => node.id));
    after = `, after: "${pageInfo.endCursor}"`;
    hasNext = pageInfo.hasNextPage;
  }
  const backwards: string[] = [];
  let before = '';
  for (let hasPrevious = true; hasPrevious; ) {
    const { edges, pageInfo } = await page(`last: ${size}${before}`);
    backwards.unshift(...edges.map(({ node }) => node.id));
    before = `, before: "${pageInfo.startCursor}"`;
    hasPrevious = pageInfo.hasPreviousPage;
  }
  expect(new Set(forwards).size).toBe(forwards.length);
  expect(backwards).toEqual(forwards);
  return forwards;
}
