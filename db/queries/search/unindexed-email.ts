import type pg from 'pg';
import {
  MAX_BODY_LENGTH,
  MAX_FIELD_LENGTH,
  MAX_HTML_LENGTH,
  type WordSource,
} from '../../../core/search/email-terms.ts';
import { type PlacedColumns, placedColumns, readPlaced } from '../emails/bodies-in-message.ts';

/*
 * The emails of which no segment has the present words. A row is written with each new email, with each change of one, and when one is
 * removed; searches read the words of these emails from the emails themselves, until the scheduling actor has put them into a segment.
 */

/** The columns of unindexed_email that a statement writes with an email; the state of a new one is 'new'. */
export const UNINDEXED_COLUMNS = '(workspace_id, email_id, state, created_at)';

/** Notes that the words of these emails of the workspace changed. In the transaction that changes them. */
export async function noteChanged(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<void> {
  await client.query({
    name: 'unindexed-changed',
    text: `
      insert into unindexed_email as u ${UNINDEXED_COLUMNS}
      select $1, e.id, 'changed', e.created_at from email e where e.workspace_id = $1 and e.id = any ($2::text[]) order by e.id
      on conflict (workspace_id, email_id) do update set changes = u.changes + 1`,
    values: [workspaceId, emailIds],
  });
}

/** Notes that these emails of the workspace are removed. In the transaction that removes them, before they are. */
export async function noteGone(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<void> {
  await client.query({
    name: 'unindexed-gone',
    text: `
      insert into unindexed_email as u ${UNINDEXED_COLUMNS}
      select $1, e.id, 'gone', e.created_at from email e where e.workspace_id = $1 and e.id = any ($2::text[]) order by e.id
      on conflict (workspace_id, email_id) do update set state = 'gone', changes = u.changes + 1`,
    values: [workspaceId, emailIds],
  });
}

/** An email and the texts that its words come from. */
export interface EmailSource {
  id: string;
  /** created at; milliseconds since 1970 */
  at: number;
  source: WordSource;
}

/** Runs a statement in the transaction at hand. */
export type RunStatement = <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** Emails whose text is read at once: 200 of 4 KB have 1 MB, and never more than 35. */
export const READ_AT_ONCE = 200;

/**
 * Reads the texts of those of the emails that exist, in any order; of their header fields only when `isBodyWanted` is false. `use` returns
 * false to end early.
 */
export async function readSources(
  run: RunStatement,
  workspaceId: string,
  { emailIds, isBodyWanted }: { emailIds: readonly string[]; isBodyWanted: boolean },
  use: (email: EmailSource) => boolean,
): Promise<void> {
  for (let at = 0; at < emailIds.length; at += READ_AT_ONCE) {
    const rows = await run<SourceRow>(READ_SQL, [workspaceId, emailIds.slice(at, at + READ_AT_ONCE), isBodyWanted]);
    for (const row of rows) if (!use({ id: row.id, at: row.created_at.getTime(), source: sourceOfRow(row) })) return;
  }
}

type SourceRow = PlacedColumns & {
  id: string;
  created_at: Date;
  subject: string;
  from_text: string;
  from_address: string;
  shown: (string | null)[];
  recipients: string[];
  own_address: string;
  has_attachments: boolean;
  text_body: string | null;
  html_body: string | null;
};

function sourceOfRow(stored: SourceRow): WordSource {
  // HTML is only read where the text is missing or blank.
  const row = readPlaced(stored, stored.body_places?.[1] == null ? SOURCES : TEXT);
  return {
    subject: row.subject,
    fromText: row.from_text,
    fromAddress: row.from_address,
    recipientTexts: row.shown.filter((text) => text !== null),
    recipients: row.recipients,
    ownAddress: row.own_address,
    text: row.text_body,
    html: row.html_body,
    hasAttachments: row.has_attachments,
  };
}

const TEXT = ['text_body'] as const;
const SOURCES = ['text_body', 'html_body'] as const;

// Bodies are not compressed, so that only their beginnings are read. Cutting one off takes several times as long as reading it whole, so that is
// done to long ones only. HTML is read where the text may be blank.
const READ_SQL = `
  select e.id, e.created_at, e.subject, e.from_text, e.from_address, e.own_address, e.has_attachments,
    array[left(c.addresses->'to'->>'text', ${MAX_FIELD_LENGTH}), left(c.addresses->'cc'->>'text', ${MAX_FIELD_LENGTH}),
      left(c.addresses->'bcc'->>'text', ${MAX_FIELD_LENGTH})] as shown,
    case when e.recipient is null then '{}' else array[e.recipient] end || e.to_addresses || e.cc_addresses as recipients,
    case when not $3::boolean then null when octet_length(c.text_body) <= ${MAX_BODY_LENGTH} then c.text_body
      else left(c.text_body, ${MAX_BODY_LENGTH}) end as text_body,
    case when $3 and c.body_places[2] is null and (c.text_body is null or btrim(left(c.text_body, 16), E' \\t\\r\\n') = '')
      then left(c.html_body, ${MAX_HTML_LENGTH}) end as html_body, ${placedColumns('$3::boolean')}
  from unnest($2::text[]) i(id) cross join lateral (select * from email e where e.workspace_id = $1 and e.id = i.id limit 1) e
  left join lateral (select * from email_content c where c.workspace_id = $1 and c.email_id = e.id limit 1) c on true`;
