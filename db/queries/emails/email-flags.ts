import { sql, type Transaction } from 'kysely';
import type { EmailType } from '../../../core/emails/email-status.ts';
import type { Tables } from '../../entities/tables.ts';
import { countEmailsSql } from './email-counter.ts';

/** The flags of received mail that a user may change; undefined leaves one unchanged. */
export interface EmailFlags {
  isRead?: boolean | undefined;
  isArchived?: boolean | undefined;
}

/** An email before its flags are changed. */
export interface LockedEmail {
  id: string;
  type: EmailType;
  isRead: boolean;
  isArchived: boolean;
  threadId: string | null;
  isTrashed: boolean;
}

/**
 * Locks those of the emails that belong to the workspace until the transaction ends, so that concurrent changes are counted one after the other.
 */
export async function lockEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<LockedEmail[]> {
  return transaction
    .selectFrom('email')
    .select(['id', 'type', 'is_read as isRead', 'is_archived as isArchived', 'thread_id as threadId'])
    .select(sql<boolean>`trashed_at is not null`.as('isTrashed'))
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`id = any (${emailIds}::text[])`)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Sets flags of locked emails that are not in the trash, and updates the counters of lists and threads. Returns the time of the change. */
export async function setFlags(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
  flags: EmailFlags,
): Promise<Date> {
  const { isRead = null, isArchived = null } = flags;
  const { rows } = await sql<{ updated_at: Date }>`
    with previous as materialized (
      select e.id, e.is_read, e.is_archived from email e
      where e.workspace_id = ${workspaceId} and e.id = any (${emailIds}::text[]) and e.trashed_at is null
    ),
    changed as (
      update email e set is_read = coalesce(${isRead}::boolean, e.is_read),
        is_archived = coalesce(${isArchived}::boolean, e.is_archived), updated_at = (select postroom_now()),
        read_at = case when coalesce(${isRead}::boolean, e.is_read) then coalesce(e.read_at, (select postroom_now())) end
      from previous f where e.workspace_id = ${workspaceId} and e.id = f.id
      returning e.*, f.is_read as was_read, f.is_archived as was_archived
    ),
    moved as (
      select workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived, 1 as delta from changed
      union all
      select workspace_id, created_at, own_address, own_domain, type, status, was_read, was_archived, -1 from changed
    ),
    counted as (${sql.raw(countEmailsSql('moved'))}),
    by_thread as (
      select thread_id, sum(is_read::int - was_read::int)::int as read, sum(is_archived::int - was_archived::int)::int as archived
      from changed where thread_id is not null group by thread_id order by thread_id
    ),
    threaded as (
      update thread t set updated_at = (select postroom_now()), unread_count = t.unread_count - b.read,
        archived_count = t.archived_count + b.archived
      from by_thread b where t.workspace_id = ${workspaceId} and t.id = b.thread_id
    )
    select updated_at from changed limit 1`.execute(transaction);
  return rows[0]?.updated_at ?? new Date(Number.NaN);
}

/** Appends to the workspace's event feed; must be last in its transaction. Returns the last sequence number. */
export async function appendEvents(
  transaction: Transaction<Tables>,
  workspaceId: string,
  events: readonly {
    id: string;
    kind: string;
    emailId?: string;
    threadId?: string;
    endpointId?: string;
    data?: unknown;
  }[],
): Promise<number> {
  const { rows } = await sql<{ last_seq: number }>`
    select append_events(${workspaceId}, ${JSON.stringify(events)}::jsonb) as last_seq`.execute(transaction);
  return Number(rows[0]?.last_seq);
}
