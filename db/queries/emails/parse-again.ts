import type pg from 'pg';
import { addParticipants } from '../../../core/threads/thread-participants.ts';
import { readMailboxes } from '../threads/thread-move.ts';
import { readThreadEnds, writeThreads } from '../threads/thread-write.ts';
import { type PlacedColumns, placedColumns, readPlaced } from './bodies-in-message.ts';
import type { EmailColumns } from './email-columns.ts';

/** A received email in its parsed form, with its envelope. */
export interface ParsedRow extends EmailColumns {
  raw_id: string | null;
  thread_id: string | null;
  recipient: string | null;
  own_address: string;
  reverse_path: string | null;
  remote_address: string | null;
  helo: string | null;
  /** of its route; null: not decided yet */
  outcome: string | null;
  date: Date | null;
  headers: unknown;
  addresses: unknown;
  text_body: string | null;
  html_body: string | null;
  cleaned_text: string | null;
  cleaned_html: string | null;
  removed_parts: unknown;
  attachments: unknown;
  authentication: unknown;
  injection: unknown;
  priority: string | null;
  is_truncated: boolean;
  parse_error: string | null;
  parser_version: number;
}

/** The columns of an email that parsing writes; instants are ISO 8601. */
export type ReparsedRow = Omit<
  ParsedRow,
  'raw_id' | 'thread_id' | 'recipient' | 'own_address' | 'reverse_path' | 'remote_address' | 'helo' | 'outcome' | 'date'
> & { date: string | null; search_text: string; parties: string[] };

/** The state of an email that the user asks for. */
export type EmailStage = 'missing' | 'unparsed' | 'parsed' | 'not-received';

/** How far an email of the workspace was processed. */
export async function readStage(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  emailId: string,
): Promise<EmailStage> {
  const { rows } = await client.query<{ type: string | null; parsed_at: Date | null; is_known: boolean }>({
    name: 'parse-again-stage',
    text: `
      select (select e.type from email e where e.workspace_id = $1 and e.id = $2) as type,
        exists (select from reception p where p.workspace_id = $1 and p.email_id = $2 and p.parsed_at is null) as is_known`,
    values: [workspaceId, emailId],
  });
  const row = rows[0];
  if (row?.type === 'received') return 'parsed';
  if (row?.type != null) return 'not-received';
  return row?.is_known === true ? 'unparsed' : 'missing';
}

/** Returns a received email and locks it; null when it is gone. */
export async function lockParsed(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
): Promise<ParsedRow | null> {
  const { rows } = await client.query<ParsedRow & PlacedColumns>({
    name: 'parse-again-lock',
    text: `${READ_SQL} for no key update of e`,
    values: [workspaceId, emailId],
  });
  return rows[0] === undefined ? null : readPlaced(rows[0]);
}

/** The same without a lock. */
export async function readParsed(
  client: Pick<pg.ClientBase, 'query'>,
  workspaceId: string,
  emailId: string,
): Promise<ParsedRow | null> {
  const { rows } = await client.query<ParsedRow & PlacedColumns>({
    name: 'parse-again-read',
    text: READ_SQL,
    values: [workspaceId, emailId],
  });
  return rows[0] === undefined ? null : readPlaced(rows[0]);
}

const READ_SQL = `
  select e.raw_id, e.thread_id, e.recipient, e.own_address, p.reverse_path, p.remote_address, p.helo, r.outcome,
    e.message_id, e.subject, e.base_subject, e.from_name, e.from_address, e.from_text, e.to_addresses, e.cc_addresses, e.preview, e.date,
    e.attachment_count, c.headers, c.addresses, c.in_reply_to, c.reference_ids, c.text_body, c.html_body, c.cleaned_text, c.cleaned_html,
    c.removed_parts, c.attachments, c.authentication, c.injection, c.priority, c.is_truncated, c.parse_error, c.parser_version,
    ${placedColumns()}
  from email e
  join email_content c on c.workspace_id = $1 and c.email_id = e.id
  left join reception p on p.workspace_id = $1 and p.email_id = e.id
  left join route r on r.workspace_id = $1 and r.email_id = e.id
  where e.workspace_id = $1 and e.id = $2 and e.type = 'received'`;

/** Stores the result of parsing; what the user set stays. */
export async function writeReparsed(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
  row: ReparsedRow,
): Promise<void> {
  const { text_body: text, html_body: html, cleaned_text: cleanedText, cleaned_html: cleanedHtml, ...fields } = row;
  await client.query({
    name: 'parse-again-write',
    text: WRITE_SQL,
    values: [workspaceId, emailId, JSON.stringify(fields), text, html, cleanedText, cleanedHtml],
  });
}

const WRITE_SQL = `
  with g as materialized (
    select * from json_to_record($3) as g (message_id text, subject text, base_subject text, from_name text, from_address text,
      from_text text, to_addresses text[], cc_addresses text[], preview text, date timestamptz, attachment_count integer, headers jsonb,
      addresses jsonb, in_reply_to text[], reference_ids text[], removed_parts jsonb, attachments jsonb, authentication jsonb, injection jsonb, priority text,
      is_truncated boolean, parse_error text, parser_version smallint, search_text text, parties text[])
  ), content_row as (
    update email_content c set headers = g.headers, addresses = g.addresses, in_reply_to = g.in_reply_to, reference_ids = g.reference_ids,
      text_body = $4, html_body = $5, cleaned_text = $6, cleaned_html = $7, body_places = null, removed_parts = g.removed_parts, attachments = g.attachments,
      authentication = g.authentication, injection = g.injection, priority = g.priority, is_truncated = g.is_truncated, parse_error = g.parse_error,
      parser_version = g.parser_version
    from g where c.workspace_id = $1 and c.email_id = $2
  ), search_row as (
    update email_search s set text = g.search_text, parties = g.parties from g where s.workspace_id = $1 and s.email_id = $2
  )
  update email e set message_id = g.message_id, subject = g.subject, base_subject = g.base_subject, from_name = g.from_name,
    from_address = g.from_address, from_text = g.from_text, to_addresses = g.to_addresses, cc_addresses = g.cc_addresses,
    preview = g.preview, date = g.date, has_attachments = g.attachment_count > 0, attachment_count = g.attachment_count,
    updated_at = (select postroom_now())
  from g where e.workspace_id = $1 and e.id = $2`;

/** Rebuilds the row of a thread from its messages; counters, labels and positions stay. */
export async function refreshThread(client: pg.ClientBase, workspaceId: string, threadId: string): Promise<void> {
  const [ends] = await readThreadEnds(client, workspaceId, [threadId]);
  if (ends === undefined) return;
  const mailboxes = (await readMailboxes(client, workspaceId, [threadId])).get(threadId) ?? [];
  await writeThreads(client, workspaceId, [
    {
      id: threadId,
      createdAt: ends.createdAt,
      rootMessageId: ends.rootMessageId,
      normalizedSubject: ends.baseSubject,
      latestEmailId: ends.latestEmailId,
      lastMessageAt: ends.lastMessageAt,
      participants: addParticipants({ emails: [], names: [] }, mailboxes),
      counters: { messageCount: 0, receivedCount: 0, unreadCount: 0, archivedCount: 0 },
    },
  ]);
}
