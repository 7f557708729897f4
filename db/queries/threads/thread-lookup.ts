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
  isTrashed: boolean;
  latestEmailId: string;
  lastMessageAt: Date;
}

/** Returns the thread of each msg-id key that some message of the workspace has or refers to, or that a relay gave to a message. */
export async function threadsOfKeys(
  client: pg.ClientBase,
  workspaceId: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await client.query<{ message_id: string; thread_id: string }>({
    name: 'thread-of-keys',
    text: `select message_id, thread_id from find_threads_of_keys($1, $2::text[])`,
    values: [workspaceId, keys],
  });
  return new Map(rows.map((row) => [row.message_id, row.thread_id]));
}

/**
 * Returns the threads that contain subject neighbors of each anchored email, by email id. Two index lookups per participant, however many
 * emails have that subject; a reply that finds no reply nearby also skips the plain messages that no reply has joined yet.
 */
export async function threadsOfSubjects(
  client: pg.ClientBase,
  workspaceId: string,
  anchors: ReadonlyMap<string, SubjectAnchor>,
): Promise<Map<string, string[]>> {
  const probes = listProbes(anchors);
  const nearest = await nearestReplies(client, workspaceId, probes);
  const threads = threadsOfReplies(probes, nearest);
  const unjoined: SpanProbe[] = [];
  for (const [index, probe] of probes.entries()) {
    if (!probe.anchor.isReply) continue;
    const { before = null, after = null } = nearest.get(index) ?? {};
    const span = unjoinedSpan(probe.anchor.date, before?.date ?? null, after?.date ?? null);
    if (span !== null) unjoined.push({ ...probe, span });
  }
  for (const { emailId, threadId } of await threadsInSpans(client, workspaceId, unjoined))
    threads.set(emailId, [...new Set([...(threads.get(emailId) ?? []), threadId])]);
  return threads;
}

/** Where replies to an email are looked for: one of its participants, within the time span of its neighbours. */
export interface Probe {
  emailId: string;
  anchor: SubjectAnchor;
  participant: string;
}

export function listProbes(anchors: ReadonlyMap<string, SubjectAnchor>): Probe[] {
  return [...anchors].flatMap(([emailId, anchor]) =>
    anchor.participants.map((participant) => ({ emailId, anchor, participant })),
  );
}

/** Returns the probes as nearest_replies takes them (db/migrations/0001-initial/threads.sql). */
export function probesJson(probes: readonly Probe[]): string {
  return JSON.stringify(
    probes.map(({ anchor, participant }) => {
      const { from, to } = neighbourSpan(anchor.date);
      return { subject: anchor.subject, participant, from_at: from, at: anchor.date, to_at: to };
    }),
  );
}

/** The nearest replies before (or at) and after (or at) a probe, by its index; probes without any are left out. */
export type NearestReplies = ReadonlyMap<number, { before: FoundReply | null; after: FoundReply | null }>;

export function toNearest(rows: readonly NearestRow[]): NearestReplies {
  return new Map(
    rows.map((row) => [
      row.place - 1,
      {
        before: foundReply(row.before_date, row.before_thread_id),
        after: foundReply(row.after_date, row.after_thread_id),
      },
    ]),
  );
}

/** Returns the threads of the replies near each probed email: all its subject neighbors, unless it is a reply itself. */
export function threadsOfReplies(probes: readonly Probe[], nearest: NearestReplies): Map<string, string[]> {
  const threads = new Map<string, Set<string>>(probes.map(({ emailId }) => [emailId, new Set()]));
  for (const [index, { before, after }] of nearest)
    for (const reply of [before, after])
      if (reply !== null) threads.get(probes[index]?.emailId ?? '')?.add(reply.threadId);
  return new Map([...threads].map(([emailId, ids]) => [emailId, [...ids]]));
}

/** Returns the rows of these threads; unknown ids are left out. */
export async function readThreads(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<StoredThread[]> {
  if (threadIds.length === 0) return [];
  const { rows } = await client.query<StoredThreadRow>({
    name: 'thread-read',
    text: `select id, created_at, root_message_id, normalized_subject, participant_emails, participant_names, message_count,
                  latest_email_id, last_message_at, trashed_at is not null as is_trashed
           from thread where workspace_id = $1 and id = any ($2::text[])`,
    values: [workspaceId, threadIds],
  });
  return rows.map(storedThread);
}

export function storedThread(row: StoredThreadRow): StoredThread {
  return {
    id: row.id,
    createdAt: new Date(row.created_at),
    rootMessageId: row.root_message_id,
    normalizedSubject: row.normalized_subject,
    participants: { emails: row.participant_emails, names: row.participant_names },
    messageCount: row.message_count,
    isTrashed: row.is_trashed,
    latestEmailId: row.latest_email_id,
    lastMessageAt: new Date(row.last_message_at),
  };
}

export interface StoredThreadRow {
  id: string;
  /** text in JSON */
  created_at: Date | string;
  root_message_id: string;
  normalized_subject: string;
  participant_emails: string[];
  participant_names: string[];
  message_count: number;
  is_trashed: boolean;
  latest_email_id: string;
  last_message_at: Date | string;
}

interface SpanProbe extends Probe {
  span: Span;
}

interface FoundReply {
  date: Date;
  threadId: string;
}

async function nearestReplies(
  client: pg.ClientBase,
  workspaceId: string,
  probes: readonly Probe[],
): Promise<NearestReplies> {
  if (probes.length === 0) return new Map();
  const { rows } = await client.query<NearestRow>({
    name: 'thread-nearest-replies',
    text: 'select * from nearest_replies($1, $2::jsonb)',
    values: [workspaceId, probesJson(probes)],
  });
  return toNearest(rows);
}

export interface NearestRow {
  /** of the probe, from 1 */
  place: number;
  /** text in JSON */
  before_date: Date | string | null;
  before_thread_id: string | null;
  after_date: Date | string | null;
  after_thread_id: string | null;
}

function foundReply(date: Date | string | null, threadId: string | null): FoundReply | null {
  return date === null || threadId === null ? null : { date: new Date(date), threadId };
}

/** Returns the threads of plain messages (not replies) in the time span of each probe. */
async function threadsInSpans(
  client: pg.ClientBase,
  workspaceId: string,
  probes: readonly SpanProbe[],
): Promise<{ emailId: string; threadId: string }[]> {
  if (probes.length === 0) return [];
  const { rows } = await client.query<{ email_id: string; thread_id: string }>({
    name: 'thread-in-spans',
    text: `
      select distinct p.email_id, s.thread_id
      from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) as p(email_id, subject, participant, from_at, to_at)
      join thread_subject s on s.workspace_id = $1 and s.base_subject_sha256 = sha256(convert_to(p.subject, 'UTF8'))
        and s.participant = p.participant and s.is_reply = false and s.date between p.from_at and p.to_at`,
    values: [
      workspaceId,
      probes.map((probe) => probe.emailId),
      probes.map((probe) => probe.anchor.subject),
      probes.map((probe) => probe.participant),
      probes.map((probe) => probe.span.from.toISOString()),
      probes.map((probe) => probe.span.to.toISOString()),
    ],
  });
  return rows.map((row) => ({ emailId: row.email_id, threadId: row.thread_id }));
}
