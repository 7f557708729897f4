import type { Database } from '../../../db/connection/database.ts';
import {
  type Bodies,
  type PlacedColumns,
  placeBodies,
  placedColumns,
  readPlaced,
} from '../../../db/queries/emails/bodies-in-message.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from './stored-message.ts';

/** Stores those bodies of an email that lie in its message as their places, as mail that one statement takes has them. Returns whether any does. */
export async function putInMessage({ pool }: Database, emailId: string): Promise<boolean> {
  const { rows } = await pool.query<MessageColumns & Bodies & PlacedColumns>(
    `select ${MESSAGE_COLUMNS}, c.text_body, c.html_body, c.cleaned_text, c.cleaned_html, ${placedColumns()}
     from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id join raw_message m on m.id = e.raw_id where e.id = $1`,
    [emailId],
  );
  const [row] = rows;
  if (row === undefined) return false;
  const message = readStoredMessage(row);
  const { bodies, places } = placeBodies({ message, packed: row.packed }, readPlaced(row));
  await pool.query(
    `update email_content set text_body = $2, html_body = $3, cleaned_text = $4, cleaned_html = $5, body_places = $6 where email_id = $1`,
    [emailId, bodies.text_body, bodies.html_body, bodies.cleaned_text, bodies.cleaned_html, places],
  );
  return places !== null;
}
