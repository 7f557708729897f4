import { resolveCursorConnection } from '@pothos/plugin-relay';
import {
  decodeCursor,
  encodeCursor,
  type KeysetCursor,
  type KeysetPage,
  MAX_PAGE_SIZE,
} from '../../core/shared/page.ts';
import { invalid } from '../../operations/context.ts';
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

/** How the places of a list are written. */
export interface Cursors<At> {
  encode: (place: At) => string;
  /** null: it is no cursor of ours */
  decode: (cursor: string) => At | null;
}

/**
 * A Relay connection by keyset over a list that is ordered by an instant and an id: `placeOf` tells the place of a row, `load` reads a page,
 * its rows in reverse when it is inverted. Throws validation, which names the argument, for a cursor that is not one of ours and a size below 0.
 */
export function connection<Node>(
  args: ConnectionArgs,
  placeOf: (row: Node) => KeysetCursor,
  load: (page: KeysetPage) => Promise<Node[]>,
): Promise<Connection<Node>> {
  return connectionBy({ encode: encodeCursor, decode: decodeCursor }, args, placeOf, load);
}

/** As `connection`, of a list in another order. */
export async function connectionBy<Node, At>(
  cursors: Cursors<At>,
  args: ConnectionArgs,
  placeOf: (row: Node) => At,
  load: (page: KeysetPage<At>) => Promise<Node[]>,
): Promise<Connection<Node>> {
  refuseNegative('first', args.first);
  refuseNegative('last', args.last);
  const resolved = await resolveCursorConnection<Promise<unknown[]>>(
    {
      args,
      defaultSize: DEFAULT_CONNECTION_SIZE,
      maxSize: MAX_PAGE_SIZE,
      toCursor: (row) => cursors.encode(placeOf(row as Node)),
    },
    ({ after, before, limit, inverted }) =>
      load({
        after: placeAt(cursors, 'after', after),
        before: placeAt(cursors, 'before', before),
        limit,
        isInverted: inverted,
      }),
  );
  const page = resolved as Connection<Node>;
  // The library says '' for the cursors of no rows, which is none that it takes.
  if (page.edges.length > 0) return page;
  return { ...page, pageInfo: { ...page.pageInfo, startCursor: null, endCursor: null } };
}

function placeAt<At>(cursors: Cursors<At>, argument: 'after' | 'before', cursor: string | undefined): At | null {
  if (cursor === undefined) return null;
  const place = cursors.decode(cursor);
  if (place === null) throw invalid('Invalid cursor', argument);
  return place;
}

function refuseNegative(argument: 'first' | 'last', size: number | null | undefined): void {
  if (size !== null && size !== undefined && size < 0) throw invalid(`${argument} must not be negative`, argument);
}
