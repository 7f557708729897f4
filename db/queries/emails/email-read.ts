import { sql, type Transaction } from 'kysely';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Tables } from '../../entities/tables.ts';
import { type PlacedColumns, readPlaced } from './bodies-in-message.ts';
import { type EmailRecipient, emailRecipients, emailRecipientsColumn } from './email-recipients.ts';
import {
  bodyBytes,
  type CleanedContent,
  type CleanedRow,
  type ContentRow,
  cleanedContent,
  contentBytes,
  type EmailContent,
  type EmailSummary,
  type EmailSummaryRow,
  emailContent,
  emailContentColumnsIf,
  emailContentColumnsIfSmall,
  emailOutlineColumns,
  emailSummary,
  emailSummaryColumns,
} from './email-row.ts';
import { type BodyColumn, readLargeBodies, smallBody, type WithLargeBodies } from './large-bodies.ts';

/** An email with its content as it is stored. */
export interface ReadEmail extends EmailSummary, EmailContent, CleanedContent {
  /** the body as received that removedParts are offsets in */
  removedFrom: 'text' | 'html';
  recipients: EmailRecipient[];
}

/** The size of bodies that were not read. */
export interface LargeBodies {
  /** bytes in UTF-8 */
  bodyBytes: number;
}

/** Returns one email with its content; null when the workspace has none with that id. Large bodies are a LargeText. */
export async function readEmail(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<ReadEmail | null> {
  const { rows } = await sql<DetailsRow & PlacedColumns & { large_bodies: BodyColumn[] }>`
    select ${emailSummaryColumns}, ${emailContentColumnsIfSmall}, ${smallBody('cleaned_text')} as cleaned_text,
      ${smallBody('cleaned_html')} as cleaned_html, c.removed_parts, ${emailRecipientsColumn} as recipients
    from email e
    left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.id = ${emailId}`.execute(transaction);
  if (rows[0] === undefined) return null;
  const row = readPlaced(rows[0]);
  return emailDetails(await readLargeBodies(transaction, workspaceId, { emailId, row, columns: row.large_bodies }));
}

/**
 * Returns those of the emails that belong to the workspace, with their contents, by id. Of an email whose bodies have more than `maxBodyBytes`
 * together, they are not read, and their size is returned instead.
 */
export async function readBoundedEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
  maxBodyBytes: number,
): Promise<Map<string, ReadEmail | LargeBodies>> {
  const whole = sql<boolean>`b.bytes <= ${maxBodyBytes}::bigint`;
  const { rows } = await sql<DetailsRow & PlacedColumns & { body_bytes: number }>`
    select ${emailSummaryColumns}, ${emailContentColumnsIf(whole)}, case when ${whole} then c.cleaned_text end as cleaned_text,
      case when ${whole} then c.cleaned_html end as cleaned_html, c.removed_parts, ${emailRecipientsColumn} as recipients, b.bytes as body_bytes
    from email e
    left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    cross join lateral (select ${bodyBytes} as bytes) b
    where e.workspace_id = ${workspaceId} and e.id = any (${emailIds}::text[])`.execute(transaction);
  return new Map(
    rows.map((row) => [
      row.id,
      row.body_bytes > maxBodyBytes ? { bodyBytes: row.body_bytes } : emailDetails(readPlaced(row)),
    ]),
  );
}

type DetailsRow = EmailSummaryRow & ContentRow & CleanedRow & { recipients: unknown };

function emailDetails(row: WithLargeBodies<DetailsRow>): ReadEmail {
  const cleaned = cleanedContent(row, row.text_body);
  return {
    ...emailSummary(row),
    ...emailContent(row),
    ...cleaned,
    removedFrom: row.text_body === null && row.html_body !== null ? 'html' : 'text',
    recipients: emailRecipients(row.recipients),
  };
}

/** Returns the messages of threads and the bytes of their contents, in the order of their positions. */
export async function findThreadSizes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<{ threadId: string; emailId: string; bytes: number }[]> {
  const { rows } = await sql<{ thread_id: string; id: string; bytes: number }>`
    select e.thread_id, e.id, ${contentBytes} as bytes from email e
    left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.thread_id = any (${threadIds}::text[])
    order by e.thread_at, e.id`.execute(transaction);
  return rows.map(({ thread_id: threadId, id, bytes }) => ({ threadId, emailId: id, bytes }));
}

const CONTENT_BODIES = ['text_body', 'html_body'] as const;

/** Returns those of the emails that are messages of the threads, in the order of their positions. Large bodies are a LargeText. */
export async function readThreadEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { threadIds, emailIds }: { threadIds: readonly string[]; emailIds: readonly string[] },
): Promise<(EmailSummary & EmailContent)[]> {
  const { rows } = await sql<EmailSummaryRow & ContentRow & PlacedColumns & { large_bodies: BodyColumn[] }>`
    select ${emailSummaryColumns}, ${emailContentColumnsIfSmall} from email e
    left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.thread_id = any (${threadIds}::text[]) and e.id = any (${emailIds}::text[])
    order by e.thread_at, e.id`.execute(transaction);
  const emails: (EmailSummary & EmailContent)[] = [];
  for (const stored of rows) {
    const row = readPlaced(stored, CONTENT_BODIES);
    const { id: emailId, large_bodies: columns } = row;
    const whole = await readLargeBodies(transaction, workspaceId, { emailId, row, columns });
    emails.push({ ...emailSummary(whole), ...emailContent(whole) });
  }
  return emails;
}

/** Returns the contents of those of the emails that belong to the workspace, by email id, without bodies. */
export async function findOutlines(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, EmailContent>> {
  const { rows } = await sql<ContentRow & { email_id: string }>`
    select c.email_id, ${emailOutlineColumns} from email_content c
    where c.workspace_id = ${workspaceId} and c.email_id = any (${emailIds}::text[])`.execute(transaction);
  return new Map(rows.map((row) => [row.email_id, emailContent(row)]));
}

/** Returns the address fields of emails by id; those without content are left out. */
export async function findAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, AddressFields>> {
  const { rows } = await sql<{ email_id: string; addresses: AddressFields }>`
    select c.email_id, c.addresses from email_content c
    where c.workspace_id = ${workspaceId} and c.email_id = any (${emailIds}::text[])`.execute(transaction);
  return new Map(rows.map(({ email_id, addresses }) => [email_id, addresses]));
}
