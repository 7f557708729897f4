import type pg from 'pg';
import type { Participants } from '../../../core/threads/thread-participants.ts';
import { neighbourSpan, type Span, type SubjectAnchor, unjoinedSpan } from '../../../core/threads/threading.ts';

/** A thread's row with what joining and numbering need. */
export interface StoredThread {
  id: string;
  /** createdAt of its first message */
  createdAt: Date;
  rootMessageId: string;
  normalizedSubject: string;
  participants: Participants;
  messageCount: number;
  latestEmailId: string;
  lastMessageAt: Date;
}

/** Returns the thread of each msg-id key that some message of the user has or refers to. */
export async function threadsOfKeys(
  client: pg.ClientBase,
  userId: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await client.query<{ message_id: string; thread_id: string }>({
    name: 'thread-of-keys',
    text: `select message_id, thread_id from thread_message_id where user_id = $1 and message_id = any ($2::text[])`,
    values: [userId, keys],
  });
  return new Map(rows.map((row) => [row.message_id, row.thread_id]));
}

/**
 * Returns the threads that contain subject neighbors of each anchored email, by email id. Two index lookups per participant, however many
 * emails have that subject; a reply that finds no reply nearby also skips the plain messages that no reply has joined yet.
 */
export async function threadsOfSubjects(
  client: pg.ClientBase,
  userId: string,
  anchors: ReadonlyMap<string, SubjectAnchor>,
): Promise<Map<string, string[]>> {
  const threads = new Map<string, Set<string>>([...anchors.keys()].map((emailId) => [emailId, new Set()]));
  const probes = [...anchors].flatMap(([emailId, anchor]) =>
    anchor.participants.map((participant) => ({ emailId, anchor, participant })),
  );
  const nearest = await nearestReplies(client, userId, probes);
  const unjoined: SpanProbe[] = [];
  for (const [index, probe] of probes.entries()) {
    const { before, after } = nearest[index] ?? { before: null, after: null };
    for (const reply of [before, after]) if (reply !== null) threads.get(probe.emailId)?.add(reply.threadId);
    if (!probe.anchor.isReply) continue;
    const span = unjoinedSpan(probe.anchor.date, before?.date ?? null, after?.date ?? null);
    if (span !== null) unjoined.push({ ...probe, span });
  }
  for (const { emailId, threadId } of await threadsInSpans(client, userId, unjoined))
    threads.get(emailId)?.add(threadId);
  return new Map([...threads].map(([emailId, ids]) => [emailId, [...ids]]));
}

/** Returns the rows of these threads; unknown ids are left out. */
export async function readThreads(
  client: pg.ClientBase,
  userId: string,
  threadIds: readonly string[],
): Promise<StoredThread[]> {
  if (threadIds.length === 0) return [];
  const { rows } = await client.query<StoredThreadRow>({
    name: 'thread-read',
    text: `select id, created_at, root_message_id, normalized_subject, participant_emails, participant_names, message_count,
                  latest_email_id, last_message_at
           from thread where user_id = $1 and id = any ($2::text[])`,
    values: [userId, threadIds],
  });
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    rootMessageId: row.root_message_id,
    normalizedSubject: row.normalized_subject,
    participants: { emails: row.participant_emails, names: row.participant_names },
    messageCount: row.message_count,
    latestEmailId: row.latest_email_id,
    lastMessageAt: row.last_message_at,
  }));
}

interface StoredThreadRow {
  id: string;
  created_at: Date;
  root_message_id: string;
  normalized_subject: string;
  participant_emails: string[];
  participant_names: string[];
  message_count: number;
  latest_email_id: string;
  last_message_at: Date;
}

interface Probe {
  emailId: string;
  anchor: SubjectAnchor;
  participant: string;
}

interface SpanProbe extends Probe {
  span: Span;
}

interface FoundReply {
  date: Date;
  threadId: string;
}

/** Returns the nearest replies before (or at) and after (or at) each probe within the window, in the order of the probes. */
async function nearestReplies(
  client: pg.ClientBase,
  userId: string,
  probes: readonly Probe[],
): Promise<{ before: FoundReply | null; after: FoundReply | null }[]> {
  if (probes.length === 0) return [];
  const spans = probes.map((probe) => neighbourSpan(probe.anchor.date));
  const { rows } = await client.query<NearestRow>({
    name: 'thread-nearest-replies',
    text: `
      select b.date as before_date, b.thread_id as before_thread_id, a.date as after_date, a.thread_id as after_thread_id
      from unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[])
             with ordinality as p(subject, participant, from_at, at, to_at, place)
      left join lateral (
        select s.date, s.thread_id from thread_subject s
        where s.user_id = $1 and s.base_subject_sha256 = sha256(convert_to(p.subject, 'UTF8')) and s.participant = p.participant
          and s.is_reply = true and s.date between p.from_at and p.at
        order by s.date desc limit 1) b on true
      left join lateral (
        select s.date, s.thread_id from thread_subject s
        where s.user_id = $1 and s.base_subject_sha256 = sha256(convert_to(p.subject, 'UTF8')) and s.participant = p.participant
          and s.is_reply = true and s.date between p.at and p.to_at
        order by s.date limit 1) a on true
      order by p.place`,
    values: [
      userId,
      probes.map((probe) => probe.anchor.subject),
      probes.map((probe) => probe.participant),
      spans.map((span) => span.from.toISOString()),
      probes.map((probe) => probe.anchor.date.toISOString()),
      spans.map((span) => span.to.toISOString()),
    ],
  });
  return rows.map((row) => ({
    before: foundReply(row.before_date, row.before_thread_id),
    after: foundReply(row.after_date, row.after_thread_id),
  }));
}

interface NearestRow {
  before_date: Date | null;
  before_thread_id: string | null;
  after_date: Date | null;
  after_thread_id: string | null;
}

function foundReply(date: Date | null, threadId: string | null): FoundReply | null {
  return date === null || threadId === null ? null : { date, threadId };
}

/** Returns the threads of plain messages (not replies) in the time span of each probe. */
async function threadsInSpans(
  client: pg.ClientBase,
  userId: string,
  probes: readonly SpanProbe[],
): Promise<{ emailId: string; threadId: string }[]> {
  if (probes.length === 0) return [];
  const { rows } = await client.query<{ email_id: string; thread_id: string }>({
    name: 'thread-in-spans',
    text: `
      select distinct p.email_id, s.thread_id
      from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) as p(email_id, subject, participant, from_at, to_at)
      join thread_subject s on s.user_id = $1 and s.base_subject_sha256 = sha256(convert_to(p.subject, 'UTF8'))
        and s.participant = p.participant and s.is_reply = false and s.date between p.from_at and p.to_at`,
    values: [
      userId,
      probes.map((probe) => probe.emailId),
      probes.map((probe) => probe.anchor.subject),
      probes.map((probe) => probe.participant),
      probes.map((probe) => probe.span.from.toISOString()),
      probes.map((probe) => probe.span.to.toISOString()),
    ],
  });
  return rows.map((row) => ({ emailId: row.email_id, threadId: row.thread_id }));
}
