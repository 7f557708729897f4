import { randomBytes } from 'node:crypto';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import { insertReceivedMail, type ReceivedMail } from './received-mail.ts';
import type { TestMailbox } from './routing-rows.ts';

export interface ThreadedMailOptions {
  /** joins that thread; a new one unless told */
  threadId?: string;
  /** of a new thread */
  labels?: readonly string[];
  /** further header fields, with lower-case names */
  headers?: readonly (readonly [string, string])[];
  /** of the envelope; that of the sender unless told */
  reversePath?: string;
  /** of From; `ann@sender.test` unless told */
  fromAddress?: string;
  /** of the text body; 200 unless told */
  textBytes?: number;
}

/** Inserts a received mail with its thread and its reception, ready to be routed. */
export async function insertThreadedMail(
  database: Database,
  mailbox: Pick<TestMailbox, 'workspaceId' | 'domainId' | 'addressId' | 'address'>,
  options: ThreadedMailOptions = {},
): Promise<ReceivedMail & { threadId: string }> {
  const { labels = [], headers = [], reversePath = 'ann@sender.test' } = options;
  const { workspaceId, domainId, address } = mailbox;
  const threadId = options.threadId ?? makeIdentifier('thread', new Date(), randomBytes(10));
  const { textBytes = 200 } = options;
  const [mail] = await insertReceivedMail(database, mailbox, { textBytes });
  if (mail === undefined) throw new Error('no mail was inserted');
  const { emailId, messageId, rawId } = mail;
  await database.pool.query(
    `with thread_row as (
       insert into thread as t (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
         message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, labels, label_keys, created_at)
       values ($1, $2, $4, 'Hello', '{ann@sender.test}', '{Ann}', 'hello', 1, 1, 1, 0, $3, now(), $5, $5, now())
       on conflict (workspace_id, id) do update set message_count = t.message_count + 1, received_count = t.received_count + 1,
         unread_count = t.unread_count + 1, latest_email_id = $3
     ), key_row as (
       insert into thread_message_id (workspace_id, message_id, thread_id) values ($1, $4, $2)
     ), content as (
       update email_content set headers = headers || $6::jsonb where workspace_id = $1 and email_id = $3
     ), reception_row as (
       insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
         trace_fields, accepted_at, parsed_at)
       values ($1, $3, $7, $8, $9, $9, $10, '127.0.0.1', 'sender.test', false, '', now(), now())
     )
     update email set thread_id = $2, thread_position = (select count(*) from email where workspace_id = $1 and thread_id = $2)
     where workspace_id = $1 and id = $3`,
    [workspaceId, threadId, emailId, messageId, labels, JSON.stringify(headers), rawId, reversePath, address, domainId],
  );
  if (options.fromAddress !== undefined)
    await database.pool.query(
      `with content as (
         update email_content set addresses = jsonb_set(addresses, '{from}', $3::jsonb) where workspace_id = $1 and email_id = $2
       )
       update email set from_address = $4 where workspace_id = $1 and id = $2`,
      [workspaceId, emailId, JSON.stringify(oneMailbox(options.fromAddress)), options.fromAddress],
    );
  return { ...mail, threadId };
}

function oneMailbox(address: string) {
  return { text: address, addresses: [{ name: null, address }] };
}
