import { z } from 'zod';
import type { KeysetPage } from '../../core/shared/page.ts';
import { invalid } from '../../operations/context.ts';

export interface PageById {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

/** Query fields of a page beside an item, which the clients of Resend name by its id. `item`: such as `an email`. */
export const pageByIdFields = (item: string, instead = '') => ({
  after: z
    .string()
    .optional()
    .meta({ description: `ID of ${item}. Returns the page after it${instead}.` }),
  before: z
    .string()
    .optional()
    .meta({ description: `ID of ${item}. Returns the page before it${instead}.` }),
});

/** Replaces `offset`. */
export const INSTEAD_OF_OFFSET = ', instead of using `offset`';

/** Refines a query with `pageByIdFields`. */
export const isOneSided = ({ after, before }: Omit<PageById, 'limit'>) => after === undefined || before === undefined;
export const oneSide = { path: ['before'], message: 'cannot be used with after' };

/** Returns the item that a query with `pageByIdFields` names, and on which side of it the page is; null if it names none. */
export function readSide({ after, before }: Omit<PageById, 'limit'>): { id: string; side: 'after' | 'before' } | null {
  if (after !== undefined) return { id: after, side: 'after' };
  return before === undefined ? null : { id: before, side: 'before' };
}

/**
 * Returns the page after or before an item of a list that is ordered newest first. Null: the query names no item.
 * Throws validation if there is no such item.
 */
export async function readPageById<T>(
  { limit, ...query }: PageById,
  list: {
    load: (ids: readonly string[]) => Promise<readonly ({ createdAt: Date } | null)[]>;
    page: (page: KeysetPage) => Promise<T[]>;
  },
): Promise<{ items: T[]; hasMore: boolean } | null> {
  const beside = readSide(query);
  if (beside === null) return null;
  const { id, side } = beside;
  const [item] = await list.load([id]);
  if (item == null) throw invalid('Invalid cursor', side);
  const isInverted = side === 'before';
  const cursors = { after: null, before: null, [side]: { at: item.createdAt, id } };
  const found = await list.page({ ...cursors, isInverted, limit: limit + 1 });
  const items = found.slice(0, limit);
  return { items: isInverted ? items.reverse() : items, hasMore: found.length > limit };
}

/** Returns the page of a list that is read as a whole. Throws validation if there is no such item. */
export function cutPageById<T extends { id: string }>(
  all: readonly T[],
  { limit, after, before }: PageById,
): { items: T[]; hasMore: boolean } {
  const id = after ?? before;
  const at = id === undefined ? -1 : all.findIndex((item) => item.id === id);
  if (id !== undefined && at === -1) throw invalid('Invalid cursor', after === undefined ? 'before' : 'after');
  const rest = before === undefined ? all.slice(at + 1) : all.slice(0, at);
  return { items: before === undefined ? rest.slice(0, limit) : rest.slice(-limit), hasMore: rest.length > limit };
}
