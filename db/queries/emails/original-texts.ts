import type pg from 'pg';
import { type PlacedColumns, placedColumns, readPlaced } from './bodies-in-message.ts';

/** A message that a received email refers to. */
export interface OriginalKey {
  workspaceId: string;
  messageId: string;
}

/** Characters of a text and of HTML that are read. */
const MAX_LENGTH = 50_000;
const MAX_HTML_LENGTH = 100_000;

const ORIGINALS = ['text_body', 'html_body'] as const;

/** The text of an email that a reply may repeat: its plain text, or its HTML if it has none. */
export type OriginalText = OriginalKey & ({ text: string } | { html: string });

/** Returns the texts of the workspace's emails with these msg-ids, in the order of the keys; an email without a body has none. */
export async function readOriginalTexts(
  client: Pick<pg.ClientBase, 'query'>,
  keys: readonly OriginalKey[],
): Promise<OriginalText[]> {
  if (keys.length === 0) return [];
  const { rows } = await client.query<
    {
      workspace_id: string;
      message_id: string;
      text_body: string | null;
      html_body: string | null;
    } & PlacedColumns
  >({
    name: 'original-texts',
    text: `
      select e.workspace_id, e.message_id, left(c.text_body, $3) as text_body, ${placedColumns()},
        case when c.text_body is null then left(c.html_body, $4) end as html_body
      from unnest($1::text[], $2::text[]) with ordinality as k (workspace_id, message_id, at)
      join email e on e.workspace_id = k.workspace_id and e.message_id = k.message_id
      join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
      where c.text_body is not null or c.html_body is not null or c.body_places is not null
      order by k.at`,
    values: [
      keys.map(({ workspaceId }) => workspaceId),
      keys.map(({ messageId }) => messageId),
      MAX_LENGTH,
      MAX_HTML_LENGTH,
    ],
  });
  return rows.flatMap((row): OriginalText[] => {
    const {
      workspace_id: workspaceId,
      message_id: messageId,
      text_body: text,
      html_body: html,
    } = readPlaced(row, ORIGINALS);
    if (text !== null) return [{ workspaceId, messageId, text: text.slice(0, MAX_LENGTH) }];
    return html === null ? [] : [{ workspaceId, messageId, html: html.slice(0, MAX_HTML_LENGTH) }];
  });
}
