import { sql, type Transaction } from 'kysely';
import type { EmailType } from '../../../core/emails/email-status.ts';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Tables } from '../../entities/tables.ts';
import { addressFields, bodyBytes } from '../emails/email-row.ts';

/** An email with what a reply to it needs. */
export interface OriginalEmail {
  id: string;
  type: EmailType;
  threadId: string | null;
  messageId: string;
  inReplyTo: string[];
  references: string[];
  subject: string;
  /** the workspace's own; lower case */
  ownAddress: string;
  /** envelope recipient; null for sent mail */
  recipient: string | null;
  addresses: AddressFields;
}

/**
 * Returns the email with that id, or the latest message of the thread with that id, received or sent; for a merged thread that of the
 * surviving one. Null when the workspace has neither.
 */
export async function findOriginal(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<{ email: OriginalEmail; isThread: boolean } | null> {
  const { rows } = await sql<OriginalRow>`
    with chosen as (
      select e.id, false as is_thread from email e where e.workspace_id = ${workspaceId} and e.id = ${id}
      union all
      (select e.id, true from email e
       where e.workspace_id = ${workspaceId} and e.type <> 'scheduled' and e.thread_id = coalesce(
         (select a.thread_id from thread_alias a where a.workspace_id = ${workspaceId} and a.alias_id = ${id}), ${id})
       order by e.thread_at desc, e.id desc limit 1)
    )
    select chosen.is_thread, e.id, e.type, e.thread_id, e.message_id, e.subject, e.own_address, e.recipient, c.in_reply_to,
      c.reference_ids, c.addresses
    from chosen join email e on e.workspace_id = ${workspaceId} and e.id = chosen.id
    left join email_content c on c.workspace_id = ${workspaceId} and c.email_id = e.id
    order by chosen.is_thread limit 1`.execute(transaction);
  const row = rows[0];
  return row === undefined ? null : { email: toOriginal(row), isThread: row.is_thread };
}

/** What is loaded of an email that goes out with another one; bytes. */
interface OriginalBytes {
  bodyBytes: number;
  /** of the message with its attachments; 0 without any */
  attachedBytes: number;
}

/** Returns how large an email is; null when the workspace has none with that id. */
export async function findOriginalBytes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<OriginalBytes | null> {
  const { rows } = await sql<OriginalBytes>`
    select coalesce(${bodyBytes}, 0) as "bodyBytes", case when e.attachment_count = 0 then 0
      else coalesce((select r.bytes from raw_sizes(${workspaceId}, array[e.id]) r), 0) end as "attachedBytes"
    from email e left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.id = ${emailId}`.execute(transaction);
  return rows[0] ?? null;
}

/** Returns those of the addresses (lower case) that belong to the workspace. */
export async function findOwnAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  addresses: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select a.address from email_address_name a where a.workspace_id = ${workspaceId} and a.address = any (${addresses}::text[])`.execute(
    transaction,
  );
  return rows.map((row) => row.address);
}

interface OriginalRow {
  is_thread: boolean;
  id: string;
  type: EmailType;
  thread_id: string | null;
  message_id: string;
  subject: string;
  own_address: string;
  recipient: string | null;
  in_reply_to: string[] | null;
  reference_ids: string[] | null;
  addresses: unknown;
}

function toOriginal(row: OriginalRow): OriginalEmail {
  return {
    id: row.id,
    type: row.type,
    threadId: row.thread_id,
    messageId: row.message_id,
    inReplyTo: row.in_reply_to ?? [],
    references: row.reference_ids ?? [],
    subject: row.subject,
    ownAddress: row.own_address,
    recipient: row.recipient,
    addresses: addressFields(row.addresses),
  };
}
