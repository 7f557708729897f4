import { z } from 'zod';
import { SEARCH_ORDERS } from '../../core/search/relevance.ts';
import {
  decodeRelevanceCursor,
  encodeRelevanceCursor,
  type RelevanceCursor,
} from '../../core/search/relevance-cursor.ts';
import { MAX_QUERY_LENGTH } from '../../core/search/search-query.ts';
import { STEM_LANGUAGES } from '../../core/search/word-stem.ts';
import { decodeCursor, encodeCursor, type KeysetCursor, type KeysetPage } from '../../core/shared/page.ts';
import { text } from '../../operations/capability/field-shapes.ts';
import { invalid } from '../../operations/context.ts';
import { listedAs, listedInWords } from './json-schema.ts';

export const DEFAULT_ITEMS = 20;
/** Fewer than in REST, because a model reads all of them. */
export const MAX_ITEMS = 50;

/** The search language in few words; GraphQL has more of them (SEARCH_SYNTAX). */
export const searchTerms = text.max(MAX_QUERY_LENGTH).optional().meta({
  description:
    'Words, "phrases" and operators: from: to: subject: domain: label: before: after: has:attachment is:unread is:read is:archived in:inbox in:archive in:sent in:received in:scheduled in:trash. `-` excludes.',
});

/** Arguments of a list. */
export const pageInput = {
  limit: z
    .int()
    .min(1)
    .max(MAX_ITEMS)
    .default(DEFAULT_ITEMS)
    .meta(listedAs({ type: 'integer', maximum: MAX_ITEMS })),
  cursor: z.string().optional(),
};

/** The order of search results. */
export const searchOrder = z
  .enum(SEARCH_ORDERS)
  .default('newest')
  .meta({ description: '`relevance`: best matches first, needs `search`.' });

/** A model that calls the tool sees the names of the languages only when it needs them: in the error. */
export const searchLanguage = z
  .string()
  .pipe(z.enum(STEM_LANGUAGES))
  .optional()
  .meta({ description: 'Also finds other forms, such as `english`.' });

export const nextCursor = z.string().nullable();

/** Converts cursors of a list to and from text. */
interface Cursors<Cursor> {
  encode: (cursor: Cursor) => string;
  decode: (text: string) => Cursor | null;
}

const BY_TIME: Cursors<KeysetCursor> = { encode: encodeCursor, decode: decodeCursor };
const BY_RELEVANCE: Cursors<RelevanceCursor> = { encode: encodeRelevanceCursor, decode: decodeRelevanceCursor };

interface PageArgs {
  limit: number;
  cursor?: string | undefined;
}

interface ReadPage<Row> {
  rows: Row[];
  nextCursor: string | null;
}

/** Returns the page that the arguments ask for, and one row more, which tells whether there are more. */
export function keysetPage(args: PageArgs): KeysetPage {
  return readPage(args, BY_TIME);
}

/** Returns the rows of a page, and the cursor of the next one. */
export function cutPage<Row>(rows: readonly Row[], limit: number, cursorOf: (row: Row) => KeysetCursor): ReadPage<Row> {
  return cutRows(rows, limit, (row) => BY_TIME.encode(cursorOf(row)));
}

/** Returns a page of search results in the order that the arguments ask for. */
export async function pageSearch<Row extends { id: string }>(
  { order_by: order, ...page }: PageArgs & { order_by: (typeof SEARCH_ORDERS)[number] },
  search: {
    newest: (page: KeysetPage) => Promise<Row[]>;
    byRelevance: (page: KeysetPage<RelevanceCursor>) => Promise<(Row & { score: number })[]>;
    timeOf: (row: Row) => Date;
  },
): Promise<ReadPage<Row>> {
  const { newest, byRelevance, timeOf } = search;
  if (order === 'newest')
    return cutPage(await newest(keysetPage(page)), page.limit, (row) => ({ at: timeOf(row), id: row.id }));
  return cutRows(await byRelevance(readPage(page, BY_RELEVANCE)), page.limit, (row) =>
    BY_RELEVANCE.encode({ score: row.score, at: timeOf(row), id: row.id }),
  );
}

function readPage<Cursor>({ limit, cursor }: PageArgs, cursors: Cursors<Cursor>): KeysetPage<Cursor> {
  const after = cursor === undefined ? null : cursors.decode(cursor);
  if (cursor !== undefined && after === null)
    throw invalid('Not a cursor of this list. Use `next_cursor` of a previous result.', 'cursor');
  return { after, before: null, isInverted: false, limit: limit + 1 };
}

function cutRows<Row>(rows: readonly Row[], limit: number, encode: (row: Row) => string): ReadPage<Row> {
  const last = rows[limit - 1];
  return { rows: rows.slice(0, limit), nextCursor: rows.length > limit && last !== undefined ? encode(last) : null };
}

/** Fields that hold what other people wrote, kept apart from what Postroom says. They are listed in words. */
export function untrustedShape<Shape extends z.ZodRawShape>(fields: Shape, words = nameFields(fields)) {
  return z.object(fields).meta(listedInWords(words));
}

/** Returns the names of fields as words of a list. */
export function nameFields(fields: Readonly<Record<string, unknown>>): string {
  return `${Object.keys(fields)
    .map((name) => `\`${name}\``)
    .join(', ')}.`;
}
