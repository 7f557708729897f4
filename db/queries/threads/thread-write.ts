import type pg from 'pg';
import type { SubjectAnchor, ThreadReason } from '../../../core/threads/threading.ts';
import type { FeedEvent } from './thread-events.ts';
import { type NearestReplies, type NearestRow, type Probe, probesJson, toNearest } from './thread-lookup.ts';
import { type ThreadGain, threadRow } from './thread-row.ts';

/** The thread and position of one email. */
export interface Assignment {
  emailId: string;
  threadId: string;
  /** 0-based; null until the thread is renumbered */
  position: number | null;
  reason: ThreadReason;
}

/** An anchor with its email and that email's thread. */
interface PlacedAnchor {
  emailId: string;
  threadId: string;
  anchor: SubjectAnchor;
}

/** What a batch changes; absent parts do not change. */
export interface ThreadChange {
  /** received emails then wait for the router */
  assignments?: readonly Assignment[];
  /** which thread knows each msg-id; known ones stay unchanged */
  threadOfKey?: ReadonlyMap<string, string>;
  /** what later subject edges may join */
  anchors?: readonly PlacedAnchor[];
  /** created or updated; their counters are increased */
  threads?: readonly ThreadGain[];
  /** for the feed; the last write of the transaction, because the counter of the feed stays locked until the commit */
  events?: readonly FeedEvent[];
}

/** The change is stored, or replies are near and nothing is stored. */
export type Stored =
  | { isStored: true /** of the feed; null without events */; lastSeq: number | null }
  | { isStored: false; nearest: NearestReplies };

/**
 * Stores what a batch changes, in one statement, unless there are replies near the probes: then it stores nothing and returns those. The
 * caller holds lockThreads.
 */
export async function storeThreads(
  client: pg.ClientBase,
  workspaceId: string,
  change: ThreadChange,
  probes: readonly Probe[] = [],
): Promise<Stored> {
  const { rows } = await client.query<{ last_seq: number | null; replies: NearestRow[] | null }>({
    name: 'thread-store',
    text: 'select last_seq, replies from store_threads($1, $2::jsonb, $3::jsonb)',
    values: [workspaceId, JSON.stringify(changeRows(change)), probesJson(probes)],
  });
  const { last_seq: lastSeq = null, replies = null } = rows[0] ?? {};
  return replies === null ? { isStored: true, lastSeq } : { isStored: false, nearest: toNearest(replies) };
}

/** Creates or updates threads. Must be last except for the events, so that the rows are locked only briefly. */
export async function writeThreads(
  client: pg.ClientBase,
  workspaceId: string,
  threads: readonly ThreadGain[],
): Promise<void> {
  await storeThreads(client, workspaceId, { threads });
}

/** The change as store_threads takes it (db/migrations/0001-initial/threads.sql). */
function changeRows({ assignments = [], threadOfKey, anchors = [], threads = [], events = [] }: ThreadChange) {
  return {
    ...(assignments.length > 0 && {
      assignments: assignments.map(({ emailId, threadId, position, reason }) => ({
        email_id: emailId,
        thread_id: threadId,
        position,
        reason,
      })),
    }),
    ...(threadOfKey !== undefined && threadOfKey.size > 0 && { keys: Object.fromEntries(threadOfKey) }),
    ...(anchors.length > 0 && {
      anchors: anchors.map(({ emailId, threadId, anchor: { subject, participants, isReply, date } }) => ({
        subject,
        participants,
        is_reply: isReply,
        date,
        email_id: emailId,
        thread_id: threadId,
      })),
    }),
    ...(threads.length > 0 && { threads: threads.map(threadRow) }),
    ...(events.length > 0 && { events }),
  };
}

/** A msg-id of a message in the thread. */
export interface BorneKey {
  key: string;
  /** the Message-ID field as written */
  messageId: string;
  threadId: string;
}

/**
 * Assigns msg-ids to the threads whose messages have them, where the thread that knew them has no such message: replies go to the message,
 * wherever others refer to it.
 */
export async function claimKeys(client: pg.ClientBase, workspaceId: string, borne: readonly BorneKey[]): Promise<void> {
  if (borne.length === 0) return;
  await client.query({
    name: 'thread-claim-keys',
    text: `
      update thread_message_id k set thread_id = b.thread_id
      from unnest($2::text[], $3::text[], $4::text[]) as b(key, message_id, thread_id)
      where k.workspace_id = $1 and k.message_id = b.key and not exists (
        select from email e where e.workspace_id = $1 and e.message_id = b.message_id and e.thread_id = k.thread_id)`,
    values: [
      workspaceId,
      borne.map(({ key }) => key),
      borne.map(({ messageId }) => messageId),
      borne.map(({ threadId }) => threadId),
    ],
  });
}

/** The message from which a thread is renumbered; the messages before it keep their positions. */
export interface Renumbering {
  threadId: string;
  fromAt: Date;
  fromEmailId: string;
}

/** The first and last positions of a thread. */
export interface ThreadEnds {
  threadId: string;
  createdAt: Date;
  rootMessageId: string;
  baseSubject: string;
  latestEmailId: string;
  lastMessageAt: Date;
}

/**
 * Renumbers the tails of threads chronologically, without gap or repeat; returns the positions of the requested emails. The start of a tail
 * is computed once per thread: PostgreSQL, which assumes that a user without statistics is small, did it once per message.
 */
export async function renumberThreads(
  client: pg.ClientBase,
  workspaceId: string,
  renumberings: readonly Renumbering[],
  emailIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await client.query<{ id: string; thread_position: number }>({
    name: 'thread-renumber',
    text: `
      with given as materialized (
        select r.*, (
          select p.thread_position + 1 from email p
          where p.workspace_id = $1 and p.thread_id = r.thread_id and (p.thread_at, p.id) < (r.from_at, r.from_email_id)
          order by p.thread_at desc, p.id desc limit 1) as first_position
        from unnest($2::text[], $3::timestamptz[], $4::text[]) as r(thread_id, from_at, from_email_id)
      ),
      tail as materialized (
        select e.id, coalesce(g.first_position, 0)
                 + row_number() over (partition by g.thread_id order by e.thread_at, e.id) - 1 as position
        from given g
        join email e on e.workspace_id = $1 and e.thread_id = g.thread_id and (e.thread_at, e.id) >= (g.from_at, g.from_email_id)
      ),
      changed as (
        update email e set thread_position = t.position from tail t
        where e.workspace_id = $1 and e.id = t.id and e.thread_position is distinct from t.position
        returning e.id, e.thread_position
      )
      select id, thread_position from changed where id = any ($5::text[])`,
    values: [
      workspaceId,
      renumberings.map((renumbering) => renumbering.threadId),
      renumberings.map((renumbering) => renumbering.fromAt.toISOString()),
      renumberings.map((renumbering) => renumbering.fromEmailId),
      emailIds,
    ],
  });
  return new Map(rows.map((row) => [row.id, row.thread_position]));
}

/** Returns the first and the last message of each thread. */
export async function readThreadEnds(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<ThreadEnds[]> {
  const { rows } = await client.query<EndsRow>({
    name: 'thread-ends',
    text: `
      select t.id, f.thread_at as created_at, f.message_id, f.base_subject, l.id as latest_email_id, l.thread_at as last_message_at
      from unnest($2::text[]) as t(id)
      cross join lateral (select e.thread_at, e.message_id, e.base_subject from email e
        where e.workspace_id = $1 and e.thread_id = t.id order by e.thread_at, e.id limit 1) f
      cross join lateral (select e.id, e.thread_at from email e
        where e.workspace_id = $1 and e.thread_id = t.id order by e.thread_at desc, e.id desc limit 1) l`,
    values: [workspaceId, threadIds],
  });
  return rows.map((row) => ({
    threadId: row.id,
    createdAt: row.created_at,
    rootMessageId: row.message_id,
    baseSubject: row.base_subject,
    latestEmailId: row.latest_email_id,
    lastMessageAt: row.last_message_at,
  }));
}

interface EndsRow {
  id: string;
  created_at: Date;
  message_id: string;
  base_subject: string;
  latest_email_id: string;
  last_message_at: Date;
}
