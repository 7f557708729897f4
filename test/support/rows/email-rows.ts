import type { ThreadableMessage } from '../../../core/threads/threading.ts';
import type { Database } from '../../../db/connection/database.ts';

/** A message to store, as the receiving actor leaves it: parsed, without thread. */
export interface StoredMail extends ThreadableMessage {
  type?: 'received' | 'sent' | 'scheduled';
  isRead?: boolean;
  isArchived?: boolean;
}

/** Inserts email and email_content rows; the first address is From, the others are To. */
export async function insertEmails(
  database: Database,
  workspaceId: string,
  mails: readonly StoredMail[],
): Promise<void> {
  const rows = mails.map((mail) => {
    const [from = 'nobody@nowhere.test', ...to] = mail.addresses;
    const list = (addresses: string[]) => ({
      text: addresses.join(', '),
      addresses: addresses.map((address) => ({ name: readName(address), address })),
    });
    return {
      workspace_id: workspaceId,
      id: mail.emailId,
      type: mail.type ?? 'received',
      status: 'delivered',
      created_at: mail.createdAt,
      own_address: mail.ownAddress,
      own_domain: mail.ownAddress.split('@').at(-1) ?? '',
      message_id: mail.messageId,
      subject: mail.subject,
      base_subject: mail.baseSubject,
      from_address: from,
      from_text: from,
      to_addresses: to,
      date: mail.date,
      is_read: mail.isRead ?? false,
      is_archived: mail.isArchived ?? false,
      in_reply_to: mail.inReplyTo,
      reference_ids: mail.references,
      addresses: { from: list([from]), to: list(to), cc: null, bcc: null, replyTo: null },
    };
  });
  await database.pool.query(
    `with row as materialized (
       select * from jsonb_to_recordset($1::jsonb) as x(workspace_id text, id text, type text, status text, created_at timestamptz,
         own_address text, own_domain text, message_id text, subject text, base_subject text, from_address text, from_text text,
         to_addresses text[], date timestamptz, is_read boolean, is_archived boolean, in_reply_to text[], reference_ids text[],
         addresses jsonb)),
     stored as (
       insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject,
         from_address, from_text, to_addresses, cc_addresses, preview, date, is_read, is_archived)
       select workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject,
         from_address, from_text, to_addresses, '{}', '', date, is_read, is_archived from row)
     insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, attachments, parser_version)
     select workspace_id, id, '[]', addresses, in_reply_to, reference_ids, '[]', 1 from row`,
    [JSON.stringify(rows)],
  );
}

/** `ann@a.test` is shown as `Ann`. */
function readName(address: string): string {
  return address.charAt(0).toUpperCase() + address.slice(1).split('@')[0];
}
