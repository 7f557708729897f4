import { resolveCursorConnection } from '@pothos/plugin-relay';
import { UserError } from '../../core/errors.ts';
import { decodePlace, encodePlace, type KeysetPage, MAX_PAGE_SIZE, type Place } from '../../core/page.ts';
import { DEFAULT_CONNECTION_SIZE } from './builder.ts';

interface ConnectionArgs {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
}

export interface Connection<Node> {
  edges: { cursor: string; node: Node }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor?: string | null; endCursor?: string | null };
}

/**
 * A Relay connection by keyset over an ordered list: `placeOf` tells the place of a row, `load` reads a page, its rows in reverse when it
 * is inverted. Throws validation when a cursor is not one of ours.
 */
export async function connection<Node>(
  args: ConnectionArgs,
  placeOf: (row: Node) => Place,
  load: (page: KeysetPage) => Promise<Node[]>,
): Promise<Connection<Node>> {
  const resolved = await resolveCursorConnection<Promise<unknown[]>>(
    {
      args,
      defaultSize: DEFAULT_CONNECTION_SIZE,
      maxSize: MAX_PAGE_SIZE,
      toCursor: (row) => encodePlace(placeOf(row as Node)),
    },
    ({ after, before, limit, inverted }) =>
      load({ after: placeAt(after), before: placeAt(before), limit, isInverted: inverted }),
  );
  return resolved as Connection<Node>;
}

function placeAt(cursor: string | undefined): Place | null {
  if (cursor === undefined) return null;
  const place = decodePlace(cursor);
  if (place === null) throw new UserError('validation', 'Invalid cursor');
  return place;
}
