import { sql, type Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { EmailType } from '../../../core/emails/email-status.ts';
import type { Tables } from '../../entities/tables.ts';

/** An email that a webhook's response acts on. */
export interface ActedEmail {
  type: EmailType;
  /** the address that received it, or that sent it */
  ownAddress: string;
  fromAddress: string;
  messageId: string;
  rawId: string | null;
  /** lower-case names and decoded values */
  headers: [name: string, value: string][];
  /** of the envelope; empty: the null return path; null: unknown */
  returnPath: string | null;
}

/** Null when the workspace has no such email. */
export async function readActedEmail(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<ActedEmail | null> {
  const { rows } = await sql<ActedEmail>`
    select e.type, e.own_address as "ownAddress", e.from_address as "fromAddress", e.message_id as "messageId", e.raw_id as "rawId",
      coalesce(c.headers, '[]') as headers, p.reverse_path as "returnPath"
    from email e
    left join email_content c on c.workspace_id = ${workspaceId} and c.email_id = e.id
    left join reception p on p.workspace_id = ${workspaceId} and p.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.id = ${emailId}`.execute(transaction);
  return rows[0] ?? null;
}

/** An endpoint whose responses run actions now: the API key that set it up (null: a person), and what it may do (null: everything). */
export interface ActingEndpoint {
  setByKeyId: string | null;
  grantedScopes: readonly Scope[] | null;
}

/** Null when the workspace has no such endpoint, or it is disabled or allows no actions. */
export async function readActingEndpoint(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<ActingEndpoint | null> {
  const { rows } = await sql<ActingEndpoint>`
    select e.set_by_key_id as "setByKeyId", e.granted_scopes as "grantedScopes" from endpoint e
    where e.workspace_id = ${workspaceId} and e.id = ${endpointId} and e.is_active and e.allow_actions`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

/** Counts the automatic replies in a thread within the last hour; the caller holds THREADS_LOCK. */
export async function countAutomaticReplies(
  transaction: Transaction<Tables>,
  workspaceId: string,
  threadId: string,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total from email e
    where e.workspace_id = ${workspaceId} and e.thread_id = ${threadId} and e.automatic_reply_to is not null
      and e.created_at > (select postroom_now()) - interval '1 hour'`.execute(transaction);
  return rows[0]?.total ?? 0;
}

/** Counts the automatic replies to a correspondent (readCorrespondent) within the last day, in any thread; the caller holds THREADS_LOCK. */
export async function countAutomaticRepliesTo(
  transaction: Transaction<Tables>,
  workspaceId: string,
  correspondent: string,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total from email e
    where e.workspace_id = ${workspaceId} and e.automatic_reply_to = ${correspondent}
      and e.created_at > (select postroom_now()) - interval '1 day'`.execute(transaction);
  return rows[0]?.total ?? 0;
}

/** Marks an email that this transaction stored as an automatic reply to a correspondent. */
export async function markAutomaticReply(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { emailId, correspondent }: { emailId: string; correspondent: string },
): Promise<void> {
  await sql`update email set automatic_reply_to = ${correspondent} where workspace_id = ${workspaceId} and id = ${emailId}`.execute(
    transaction,
  );
}
