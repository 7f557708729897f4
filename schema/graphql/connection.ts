import { resolveCursorConnection } from '@pothos/plugin-relay';
import type { SEARCH_ORDERS } from '../../core/search/relevance.ts';
import {
  decodeRelevanceCursor,
  encodeRelevanceCursor,
  type RelevanceCursor,
} from '../../core/search/relevance-cursor.ts';
import type { StemLanguage } from '../../core/search/word-stem.ts';
import {
  decodeCursor,
  encodeCursor,
  type KeysetCursor,
  type KeysetPage,
  MAX_PAGE_SIZE,
} from '../../core/shared/page.ts';
import { invalid } from '../../operations/context.ts';
import { type builder, DEFAULT_CONNECTION_SIZE, type PageSizeArgs, requirePageSize } from './builder.ts';

type SearchOrder = (typeof SEARCH_ORDERS)[number];

export interface ConnectionArgs extends PageSizeArgs {
  after?: string | null | undefined;
  before?: string | null | undefined;
}

export interface Connection<Node> {
  edges: { cursor: string; node: Node }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor?: string | null; endCursor?: string | null };
}

/** A page whose `count` counts the rows of all pages, for the field `totalCount`. */
export interface CountedConnection<Node> extends Connection<Node> {
  count: () => Promise<number>;
}

/** The fields of a connection that can be counted. describe-generated.ts describes them. */
export function totalCount<Page extends { count: () => Promise<number> }>(
  c: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Page>,
) {
  return { totalCount: c.int({ resolve: (page) => page.count() }) };
}

/** Converts keyset cursors to and from text. */
export interface Cursors<Cursor> {
  encode: (cursor: Cursor) => string;
  /** null when the text is not a cursor of this list. May throw validation with the name of the argument. */
  decode: (text: string, argument: 'after' | 'before') => Cursor | null;
}

/** Returns cursors that name their order of a list, and are refused in another order. */
export function orderedCursors(order: string): Cursors<KeysetCursor> {
  return {
    encode: (cursor) => Buffer.from(`${order}:${encodeCursor(cursor)}`).toString('base64url'),
    decode(text, argument) {
      const [, previous = '', inner = ''] =
        /^([a-z_]+):(.+)$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
      const cursor = decodeCursor(inner);
      if (cursor === null || previous === order) return cursor;
      return refuseOrder(argument, previous.toUpperCase(), order.toUpperCase());
    },
  };
}

/** Cursors of search results, which may be ordered by time or by relevance. */
const newestCursors: Cursors<KeysetCursor> = {
  encode: encodeCursor,
  decode: (text, argument) =>
    decodeCursor(text) ?? (decodeRelevanceCursor(text) === null ? null : refuseOrder(argument, 'RELEVANCE', 'NEWEST')),
};

const relevanceCursors: Cursors<RelevanceCursor> = {
  encode: encodeRelevanceCursor,
  decode: (text, argument) =>
    decodeRelevanceCursor(text) ?? (decodeCursor(text) === null ? null : refuseOrder(argument, 'NEWEST', 'RELEVANCE')),
};

function refuseOrder(argument: 'after' | 'before', previous: string, order: string): never {
  const message = `\`${argument}\` is a cursor of \`orderBy: ${previous}\`, but the list is ordered by ${order}. Use cursors of the same order.`;
  throw invalid(message, argument);
}

/**
 * Returns a Relay connection over a list that is sorted by time and id. `cursorOf` returns the cursor of a row; `load` reads a page,
 * in reverse order when the page is inverted. Throws validation, naming the argument, for an invalid cursor or page size.
 */
export function connection<Node>(
  args: ConnectionArgs,
  cursorOf: (row: Node) => KeysetCursor,
  load: (page: KeysetPage) => Promise<Node[]>,
): Promise<Connection<Node>> {
  return connectionBy({ encode: encodeCursor, decode: decodeCursor }, args, cursorOf, load);
}

/** Like `connection`, for lists with another sort order. */
export async function connectionBy<Node, Cursor>(
  cursors: Cursors<Cursor>,
  args: ConnectionArgs,
  cursorOf: (row: Node) => Cursor,
  load: (page: KeysetPage<Cursor>) => Promise<Node[]>,
): Promise<Connection<Node>> {
  requirePageSize(args);
  const resolved = await resolveCursorConnection<Promise<unknown[]>>(
    {
      args,
      defaultSize: DEFAULT_CONNECTION_SIZE,
      maxSize: MAX_PAGE_SIZE,
      toCursor: (row) => cursors.encode(cursorOf(row as Node)),
    },
    ({ after, before, limit, inverted }) =>
      load({
        after: decodeArgument(cursors, 'after', after),
        before: decodeArgument(cursors, 'before', before),
        limit,
        isInverted: inverted,
      }),
  );
  const page = resolved as Connection<Node>;
  // For an empty page the library returns '' as cursors, which it does not accept as arguments.
  if (page.edges.length > 0) return page;
  return { ...page, pageInfo: { ...page.pageInfo, startCursor: null, endCursor: null } };
}

/** Arguments of a list with a search. */
export interface SearchArgs extends ConnectionArgs {
  orderBy?: SearchOrder | null;
  language?: StemLanguage | null;
}

/** Returns a connection over a list that is ordered by time or by relevance. Throws as `connection` does. */
export async function searchConnection<Row, Ranked extends Row & { score: number }>(
  { orderBy, ...args }: SearchArgs,
  list: {
    cursorOf: (row: Row) => KeysetCursor;
    page: (page: KeysetPage) => Promise<Row[]>;
    pageByRelevance: (page: KeysetPage<RelevanceCursor>) => Promise<Ranked[]>;
    count: () => Promise<number>;
  },
): Promise<CountedConnection<Row>> {
  const { cursorOf, page, pageByRelevance, count } = list;
  const found =
    orderBy === 'relevance'
      ? await connectionBy<Ranked, RelevanceCursor>(
          relevanceCursors,
          args,
          (row) => ({ ...cursorOf(row), score: row.score }),
          pageByRelevance,
        )
      : await connectionBy<Row, KeysetCursor>(newestCursors, args, cursorOf, page);
  return { ...found, count };
}

function decodeArgument<Cursor>(
  cursors: Cursors<Cursor>,
  argument: 'after' | 'before',
  text: string | undefined,
): Cursor | null {
  if (text === undefined) return null;
  const cursor = cursors.decode(text, argument);
  if (cursor === null) throw invalid('Invalid cursor', argument);
  return cursor;
}
