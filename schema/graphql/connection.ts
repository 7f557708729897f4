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

/** How the places of a list are written. */
export interface Cursors<At> {
  encode: (place: At) => string;
  /** null: it is no cursor of ours */
  decode: (cursor: string) => At | null;
}

/**
 * A Relay connection by keyset over a list that is ordered by an instant and an id: `placeOf` tells the place of a row, `load` reads a page,
 * its rows in reverse when it is inverted. Throws validation when a cursor is not one of ours.
 */
export function connection<Node>(
  args: ConnectionArgs,
  placeOf: (row: Node) => Place,
  load: (page: KeysetPage) => Promise<Node[]>,
): Promise<Connection<Node>> {
  return connectionBy({ encode: encodePlace, decode: decodePlace }, args, placeOf, load);
}

/** As `connection`, of a list in another order. */
export async function connectionBy<Node, At>(
  cursors: Cursors<At>,
  args: ConnectionArgs,
  placeOf: (row: Node) => At,
  load: (page: KeysetPage<At>) => Promise<Node[]>,
): Promise<Connection<Node>> {
  const resolved = await resolveCursorConnection<Promise<unknown[]>>(
    {
      args,
      defaultSize: DEFAULT_CONNECTION_SIZE,
      maxSize: MAX_PAGE_SIZE,
      toCursor: (row) => cursors.encode(placeOf(row as Node)),
    },
    ({ after, before, limit, inverted }) =>
      load({ after: placeAt(cursors, after), before: placeAt(cursors, before), limit, isInverted: inverted }),
  );
  return resolved as Connection<Node>;
}

function placeAt<At>(cursors: Cursors<At>, cursor: string | undefined): At | null {
  if (cursor === undefined) return null;
  const place = cursors.decode(cursor);
  if (place === null) throw new UserError('validation', 'Invalid cursor');
  return place;
}
