import { type RawBuilder, sql, type Transaction } from 'kysely';
import { type BodyText, LARGE_BODY_BYTES, LargeText } from '../../../core/shared/large-text.ts';
import type { Tables } from '../../entities/tables.ts';

/**
 * Bytes of the rows that a large body is read in. The driver of PostgreSQL doubles its buffer until a row fits, so that a row of 512 KB left
 * 2 MB of garbage.
 */
const ROW_BYTES = 65_536;
/** Rows that arrive together, and become a piece of the text. */
const PIECE_ROWS = 8;

/** Columns of email_content that may have megabytes. */
export const BODY_COLUMNS = ['text_body', 'html_body', 'cleaned_text', 'cleaned_html'] as const;
export type BodyColumn = (typeof BODY_COLUMNS)[number];

const isLarge = (column: BodyColumn) => sql`octet_length(${sql.ref(`c.${column}`)}) > ${sql.lit(LARGE_BODY_BYTES)}`;

/** A body of the table `c`; null if it is large. */
export const smallBody = (column: BodyColumn): RawBuilder<string | null> =>
  sql`case when not ${isLarge(column)} then ${sql.ref(`c.${column}`)} end`;

/** The columns of those bodies of the table `c` that are large. */
export const largeBodies: RawBuilder<BodyColumn[]> = sql`array_remove(array[${sql.join(
  BODY_COLUMNS.map((column) => sql`case when ${isLarge(column)} then ${sql.lit(column)} end`),
)}], null)`;

/** A row whose bodies may be large. */
export type WithLargeBodies<Row> = Omit<Row, BodyColumn> & {
  [Column in BodyColumn & keyof Row]: Row[Column] | LargeText;
};

/** Returns a row with the large ones of those of its bodies that it has columns of. */
export async function readLargeBodies<Row extends Partial<Record<BodyColumn, BodyText | null>>>(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { emailId, row, columns }: { emailId: string; row: Row; columns: readonly BodyColumn[] },
): Promise<WithLargeBodies<Row>> {
  const whole: WithLargeBodies<Row> = { ...row };
  // One after the other: the connection runs one statement at a time.
  for (const column of columns)
    if (column in row)
      Object.assign(whole, { [column]: await readLargeBody(transaction, workspaceId, { emailId, column }) });
  return whole;
}

/** Returns a body of an email; an empty one of an email without that body. */
const readLargeBody = (
  transaction: Transaction<Tables>,
  workspaceId: string,
  { emailId, column }: { emailId: string; column: BodyColumn },
): Promise<LargeText> =>
  readLargeText(
    transaction,
    sql`select convert_to(c.${sql.ref(column)}, 'UTF8') as bytes from email_content c
      where c.workspace_id = ${workspaceId} and c.email_id = ${emailId}`,
  );

/**
 * Reads a text in pieces, which end between characters, into memory that LargeText.free gives back. PostgreSQL unpacks it once, and other
 * requests go on between two pieces. `source` selects it as `bytes`, in UTF-8; no row is an empty text.
 */
export async function readLargeText(transaction: Transaction<Tables>, source: RawBuilder<unknown>): Promise<LargeText> {
  // The number of bytes at an offset that continue a character (RFC 3629 §3): hexadecimal 80 to bf.
  const continued = (offset: string) =>
    sql.raw(`length(substring(encode(substring(b.bytes from ${offset} + 1 for 3), 'hex') from '^(?:[89ab].)*')) / 2`);
  const end = `s.at + ${ROW_BYTES}`;
  const size = sql.raw(String(ROW_BYTES));
  await sql`declare large_body no scroll cursor for
    select convert_from(substring(b.bytes from s.at + ${continued('s.at')} + 1
      for ${size} + ${continued(end)} - ${continued('s.at')}), 'UTF8') as part
    from (${source} offset 0) b
    cross join lateral generate_series(0, octet_length(b.bytes) - 1, ${size}) s(at)`.execute(transaction);
  const pieces: Buffer<ArrayBuffer>[] = [];
  for (;;) {
    const { rows } = await sql<{
      part: string;
    }>`fetch forward ${sql.raw(String(PIECE_ROWS))} from large_body`.execute(transaction);
    if (rows.length > 0) pieces.push(joinRows(rows));
    if (rows.length < PIECE_ROWS) break;
  }
  await sql`close large_body`.execute(transaction);
  return LargeText.own(pieces);
}

/** Returns the rows as UTF-8, in memory of their own. */
function joinRows(rows: readonly { part: string }[]): Buffer<ArrayBuffer> {
  const piece = Buffer.allocUnsafeSlow(rows.reduce((sum, { part }) => sum + Buffer.byteLength(part), 0));
  let at = 0;
  for (const { part } of rows) at += piece.write(part, at);
  return piece;
}
