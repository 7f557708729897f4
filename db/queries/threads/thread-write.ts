import type pg from 'pg';
import type { SubjectAnchor, ThreadReason } from '../../../core/threads/threading.ts';

/** The thread and position of one email. */
export interface Assignment {
  emailId: string;
  threadId: string;
  /** 0-based; null until the thread is renumbered */
  position: number | null;
  reason: ThreadReason;
}

/** Stores the threads and positions of emails; received ones then wait for the router. */
export async function assignEmails(
  client: pg.ClientBase,
  userId: string,
  assignments: readonly Assignment[],
): Promise<void> {
  await client.query({
    name: 'thread-assign',
    text: `
      with assigned as (
        update email e set thread_id = a.thread_id, thread_position = a.position, thread_reason = a.reason
        from unnest($2::text[], $3::text[], $4::integer[], $5::text[]) as a(email_id, thread_id, position, reason)
        where e.user_id = $1 and e.id = a.email_id
        returning e.id, e.type, e.created_at)
      insert into route (user_id, email_id, created_at, threaded_at)
      select $1, id, created_at, (select postroom_now()) from assigned where type = 'received'
      on conflict do nothing`,
    values: [
      userId,
      assignments.map((assignment) => assignment.emailId),
      assignments.map((assignment) => assignment.threadId),
      assignments.map((assignment) => assignment.position),
      assignments.map((assignment) => assignment.reason),
    ],
  });
}

/** Stores which thread knows each msg-id; known ones stay unchanged. */
export async function addKeys(
  client: pg.ClientBase,
  userId: string,
  threadOfKey: ReadonlyMap<string, string>,
): Promise<void> {
  if (threadOfKey.size === 0) return;
  await client.query({
    name: 'thread-add-keys',
    text: `insert into thread_message_id (user_id, message_id, thread_id)
           select $1, k.message_id, k.thread_id from unnest($2::text[], $3::text[]) as k(message_id, thread_id)
           on conflict do nothing`,
    values: [userId, [...threadOfKey.keys()], [...threadOfKey.values()]],
  });
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
export async function claimKeys(client: pg.ClientBase, userId: string, borne: readonly BorneKey[]): Promise<void> {
  if (borne.length === 0) return;
  await client.query({
    name: 'thread-claim-keys',
    text: `
      update thread_message_id k set thread_id = b.thread_id
      from unnest($2::text[], $3::text[], $4::text[]) as b(key, message_id, thread_id)
      where k.user_id = $1 and k.message_id = b.key and not exists (
        select from email e where e.user_id = $1 and e.message_id = b.message_id and e.thread_id = k.thread_id)`,
    values: [
      userId,
      borne.map(({ key }) => key),
      borne.map(({ messageId }) => messageId),
      borne.map(({ threadId }) => threadId),
    ],
  });
}

/** An anchor with its email and that email's thread. */
export interface PlacedAnchor {
  emailId: string;
  threadId: string;
  anchor: SubjectAnchor;
}

/** Stores what later subject edges may join, one row per participant. */
export async function addAnchors(
  client: pg.ClientBase,
  userId: string,
  placed: readonly PlacedAnchor[],
): Promise<void> {
  const rows = placed.flatMap(({ anchor, ...place }) =>
    anchor.participants.map((participant) => ({ ...place, ...anchor, participant })),
  );
  if (rows.length === 0) return;
  await client.query({
    name: 'thread-add-anchors',
    text: `
      insert into thread_subject (user_id, base_subject_sha256, participant, is_reply, date, email_id, thread_id)
      select $1, sha256(convert_to(s.subject, 'UTF8')), s.participant, s.is_reply, s.date, s.email_id, s.thread_id
      from unnest($2::text[], $3::text[], $4::boolean[], $5::timestamptz[], $6::text[], $7::text[])
             as s(subject, participant, is_reply, date, email_id, thread_id)
      on conflict do nothing`,
    values: [
      userId,
      rows.map((row) => row.subject),
      rows.map((row) => row.participant),
      rows.map((row) => row.isReply),
      rows.map((row) => row.date.toISOString()),
      rows.map((row) => row.emailId),
      rows.map((row) => row.threadId),
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
  userId: string,
  renumberings: readonly Renumbering[],
  emailIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await client.query<{ id: string; thread_position: number }>({
    name: 'thread-renumber',
    text: `
      with given as materialized (
        select r.*, (
          select p.thread_position + 1 from email p
          where p.user_id = $1 and p.thread_id = r.thread_id and (p.thread_at, p.id) < (r.from_at, r.from_email_id)
          order by p.thread_at desc, p.id desc limit 1) as first_position
        from unnest($2::text[], $3::timestamptz[], $4::text[]) as r(thread_id, from_at, from_email_id)
      ),
      tail as materialized (
        select e.id, coalesce(g.first_position, 0)
                 + row_number() over (partition by g.thread_id order by e.thread_at, e.id) - 1 as position
        from given g
        join email e on e.user_id = $1 and e.thread_id = g.thread_id and (e.thread_at, e.id) >= (g.from_at, g.from_email_id)
      ),
      changed as (
        update email e set thread_position = t.position from tail t
        where e.user_id = $1 and e.id = t.id and e.thread_position is distinct from t.position
        returning e.id, e.thread_position
      )
      select id, thread_position from changed where id = any ($5::text[])`,
    values: [
      userId,
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
  userId: string,
  threadIds: readonly string[],
): Promise<ThreadEnds[]> {
  const { rows } = await client.query<EndsRow>({
    name: 'thread-ends',
    text: `
      select t.id, f.thread_at as created_at, f.message_id, f.base_subject, l.id as latest_email_id, l.thread_at as last_message_at
      from unnest($2::text[]) as t(id)
      cross join lateral (select e.thread_at, e.message_id, e.base_subject from email e
        where e.user_id = $1 and e.thread_id = t.id order by e.thread_at, e.id limit 1) f
      cross join lateral (select e.id, e.thread_at from email e
        where e.user_id = $1 and e.thread_id = t.id order by e.thread_at desc, e.id desc limit 1) l`,
    values: [userId, threadIds],
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
