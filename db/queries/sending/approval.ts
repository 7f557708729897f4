import { sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { ApprovalDecision, ApprovalRule } from '../../../core/sending/approval.ts';
import type { Tables } from '../../entities/tables.ts';
import { countEmailsSql } from '../emails/email-counter.ts';
import type { Sender } from './scheduled-change.ts';

/** Why an email waits for approval, or waited, and what became of it. */
export interface Approval {
  emailId: string;
  rule: ApprovalRule;
  /** whose send policy asked for it */
  policyOf: 'key' | 'address';
  /** the API key that sent it, and its name at that time; null: a person, or an action of a webhook */
  sentByKeyId: string | null;
  sentBy: string | null;
  requestedAt: Date;
  /** null: it no longer waits */
  expiresAt: Date | null;
  /** null: it waits */
  decision: ApprovalDecision | null;
  decidedAt: Date | null;
  decidedByKeyId: string | null;
  /** name of the key, or email address of the person, at that time */
  decidedBy: string | null;
  reason: string | null;
}

/** Returns those of the emails of the workspace that ever waited for approval, unordered. */
export async function findApprovals(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Approval[]> {
  const { rows } = await sql<Approval>`
    select a.email_id as "emailId", a.rule, a.policy_of as "policyOf", a.sent_by_key_id as "sentByKeyId", a.sent_by as "sentBy",
      a.requested_at as "requestedAt", a.expires_at as "expiresAt", a.decision, a.decided_at as "decidedAt",
      a.decided_by_key_id as "decidedByKeyId", a.decided_by as "decidedBy", a.reason
    from approval a where a.workspace_id = ${workspaceId} and a.email_id = any (${emailIds}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** Returns the thread of the message that each email names last in In-Reply-To or References and that has one, by email id. */
export async function findRepliedThreads(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ emailId: string; threadId: string }>`
    select distinct on (c.email_id) c.email_id as "emailId", k.thread_id as "threadId"
    from email_content c cross join lateral unnest(c.reference_ids || c.in_reply_to) with ordinality as r(message_id, place)
    join thread_message_id k on k.workspace_id = ${workspaceId} and k.message_id = r.message_id
    where c.workspace_id = ${workspaceId} and c.email_id = any (${emailIds}::text[]) order by c.email_id, r.place desc`.execute(
    transaction,
  );
  return new Map(rows.map(({ emailId, threadId }) => [emailId, threadId]));
}

/** A decision about an email that waits. */
export interface Decision {
  decision: 'approved' | 'rejected';
  by: Sender;
  reason: string | null;
}

/** What decides about a decision. */
interface ApprovalState extends Pick<Approval, 'decision' | 'decidedBy' | 'reason'> {
  /** whether the key that decides sent the email, or one of the two keys was created with the other, or both with a third, at any remove */
  isOfFamily: boolean;
  /** whether who decides still may */
  mayDecide: boolean;
}

/** Returns the state of an email which waits for approval, or waited; undefined: it never did. The caller has locked the email. */
export async function readApprovalState(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  by: Sender,
): Promise<ApprovalState | undefined> {
  const { rows } = await sql<ApprovalState>`
    select a.decision, a.decided_by as "decidedBy", a.reason,
      coalesce(a.sent_by_key_id = ${by.keyId} or exists (
        select from api_keys_of(${workspaceId}) s join api_keys_of(${workspaceId}) d on d.family_id = s.family_id
        where s.id = a.sent_by_key_id and d.id = ${by.keyId}), false) as "isOfFamily",
      ${by.keyId === null && by.personId === null} or approver_now(${workspaceId}, ${by.keyId}, ${by.personId}) as "mayDecide"
    from approval a where a.workspace_id = ${workspaceId} and a.email_id = ${emailId}`.execute(transaction);
  return rows[0];
}

/**
 * Records the decision about a locked email that waits, with the name of who decides, and gives the email its new status: rejected, or
 * scheduled at `at`. Returns that name and the time of the decision.
 */
export async function decideApproval(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  { decision, by, reason }: Decision,
  at: Date | null,
): Promise<{ decidedBy: string; decidedAt: Date }> {
  const status = decision === 'approved' ? 'scheduled' : 'rejected';
  const { rows } = await sql<{ decidedBy: string; decidedAt: Date }>`
    with decided as (
      update approval a set decision = ${decision}, expires_at = null, decided_at = ${NOW}, decided_by_key_id = ${by.keyId},
        decided_by = case when ${by.keyId}::text is null then coalesce(
            (select n.email from members_named(${workspaceId}, array[${by.personId}::text]) n where n.person_id = ${by.personId}),
            (select u.email from account_of(${workspaceId}) u))
          else coalesce((select k.name from api_keys_of(${workspaceId}) k where k.id = ${by.keyId}), ${by.keyId}) end, reason = ${reason}
      where a.workspace_id = ${workspaceId} and a.email_id = ${emailId} and a.decision is null
      returning a.decided_by, a.decided_at
    ), before as materialized (
      select * from email where workspace_id = ${workspaceId} and id = ${emailId} and status = 'awaiting_approval' and exists (select from decided)
    ), changed as (
      update email e set status = ${status}, updated_at = d.decided_at, scheduled_at = coalesce(${at}, e.scheduled_at)
      from before b, decided d where e.workspace_id = ${workspaceId} and e.id = b.id returning e.*
    ), moved as (
      select workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived, -1 as delta from before
      union all
      select workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived, 1 from changed
    ), counted as (${sql.raw(countEmailsSql('moved'))})
    select d.decided_by as "decidedBy", d.decided_at as "decidedAt" from decided d where exists (select from changed)`.execute(
    transaction,
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`the email ${emailId} does not wait for approval`);
  return row;
}

/** An email that waited for approval too long. */
export interface ExpiredEmail {
  workspaceId: string;
  emailId: string;
}

/**
 * Rejects up to `limit` emails of all workspaces whose time to wait is over, and returns them in the order of workspace ids. Emails that are locked,
 * by
 * someone who decides, are skipped. The email is locked before its approval, as everywhere.
 */
export async function takeExpiredApprovals(client: pg.ClientBase, limit: number): Promise<ExpiredEmail[]> {
  const { rows } = await client.query<ExpiredEmail>({
    name: 'approval-take-expired',
    text: TAKE_EXPIRED,
    values: [limit],
  });
  return rows;
}

const NOW = sql`(select date_trunc('milliseconds', postroom_now()))`;

const TAKE_EXPIRED = `
  with due as materialized (
    select e.workspace_id, e.id from approval a join email e on e.workspace_id = a.workspace_id and e.id = a.email_id
    where a.expires_at <= (select postroom_now()) and e.status = 'awaiting_approval'
    order by a.expires_at limit $1 for no key update of e skip locked
  ), before as materialized (
    select e.* from email e join due d on d.workspace_id = e.workspace_id and d.id = e.id where e.status = 'awaiting_approval'
  ), expired as (
    update approval a set decision = 'expired', expires_at = null, decided_at = (select date_trunc('milliseconds', postroom_now()))
    from before b where a.workspace_id = b.workspace_id and a.email_id = b.id returning 1
  ), changed as (
    update email e set status = 'rejected', updated_at = (select postroom_now())
    from before b where e.workspace_id = b.workspace_id and e.id = b.id returning e.*
  ), moved as (
    select workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived, -1 as delta from before
    union all
    select workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived, 1 from changed
  ), counted as (${countEmailsSql('moved')} returning 1)
  select c.workspace_id as "workspaceId", c.id as "emailId" from changed c
  where (select count(*) from expired) + (select count(*) from counted) >= 0 order by c.workspace_id, c.id`;
