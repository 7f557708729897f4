import type pg from 'pg';
import type { EmailType } from '../../../core/emails/email-status.ts';
import type { Mailbox } from '../../../core/mime/address.ts';
import type { ThreadReason } from '../../../core/threads/threading.ts';
import { type ClaimedRow, claimedColumns, type UnthreadedEmail, unthreadedEmail } from './thread-claim.ts';

/**
 * Returns the existing thread for each id that belongs to the workspace, keyed by the requested id; the id of a merged thread leads to the
 * surviving one.
 */
export async function resolveThreads(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Map<string, string>> {
  const places = await resolvePlaces(client, workspaceId, threadIds);
  return new Map([...places].map(([asked, { id }]) => [asked, id]));
}

/** Like resolveThreads, with whether each thread is in the trash. */
export async function resolvePlaces(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Map<string, { id: string; isTrashed: boolean }>> {
  const { rows } = await client.query<{ asked: string; id: string; isTrashed: boolean }>({
    name: 'thread-resolve',
    text: `
      select w.id as asked, t.id, t.trashed_at is not null as "isTrashed" from unnest($2::text[]) as w(id)
      left join thread_alias a on a.workspace_id = $1 and a.alias_id = w.id
      join thread t on t.workspace_id = $1 and t.id = case when a.thread_id is null then w.id else a.thread_id end`,
    values: [workspaceId, threadIds],
  });
  return new Map(rows.map(({ asked, ...place }) => [asked, place]));
}

/** An email and its thread; null: scheduled mail and mail that just arrived have none. */
export interface PlacedEmail {
  id: string;
  type: EmailType;
  threadId: string | null;
}

/** Returns those of the emails that belong to the workspace, locked in id order. */
export async function lockPlaces(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<PlacedEmail[]> {
  const { rows } = await client.query<{ id: string; type: EmailType; thread_id: string | null }>({
    name: 'thread-move-lock',
    text: `select e.id, e.type, e.thread_id from email e where e.workspace_id = $1 and e.id = any ($2::text[])
           order by e.id for no key update`,
    values: [workspaceId, emailIds],
  });
  return rows.map((row) => ({ id: row.id, type: row.type, threadId: row.thread_id }));
}

/** Emails that change threads. They are locked. */
export interface MovedEmail extends UnthreadedEmail {
  threadId: string;
}

/** Returns what threading knows about emails that have a thread. */
export async function readMoved(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<MovedEmail[]> {
  const { rows } = await client.query<ClaimedRow & { thread_id: string }>({
    name: 'thread-move-read',
    text: `select ${claimedColumns}, e.thread_id
           from email e left join email_content c on c.workspace_id = $1 and c.email_id = e.id
           where e.workspace_id = $1 and e.id = any ($2::text[]) order by e.thread_at, e.id`,
    values: [workspaceId, emailIds],
  });
  return rows.map((row) => ({ ...unthreadedEmail(row), threadId: row.thread_id }));
}

/** What moves from some threads to another. */
export interface Move {
  emailIds: readonly string[];
  sourceIds: readonly string[];
  targetId: string;
  /** msg-ids that lead to that thread from now on */
  keys: readonly string[];
  /** why the emails are in it from now on */
  reason: ThreadReason | 'manual';
}

/** Moves emails, their subject edges and the msg-ids to the target. Positions are null until it is renumbered. */
export async function moveEmails(client: pg.ClientBase, workspaceId: string, move: Move): Promise<void> {
  await client.query({
    name: 'thread-move-emails',
    text: `
      with keys as (
        update thread_message_id k set thread_id = $4
        where k.workspace_id = $1 and k.message_id = any ($5::text[]) and k.thread_id = any ($3::text[])
      ), anchors as (
        update thread_subject s set thread_id = $4
        where s.workspace_id = $1 and s.thread_id = any ($3::text[]) and s.email_id = any ($2::text[])
      )
      update email e set thread_id = $4, thread_reason = $6, thread_position = null, updated_at = (select postroom_now())
      where e.workspace_id = $1 and e.id = any ($2::text[])`,
    values: [workspaceId, move.emailIds, move.sourceIds, move.targetId, move.keys, move.reason],
  });
}

/** A msg-id, as written in messages, that a message of the thread has or refers to. */
export interface KnownId {
  threadId: string;
  messageId: string;
}

/** Returns which of the msg-ids messages of the threads have, except for the excluded emails. */
export async function findBorne(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  messageIds: readonly string[],
  excludedIds: readonly string[],
): Promise<KnownId[]> {
  if (messageIds.length === 0) return [];
  const { rows } = await client.query<KnownId>({
    name: 'thread-borne',
    text: `select distinct e.thread_id as "threadId", e.message_id as "messageId" from email e
           where e.workspace_id = $1 and e.message_id = any ($3::text[]) and e.thread_id = any ($2::text[]) and e.id <> all ($4::text[])`,
    values: [workspaceId, threadIds, messageIds, excludedIds],
  });
  return rows;
}

/** Returns which of the msg-ids messages of the threads refer to, except for the excluded emails. Reads all references of the threads. */
export async function findReferred(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  messageIds: readonly string[],
  excludedIds: readonly string[],
): Promise<KnownId[]> {
  if (messageIds.length === 0) return [];
  const { rows } = await client.query<KnownId>({
    name: 'thread-referred',
    // As linksOf of core/threads/threading.ts: of In-Reply-To the first valid id counts.
    text: `
      select distinct e.thread_id as "threadId", r.id as "messageId"
      from email e join email_content c on c.workspace_id = $1 and c.email_id = e.id
      cross join lateral (
        select unnest(c.reference_ids) as id
        union all (select i.id from unnest(c.in_reply_to) with ordinality as i(id, place) where i.id like '%@%' order by i.place limit 1)) r
      where e.workspace_id = $1 and e.thread_id = any ($2::text[]) and e.id <> all ($4::text[]) and r.id = any ($3::text[])`,
    values: [workspaceId, threadIds, messageIds, excludedIds],
  });
  return rows;
}

/**
 * Returns the mailboxes in the messages of each thread, in order of first appearance; the address that received an email comes after those
 * of its fields.
 */
export async function readMailboxes(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Map<string, Mailbox[]>> {
  if (threadIds.length === 0) return new Map();
  const { rows } = await client.query<Mailbox & { threadId: string }>({
    name: 'thread-mailboxes',
    text: `
      select b."threadId", b.name, b.address from (
        select distinct on (e.thread_id, m.address, m.name)
          e.thread_id as "threadId", m.name, m.address, e.thread_at, e.id, m.field, m.place
        from email e left join email_content c on c.workspace_id = $1 and c.email_id = e.id
        cross join lateral (
          select f.field, a.place, a.box->>'name' as name, a.box->>'address' as address
          from (values (1, c.addresses->'from'), (2, c.addresses->'to'), (3, c.addresses->'cc')) as f(field, list)
          cross join lateral jsonb_array_elements(
            case jsonb_typeof(f.list->'addresses') when 'array' then f.list->'addresses' else '[]' end) with ordinality as a(box, place)
          union all select 4, 1, null, e.own_address) m
        where e.workspace_id = $1 and e.thread_id = any ($2::text[])
        order by e.thread_id, m.address, m.name, e.thread_at, e.id, m.field, m.place) b
      order by b.thread_at, b.id, b.field, b.place`,
    values: [workspaceId, threadIds],
  });
  return Map.groupBy(rows, (row) => row.threadId);
}
