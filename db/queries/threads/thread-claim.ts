import pg from 'pg';
import { z } from 'zod';
import type { Mailbox } from '../../../core/mime/address.ts';
import { listMailboxes } from '../../../core/threads/thread-participants.ts';
import type { ThreadableMessage } from '../../../core/threads/threading.ts';
import type { Database } from '../../connection/database.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';
import { type StoredThread, type StoredThreadRow, storedThread } from './thread-lookup.ts';

/** A stored email without a thread, with what its thread's row needs. */
export interface UnthreadedEmail extends ThreadableMessage {
  type: 'received' | 'sent';
  isRead: boolean;
  isArchived: boolean;
  mailboxes: Mailbox[];
}

/** Emails that get their threads in this transaction, with what is stored about their links. */
export interface ClaimedEmails {
  emails: UnthreadedEmail[];
  /** msg-id key → thread that knows it, for the links of the emails and possibly for more ids */
  threadOfKey: ReadonlyMap<string, string>;
  /** the rows of those threads */
  threads: readonly StoredThread[];
}

/**
 * The lock of a workspace's threads. Transactions that join mail hold it alone; transactions that only start threads share it, so that neither misses
 * what the other stores.
 */
export const THREADS_LOCK = 'thread';

/** Locks the threading of the workspace's mail for this transaction; waits for another holder (up to lock_timeout). */
export async function lockThreads(client: pg.ClientBase, workspaceId: string): Promise<void> {
  await client.query({ name: 'thread-lock', text: `select ${lockCall('$1')}`, values: [workspaceId] });
}

/**
 * Claims those of the emails that still have no thread, and locks them for this transaction, which holds lockThreads. Locked rows are left
 * out: the sweep returns to them.
 */
export async function claimUnthreaded(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<ClaimedEmails> {
  const { rows } = await client.query<ClaimRow>({
    name: 'thread-claim',
    text: 'select claim_threads($1, $2::text[]) as claimed',
    values: [workspaceId, emailIds],
  });
  return claimedEmails(rows[0]);
}

/**
 * lockThreads and claimUnthreaded as text, for the round trip that begins the transaction; claimedEmails reads the last row. These must
 * be two statements: the snapshot of the second is then taken after the lock was granted, so it shows what the holder before committed.
 */
export function lockAndClaimSql(workspaceId: string, emailIds: readonly string[]): string {
  const user = pg.escapeLiteral(workspaceId);
  const ids = emailIds.map((id) => pg.escapeLiteral(id)).join(', ');
  return `select ${lockCall(user)}; select claim_threads(${user}, array[${ids}]::text[]) as claimed`;
}

export function claimedEmails(row: ClaimRow | undefined): ClaimedEmails {
  const { emails = [], known = [], threads = [] } = row?.claimed ?? {};
  return { emails: emails.map(unthreadedEmail), threadOfKey: new Map(known), threads: threads.map(storedThread) };
}

export interface ClaimRow {
  claimed: { emails: ClaimedRow[]; known: [key: string, threadId: string][]; threads: StoredThreadRow[] };
}

/**
 * lockThreads of several workspaces as text, for the round trip that begins the transaction. Waits at most `timeoutMs` for each, and then fails
 * with lock_not_available. In the order of their ids, to prevent deadlocks.
 */
export function lockWorkspacesSql(workspaceIds: readonly string[], timeoutMs: number): string {
  const locks = workspaceIds.toSorted().map((workspaceId) => `select ${lockCall(pg.escapeLiteral(workspaceId))}`);
  return [`set local lock_timeout = ${Math.ceil(timeoutMs)}`, ...locks, 'set local lock_timeout to default'].join('; ');
}

function lockCall(user: string): string {
  return `pg_advisory_xact_lock(hashtextextended('${THREADS_LOCK} ' || ${user}, 0))`;
}

/** Returns emails of all workspaces that wait for a thread, oldest first, without excluded ones and any that are set aside. */
export async function findUnthreaded(
  database: Database,
  limit: number,
  excludedEmailIds: readonly string[],
): Promise<{ workspaceId: string; emailId: string }[]> {
  const { rows } = await database.pool.query<{ workspace_id: string; id: string }>({
    name: 'thread-unthreaded',
    text: UNTHREADED_SQL,
    values: [limit, excludedEmailIds],
  });
  return rows.map((row) => ({ workspaceId: row.workspace_id, emailId: row.id }));
}

/** Its plan goes by the index of unthreaded mail from the empty table on (test/db/queries/threads/thread-claim.test.ts). */
export const UNTHREADED_SQL = `
  select e.workspace_id, e.id from email e where e.thread_id is null and e.type <> 'scheduled' and e.kept_apart is null and e.id <> all ($2::text[])
    and ${notSetAsideSql('assign', 'e.workspace_id', 'e.id')}
  order by e.created_at limit $1`;

/** The columns of ClaimedRow, of an email `e` with its content `c`. */
export const claimedColumns = `e.id, e.type, e.thread_at, e.date, e.own_address, e.message_id, e.subject, e.base_subject, e.is_read,
  e.is_archived, c.in_reply_to, c.reference_ids, c.addresses, case when e.reply_address_id is not null then (
    select k.message_id from thread_message_id k
    where k.workspace_id = e.workspace_id and k.message_id = 'reply-address:' || e.reply_address_id limit 1) end as thread_key`;

export interface ClaimedRow {
  id: string;
  type: 'received' | 'sent';
  /** text in JSON */
  thread_at: Date | string;
  date: Date | string | null;
  own_address: string;
  message_id: string;
  subject: string;
  base_subject: string;
  is_read: boolean;
  is_archived: boolean;
  in_reply_to: string[] | null;
  reference_ids: string[] | null;
  /** null: no reply address names its thread, or the thread is gone */
  thread_key: string | null;
  addresses: unknown;
}

const addressList = z.object({ addresses: z.array(z.object({ name: z.string().nullable(), address: z.string() })) });
const participantFields = z.object({
  from: addressList.nullable(),
  to: addressList.nullable(),
  cc: addressList.nullable(),
});

/** Returns what threading knows about an email, from its row. */
export function unthreadedEmail(row: ClaimedRow): UnthreadedEmail {
  const fields = row.addresses === null ? { from: null, to: null, cc: null } : participantFields.parse(row.addresses);
  const mailboxes = listMailboxes(fields);
  const createdAt = new Date(row.thread_at);
  const date = row.date === null ? null : new Date(row.date);
  return {
    emailId: row.id,
    type: row.type,
    messageId: row.message_id,
    inReplyTo: row.in_reply_to ?? [],
    references: row.reference_ids ?? [],
    threadKey: row.thread_key,
    subject: row.subject,
    baseSubject: row.base_subject,
    ownAddress: row.own_address,
    addresses: mailboxes.map((mailbox) => mailbox.address),
    createdAt,
    date: isCredible(date) ? date : createdAt,
    isRead: row.is_read,
    isArchived: row.is_archived,
    mailboxes,
  };
}

/** Dates in the year 0 or 20260 occur; they are ignored. */
export function isCredible(date: Date | null): date is Date {
  const year = date?.getUTCFullYear() ?? Number.NaN;
  return year >= 1970 && year < 10_000;
}
