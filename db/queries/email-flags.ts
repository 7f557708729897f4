import { sql, type Transaction } from 'kysely';
import type { EmailType, Tables } from '../tables.ts';
import { countEmailsSql } from './email-counter.ts';

/** What a user may change on received mail; undefined leaves it. */
export interface EmailFlags {
  isRead?: boolean | undefined;
  isArchived?: boolean | undefined;
}

/** The email as it was; `for update`, so that two changes count one after the other. */
export interface LockedEmail {
  type: EmailType;
  isRead: boolean;
  isArchived: boolean;
  threadId: string | null;
}

/** Locks the email until the transaction ends; null when the user has none of that id. */
export async function lockEmail(
  transaction: Transaction<Tables>,
  userId: string,
  emailId: string,
): Promise<LockedEmail | null> {
  const row = await transaction
    .selectFrom('email')
    .select(['type', 'is_read as isRead', 'is_archived as isArchived', 'thread_id as threadId'])
    .where('user_id', '=', userId)
    .where('id', '=', emailId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Sets flags of a locked email, and with them the counters of lists and of its thread. Answers when it was changed. */
export async function setFlags(
  transaction: Transaction<Tables>,
  userId: string,
  emailId: string,
  before: LockedEmail,
  flags: EmailFlags,
): Promise<Date> {
  const isRead = flags.isRead ?? before.isRead;
  const isArchived = flags.isArchived ?? before.isArchived;
  const { rows } = await sql<{ updated_at: Date }>`
    with changed as (
      update email e set is_read = ${isRead}, is_archived = ${isArchived}, updated_at = postroom_now(),
        read_at = case when ${isRead} then coalesce(e.read_at, postroom_now()) end
      where e.user_id = ${userId} and e.id = ${emailId}
      returning e.*
    ),
    moved as (
      select user_id, created_at, own_address, own_domain, type, status, is_read, is_archived, 1 as delta from changed
      union all
      select user_id, created_at, own_address, own_domain, type, status, ${before.isRead}, ${before.isArchived}, -1 from changed
    ),
    counted as (${sql.raw(countEmailsSql('moved'))}),
    threaded as (
      update thread t set updated_at = postroom_now(),
        unread_count = t.unread_count + ${Number(before.isRead) - Number(isRead)},
        archived_count = t.archived_count + ${Number(isArchived) - Number(before.isArchived)}
      where t.user_id = ${userId} and t.id = ${before.threadId}
    )
    select updated_at from changed`.execute(transaction);
  return rows[0]?.updated_at ?? new Date(Number.NaN);
}

/** Appends to the user's event feed; stands last in its transaction. Answers the last sequence number. */
export async function appendEvents(
  transaction: Transaction<Tables>,
  userId: string,
  events: readonly { id: string; kind: string; emailId?: string; threadId?: string; data?: unknown }[],
): Promise<number> {
  const { rows } = await sql<{ last_seq: number }>`
    select append_events(${userId}, ${JSON.stringify(events)}::jsonb) as last_seq`.execute(transaction);
  return Number(rows[0]?.last_seq);
}
