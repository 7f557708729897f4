import { zstdDecompressSync } from 'node:zlib';
import type pg from 'pg';
import { BODY_COLUMNS, type BodyColumn } from './large-bodies.ts';

// A body that lies in the message as it is, but for its line ends, is not stored beside it: email_content.body_places says where it begins,
// and its column is null (docs/decisions/0138). Only small messages are read for their bodies. Bodies of received mail have line feeds where the
// message has CRLF; bodies of sent mail may have CRLF themselves, and are then as many bytes as their place.

/** Larger messages have their bodies beside them: a reader of a body would unpack all of the message. Bytes. */
const MAX_MESSAGE_BYTES = 32_768;
/** Shorter bodies are stored as they are. Bytes. */
const MIN_BODY_BYTES = 100;
/** Characters that say whether a text is blank, see readSources. */
const BLANK_LENGTH = 16;

/** Bodies of an email; null: it has none. */
export type Bodies = Record<BodyColumn, string | null>;

/** For each column of BODY_COLUMNS start and length in the message, and the bytes of the body; null where it is stored beside the message. */
export type BodyPlaces = (number | null)[];

/**
 * Returns the bodies to store beside a message, and where the others lie in it. `packed`: what packMessage returned.
 */
export function placeBodies(
  { message, packed }: { message: Buffer; packed: Buffer },
  bodies: Bodies,
): { bodies: Bodies; places: BodyPlaces | null } {
  const { text_body, html_body, cleaned_text, cleaned_html } = bodies;
  const beside = { text_body, html_body, cleaned_text, cleaned_html };
  if (message.length > MAX_MESSAGE_BYTES || packed.length >= message.length) return { bodies: beside, places: null };
  const places = BODY_COLUMNS.flatMap((column): BodyPlaces => {
    const place = findBody(message, bodies[column]);
    if (place === null) return [null, null, null];
    beside[column] = null;
    return place;
  });
  return { bodies: beside, places: places.some((place) => place !== null) ? places : null };
}

function findBody(message: Buffer, body: string | null): BodyPlaces | null {
  if (body === null || body.length < MIN_BODY_BYTES || !body.isWellFormed()) return null;
  if (body.slice(0, BLANK_LENGTH).trim() === '') return null;
  const lines = Buffer.from(body.includes('\r') ? body : body.replaceAll('\n', '\r\n'));
  const start = message.indexOf(lines);
  const lineEnds = lines.length - Buffer.byteLength(body);
  return start < 0 ? null : [start, lines.length, lines.length - lineEnds];
}

/** What a statement selects beside the bodies of `email_content c`: see placedColumns. */
export interface PlacedColumns {
  body_places: BodyPlaces | null;
  placed_message: Buffer | null;
}

/** The columns of PlacedColumns, of `email_content c`; bytes only where the condition holds. */
export function placedColumns(condition = 'true'): string {
  return `c.body_places, case when c.body_places is not null and ${condition} then placed_message(c.workspace_id, c.email_id) end as placed_message`;
}

/** Returns a row without PlacedColumns, and with those of the columns that lie in the message. */
export function readPlaced<Row extends PlacedColumns>(
  row: Row,
  columns: readonly BodyColumn[] = BODY_COLUMNS,
): Omit<Row, keyof PlacedColumns> & Partial<Bodies> {
  const { body_places: places, placed_message: packed, ...rest } = row;
  const message = places === null || packed === null || columns.length === 0 ? null : unpack(packed);
  if (places === null || message === null) return rest;
  const bodies: Partial<Bodies> = {};
  for (const [at, column] of BODY_COLUMNS.entries()) {
    const [start, length, size] = places.slice(3 * at);
    if (start == null || length == null || !columns.includes(column)) continue;
    const lines = message.toString('utf8', start, start + length);
    bodies[column] = size === length ? lines : lines.replaceAll('\r\n', '\n');
  }
  return { ...rest, ...bodies };
}

/** Returns those bodies of an email that lie in its message; null: none does. */
export async function readPlacedBodies(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  emailId: string,
): Promise<Partial<Bodies> | null> {
  const { rows } = await client.query<PlacedColumns>({
    name: 'placed-bodies-of',
    text: `select ${placedColumns()} from email_content c where c.workspace_id = $1 and c.email_id = $2 and c.body_places is not null`,
    values: [workspaceId, emailId],
  });
  return rows[0] === undefined ? null : readPlaced(rows[0]);
}

/** Moves those bodies of emails that lie in their messages into their columns, before the messages are removed. In a transaction. */
export async function storeBodiesApart(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<void> {
  const { rows } = await client.query<Bodies & PlacedColumns & { email_id: string }>({
    name: 'placed-bodies-read',
    text: `
      with locked as materialized (
        select e.id from email e where e.workspace_id = $1 and e.id = any ($2::text[]) order by e.id for update
      )
      select c.email_id, c.text_body, c.html_body, c.cleaned_text, c.cleaned_html, ${placedColumns()}
      from locked e join email_content c on c.workspace_id = $1 and c.email_id = e.id where c.body_places is not null`,
    values: [workspaceId, emailIds],
  });
  for (const row of rows) {
    const { email_id: emailId, text_body, html_body, cleaned_text, cleaned_html } = readPlaced(row);
    await client.query({
      name: 'placed-bodies-apart',
      text: `update email_content set text_body = $3, html_body = $4, cleaned_text = $5, cleaned_html = $6, body_places = null
        where workspace_id = $1 and email_id = $2`,
      values: [workspaceId, emailId, text_body, html_body, cleaned_text, cleaned_html],
    });
  }
}

/** Null when the bytes are damaged: their frame has a checksum. */
function unpack(packed: Buffer): Buffer | null {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: MAX_MESSAGE_BYTES });
  } catch {
    return null;
  }
}

/** Bytes of a body of `email_content c`, wherever it lies; null: there is none. PostgreSQL knows them without reading bodies. */
export function bodySizeSql(column: BodyColumn): string {
  return `coalesce(octet_length(c.${column}), c.body_places[${3 * BODY_COLUMNS.indexOf(column) + 3}])`;
}
