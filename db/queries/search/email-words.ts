import type pg from 'pg';
import {
  emailTerms,
  MAX_BODY_LENGTH,
  MAX_FIELD_LENGTH,
  MAX_HTML_LENGTH,
  type WordSource,
} from '../../../core/search/email-terms.ts';
import type { Database } from '../../connection/database.ts';
import { noteChanged } from './unindexed-email.ts';
import { wordVector } from './word-vector.ts';

/**
 * Returns the words of an email as a tsvector: weights A subject, B sender, C recipients, D body; marks for its domains and its
 * attachments.
 */
export function emailVector(userId: string, email: WordSource): string {
  return wordVector(userId, emailTerms(email));
}

/** Writes or rewrites the words of the user's emails. */
export async function writeWords(
  client: Pick<pg.ClientBase, 'query'>,
  userId: string,
  emailIds: readonly string[],
): Promise<void> {
  const { rows } = await client.query<SourceRow>({
    name: 'email-words-read',
    text: READ_SQL,
    values: [userId, emailIds],
  });
  const vectors = rows.map((row) => emailVector(userId, sourceOf(row)));
  await noteChanged(client, userId, emailIds);
  await client.query({ name: 'email-words', text: WRITE_SQL, values: [userId, rows.map((row) => row.id), vectors] });
}

/** Emails whose words are merged into the index together. */
const MERGED_TOGETHER = 500;

/**
 * Moves the words of new emails from the pending list of their index, which every search reads, into the index, once there are many: a
 * page of the index is then written once for all of them. Returns how many pages the list had; cheap when nothing is to do.
 */
export async function mergeWords(database: Database, least = MERGED_TOGETHER): Promise<number> {
  const { rows } = await database.pool.query<{ pages: string }>({
    name: 'merge-words',
    text: 'select merge_words($1) as pages',
    values: [least],
  });
  return Number(rows[0]?.pages ?? 0);
}

interface SourceRow {
  id: string;
  subject: string;
  from_text: string;
  from_address: string;
  shown: (string | null)[];
  recipients: string[];
  own_address: string;
  has_attachments: boolean;
  text: string | null;
  html: string | null;
}

function sourceOf(row: SourceRow): WordSource {
  return {
    subject: row.subject,
    fromText: row.from_text,
    fromAddress: row.from_address,
    recipientTexts: row.shown.filter((text) => text !== null),
    recipients: row.recipients,
    ownAddress: row.own_address,
    text: row.text,
    html: row.html,
    hasAttachments: row.has_attachments,
  };
}

// Bodies are not compressed, so that only their beginnings are read.
const READ_SQL = `
  select e.id, e.subject, e.from_text, e.from_address, e.own_address, e.has_attachments,
    array[left(c.addresses->'to'->>'text', ${MAX_FIELD_LENGTH}), left(c.addresses->'cc'->>'text', ${MAX_FIELD_LENGTH}),
      left(c.addresses->'bcc'->>'text', ${MAX_FIELD_LENGTH})] as shown,
    case when e.recipient is null then '{}' else array[e.recipient] end || e.to_addresses || e.cc_addresses as recipients,
    left(c.text_body, ${MAX_BODY_LENGTH}) as text,
    case when c.text_body is null or btrim(left(c.text_body, 1000), E' \\t\\r\\n') = '' then left(c.html_body, ${MAX_HTML_LENGTH}) end as html
  from email e left join email_content c on c.user_id = $1 and c.email_id = e.id
  where e.user_id = $1 and e.id = any ($2::text[])`;

const WRITE_SQL = `
  with written as (
    select e.id, e.created_at, e.trashed_at, v.words::tsvector as words
    from unnest($2::text[], $3::text[]) as v(id, words) join email e on e.user_id = $1 and e.id = v.id
  ), of_trash as (
    update trashed_email t set words = w.words from written w where t.user_id = $1 and t.email_id = w.id and w.trashed_at is not null
  )
  insert into email_words (user_id, email_id, created_at, words)
  select $1, w.id, w.created_at, w.words from written w where w.trashed_at is null
  on conflict (user_id, email_id) do update set words = excluded.words`;
