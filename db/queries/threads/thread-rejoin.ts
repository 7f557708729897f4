import type pg from 'pg';
import type { ThreadReason } from '../../../core/threads/threading.ts';

/** The result of parsing an email, as far as threading uses it. */
export interface EmailDraft {
  emailId: string;
  messageId: string;
  subject: string;
  baseSubject: string;
  /** ISO 8601 */
  date: string | null;
  /** see core/mime/address.ts */
  addresses: unknown;
  inReplyTo: readonly string[];
  references: readonly string[];
}

/** Writes drafts where threading reads them, within a transaction that is rolled back. */
export async function applyDrafts(
  client: pg.ClientBase,
  workspaceId: string,
  drafts: readonly EmailDraft[],
): Promise<void> {
  if (drafts.length === 0) return;
  await client.query({
    name: 'thread-apply-drafts',
    text: `
      with g as materialized (
        select * from json_to_recordset($2) as g ("emailId" text, "messageId" text, subject text, "baseSubject" text, date timestamptz,
          addresses jsonb, "inReplyTo" text[], "references" text[])
      ), content as (
        update email_content c set addresses = g.addresses, in_reply_to = g."inReplyTo", reference_ids = g."references"
        from g where c.workspace_id = $1 and c.email_id = g."emailId"
      )
      update email e set message_id = g."messageId", subject = g.subject, base_subject = g."baseSubject", date = g.date
      from g where e.workspace_id = $1 and e.id = g."emailId"`,
    values: [workspaceId, JSON.stringify(drafts)],
  });
}

/** Removes from an email's thread what later subject edges may join. */
export async function removeAnchors(
  client: pg.ClientBase,
  workspaceId: string,
  email: { emailId: string; threadId: string },
): Promise<void> {
  await client.query({
    name: 'thread-remove-anchors',
    text: 'delete from thread_subject s where s.workspace_id = $1 and s.thread_id = $2 and s.email_id = $3',
    values: [workspaceId, email.threadId, email.emailId],
  });
}

/** Returns those of the emails that their user placed by hand. */
export async function findManual(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'thread-find-manual',
    text: `select e.id from email e where e.workspace_id = $1 and e.id = any ($2::text[]) and e.thread_reason = 'manual'`,
    values: [workspaceId, emailIds],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Sets why an email is in its thread. */
export async function setThreadReason(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
  reason: ThreadReason | 'manual',
): Promise<void> {
  await client.query({
    name: 'thread-set-reason',
    text: 'update email e set thread_reason = $3 where e.workspace_id = $1 and e.id = $2',
    values: [workspaceId, emailId, reason],
  });
}
