import { createHash, randomBytes } from 'node:crypto';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { emailParties } from '../../../core/search/email-parties.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import { countEmailsSql } from '../../../db/queries/emails/email-counter.ts';

/** An email as actors leave it behind; what is not given is made up. */
export interface MailRow {
  workspaceId: string;
  id?: string;
  type?: EmailType;
  status?: EmailStatus;
  createdAt?: Date;
  ownAddress?: string;
  subject?: string;
  from?: string;
  fromName?: string | null;
  to?: string[];
  cc?: string[];
  isRead?: boolean;
  isArchived?: boolean;
  threadId?: string | null;
  threadPosition?: number | null;
  messageId?: string;
  headers?: [string, string][];
  addresses?: unknown;
  references?: string[];
  inReplyTo?: string[];
  text?: string | null;
  html?: string | null;
  attachments?: Attachment[];
  raw?: Buffer;
}

/** Stores emails with content, search text, raw bytes and counters, straight into the tables; returns their ids in order. */
export async function insertMail(database: Database, mails: readonly MailRow[]): Promise<string[]> {
  const ids: string[] = [];
  for (const mail of mails) {
    const createdAt = mail.createdAt ?? new Date();
    const id = mail.id ?? makeIdentifier('email', createdAt, randomBytes(10));
    ids.push(id);
    const ownAddress = mail.ownAddress ?? 'hello@box.test';
    const from = mail.from ?? 'ada@elsewhere.test';
    const subject = mail.subject ?? 'A subject';
    const to = mail.to ?? [ownAddress];
    const type = mail.type ?? 'received';
    const rawId = mail.raw === undefined ? null : `raw_${randomBytes(16).toString('hex')}`;
    if (mail.raw !== undefined)
      await database.pool.query('insert into raw_message (id, packed, sha256, size_bytes) values ($1, $2, $3, $4)', [
        rawId,
        mail.raw,
        createHash('sha256').update(mail.raw).digest(),
        mail.raw.length,
      ]);
    const attachments = mail.attachments ?? [];
    await database.pool.query(
      `with e as (
         insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject, from_name,
           from_address, from_text, to_addresses, cc_addresses, preview, has_attachments, attachment_count, is_read, is_archived,
           thread_id, thread_position, raw_id, recipient)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, 'preview', $15, $16, $17, $18, $19, $20, $21, $6)
         returning *),
       counted as (${countEmailsSql('(select *, 1 as delta from e)')}),
       content as (
         insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, attachments, parser_version)
         select workspace_id, id, $22, $23, $24, $25, $26, $27, $28, 1 from e)
       insert into email_search (workspace_id, email_id, created_at, text, parties) select workspace_id, id, created_at, $29, $30 from e`,
      [
        mail.workspaceId,
        id,
        type,
        mail.status ?? (type === 'scheduled' ? 'scheduled' : 'delivered'),
        createdAt,
        ownAddress,
        ownAddress.split('@')[1],
        mail.messageId ?? `<${id}@elsewhere.test>`,
        subject,
        mail.fromName ?? null,
        from,
        mail.fromName == null ? from : `${mail.fromName} <${from}>`,
        to,
        mail.cc ?? [],
        attachments.length > 0,
        attachments.length,
        mail.isRead ?? false,
        mail.isArchived ?? false,
        mail.threadId ?? null,
        mail.threadPosition ?? null,
        rawId,
        JSON.stringify(mail.headers ?? []),
        JSON.stringify(mail.addresses ?? { from: null, to: null, cc: null, bcc: null, replyTo: null }),
        mail.inReplyTo ?? [],
        mail.references ?? [],
        mail.text ?? null,
        mail.html ?? null,
        JSON.stringify(attachments),
        [subject, from, mail.fromName ?? '', ...to, ...(mail.cc ?? [])].join('\n').toLowerCase(),
        emailParties(type === 'received' ? [from] : [...to, ...(mail.cc ?? [])]),
      ],
    );
  }
  return ids;
}

/** A thread of `count` received mails a minute apart, the last at `lastMessageAt`; the first `readCount` are read. */
export async function insertThread(
  database: Database,
  thread: {
    workspaceId: string;
    id?: string;
    count: number;
    readCount?: number;
    lastMessageAt: Date;
    subject?: string;
    participants?: string[];
    ownAddress?: string;
    text?: string;
  },
): Promise<{ threadId: string; emailIds: string[] }> {
  const { workspaceId, count, lastMessageAt, readCount = 0, subject = 'A subject' } = thread;
  const threadId = thread.id ?? makeIdentifier('thread', lastMessageAt, randomBytes(10));
  const participants = thread.participants ?? ['ada@elsewhere.test', 'hello@box.test'];
  const emailIds = await insertMail(
    database,
    Array.from({ length: count }, (_, position) => ({
      workspaceId,
      subject,
      threadId,
      threadPosition: position,
      isRead: position < readCount,
      createdAt: new Date(lastMessageAt.getTime() - (count - 1 - position) * 60_000),
      ...(thread.ownAddress === undefined ? {} : { ownAddress: thread.ownAddress }),
      ...(thread.text === undefined ? {} : { text: thread.text }),
    })),
  );
  await database.pool.query(
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
       message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
     values ($1, $2, $3, $4, $5, $5, $6, $7, $7, $8, 0, $9, $10, $10)`,
    [
      workspaceId,
      threadId,
      `<${emailIds[0]}@elsewhere.test>`,
      subject,
      participants,
      [subject.toLowerCase(), ...participants].join('\n'),
      count,
      count - readCount,
      emailIds.at(-1),
      lastMessageAt,
    ],
  );
  return { threadId, emailIds };
}
