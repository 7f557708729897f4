import type pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import { addParticipants, type Participants } from '../../core/threads/thread-participants.ts';
import {
  findLinks,
  linkKey,
  linkKeys,
  type ThreadableMessage,
  type ThreadReason,
} from '../../core/threads/threading.ts';
import { inheritLabels, readLabels } from '../../db/queries/threads/thread-labels.ts';
import { readThreads, type StoredThread, threadsOfKeys } from '../../db/queries/threads/thread-lookup.ts';
import { addThreadsApart, mergeThreads, readThreadsApart } from '../../db/queries/threads/thread-merge.ts';
import {
  findBorne,
  findReferred,
  type KnownId,
  type MovedEmail,
  moveEmails,
  readMailboxes,
  readMoved,
} from '../../db/queries/threads/thread-move.ts';
import type { ThreadCounters } from '../../db/queries/threads/thread-row.ts';
import { readThreadEnds, renumberThreads, writeThreads } from '../../db/queries/threads/thread-write.ts';
import type { Changed } from './thread-transaction.ts';

/** Maximum threads that one thread is kept apart from: each split keeps the new thread apart from all before it. */
const MAX_APART = 200;

/** Messages that move to another thread. */
interface Regrouping {
  /** locked, in existing threads other than the target; at least one, without duplicates */
  emailIds: readonly string[];
  targetId: string;
  /** made: the thread does not exist yet and gets the labels of the threads that its messages leave */
  target: 'stored' | 'made';
  /** manual: requested by the user, so threads that keep some of their messages stay apart from the target */
  reason: ThreadReason | 'manual';
}

interface Sources {
  /** threads that keep some messages */
  staying: StoredThread[];
  /** threads that lose all messages */
  ending: StoredThread[];
}

/**
 * Moves the messages. A thread that loses all its messages is merged into the target. When the user asked for the move, a thread that
 * keeps some stays apart from the target, as do the threads it was apart from. Returns the events for the feed. Throws conflict when
 * there would be too many such threads.
 */
export async function regroup(
  client: pg.ClientBase,
  workspaceId: string,
  { emailIds, targetId, target, reason }: Regrouping,
): Promise<Changed<unknown>['events']> {
  const moved = await readMoved(client, workspaceId, emailIds);
  const leaving = Map.groupBy(moved, (email) => email.threadId);
  const stored = await readThreads(client, workspaceId, [...leaving.keys(), targetId]);
  const sources = stored.filter(({ id }) => id !== targetId);
  const keeps = ({ id, messageCount }: StoredThread) => (leaving.get(id)?.length ?? 0) < messageCount;
  const [staying, ending] = [sources.filter(keeps), sources.filter((source) => !keeps(source))];
  const stayingIds = staying.map(({ id }) => id);
  const labels = target === 'made' ? [...(await readLabels(client, workspaceId, stayingIds)).values()].flat() : [];

  if (reason === 'manual') await partThreads(client, workspaceId, targetId, { staying, ending });
  const keys = await keysToMove(client, workspaceId, moved, stayingIds);
  await moveEmails(client, workspaceId, { emailIds, sourceIds: sources.map(({ id }) => id), targetId, keys, reason });
  const merges = ending.map(({ id }) => ({ loserId: id, survivorId: targetId }));
  const ended = await mergeThreads(client, workspaceId, merges);

  const gains = new Map([[targetId, moved], ...staying.map(({ id }) => [id, leaving.get(id) ?? []] as const)]);
  const positions = await renumberThreads(client, workspaceId, [...gains].flatMap(toTail), emailIds);
  const present = stored.find(({ id }) => id === targetId)?.participants ?? NO_PARTICIPANTS;
  const mailboxes = await readMailboxes(client, workspaceId, stayingIds);
  const participants = new Map([
    [targetId, addParticipants(present, moved.flatMap(toMailboxes))],
    ...stayingIds.map((id) => [id, addParticipants(NO_PARTICIPANTS, mailboxes.get(id) ?? [])] as const),
  ]);
  const ends = await readThreadEnds(client, workspaceId, [...gains.keys()]);
  await writeThreads(
    client,
    workspaceId,
    ends.map(({ threadId, baseSubject, ...end }) => ({
      ...end,
      id: threadId,
      normalizedSubject: baseSubject,
      participants: participants.get(threadId) ?? NO_PARTICIPANTS,
      counters: toCounters(gains.get(threadId) ?? [], threadId === targetId ? 1 : -1),
    })),
  );
  const inherited = [...labels, ...ended.flatMap((thread) => thread.labels)];
  await inheritLabels(client, workspaceId, new Map([[targetId, inherited]]));

  const kind = target === 'made' ? 'thread.split' : 'thread.moved';
  const changed = target === 'made' ? stayingIds : [...stayingIds, targetId];
  return [
    ...ending.map(({ id }) => ({ kind: 'thread.merged', threadId: targetId, data: { alias: id, thread: targetId } })),
    ...stayingIds.map((id) => ({ kind, threadId: id, data: { thread: targetId } })),
    ...changed.map((id) => ({ kind: 'thread.renumbered', threadId: id, data: {} })),
    ...moved.map(({ emailId }) => ({
      kind: 'email.threaded',
      emailId,
      threadId: targetId,
      data: { position: positions.get(emailId) ?? null, reason },
    })),
  ];
}

async function partThreads(
  client: pg.ClientBase,
  workspaceId: string,
  targetId: string,
  { staying, ending }: Sources,
): Promise<void> {
  const apart = await readThreadsApart(client, workspaceId, [targetId, ...[...staying, ...ending].map(({ id }) => id)]);
  const fromAll = (threads: readonly StoredThread[]) => threads.flatMap(({ id }) => [...(apart.get(id) ?? [])]);
  const isOther = (id: string) => id !== targetId && !ending.some((thread) => thread.id === id);
  const parted = new Set([...staying.map(({ id }) => id), ...fromAll(staying)].filter(isOther));
  const all = new Set([...parted, ...(apart.get(targetId) ?? []), ...fromAll(ending)].filter(isOther));
  if (all.size > MAX_APART)
    throw new UserError(
      'conflict',
      `These messages were split into more than ${MAX_APART} threads; merge some of them`,
      { isFinal: true },
    );
  await addThreadsApart(
    client,
    workspaceId,
    [...parted].map((id) => [targetId, id] as const),
  );
}

const NO_PARTICIPANTS: Participants = { emails: [], names: [] };

function toMailboxes({ mailboxes, ownAddress }: MovedEmail) {
  return [...mailboxes, { name: null, address: ownAddress }];
}

/** Positions change from the first added or removed message on. */
function toTail([threadId, [first]]: [string, readonly MovedEmail[]]) {
  return first === undefined ? [] : [{ threadId, fromAt: first.createdAt, fromEmailId: first.emailId }];
}

function toCounters(emails: readonly MovedEmail[], sign: 1 | -1): ThreadCounters {
  const received = emails.filter(({ type }) => type === 'received');
  return {
    messageCount: sign * emails.length,
    receivedCount: sign * received.length,
    unreadCount: sign * received.filter(({ isRead }) => !isRead).length,
    archivedCount: sign * received.filter(({ isArchived }) => isArchived).length,
  };
}

/**
 * Returns the msg-ids that move with emails whose threads keep other messages: their own Message-IDs, unless a remaining message has the
 * same, and ids that no stored message has and no remaining message refers to.
 */
async function keysToMove(
  client: pg.ClientBase,
  workspaceId: string,
  moved: readonly MovedEmail[],
  sourceIds: readonly string[],
): Promise<string[]> {
  if (sourceIds.length === 0) return [];
  const threadOfKey = await threadsOfKeys(client, workspaceId, [
    ...new Set(moved.flatMap((email) => linkKeys(findLinks(email)))),
  ]);
  const led = new Map([...threadOfKey].filter(([, threadId]) => sourceIds.includes(threadId)));
  const movedIds = moved.map((email) => email.emailId);
  const own = new Set(moved.flatMap((email) => findLinks(email).own ?? []));
  const idsOf = new Map(moved.flatMap(idsByKey).filter(([key]) => led.has(key)));
  const isHere = ({ threadId, messageId }: KnownId) => led.get(linkKey(messageId)) === threadId;

  const borne = await findBorne(client, workspaceId, sourceIds, [...idsOf.values()], movedIds);
  const staying = new Set(borne.filter(isHere).map(({ messageId }) => linkKey(messageId)));
  const unborne = [...idsOf].filter(([key]) => !own.has(key) && !staying.has(key)).map(([, messageId]) => messageId);
  const referred = await findReferred(client, workspaceId, sourceIds, unborne, movedIds);
  for (const known of referred) if (isHere(known)) staying.add(linkKey(known.messageId));
  return [...idsOf.keys()].filter((key) => !staying.has(key));
}

/** Returns the msg-ids that lead to an email's thread only because of this email: no other message there has them or refers to them. */
export async function keysOfItsOwn(client: pg.ClientBase, workspaceId: string, email: MovedEmail): Promise<string[]> {
  const { emailId, threadId } = email;
  const led = await threadsOfKeys(client, workspaceId, linkKeys(findLinks(email)));
  const idsOf = new Map(idsByKey(email).filter(([key]) => led.get(key) === threadId));
  const borne = await findBorne(client, workspaceId, [threadId], [...idsOf.values()], [emailId]);
  const referred = await findReferred(client, workspaceId, [threadId], [...idsOf.values()], [emailId]);
  const others = new Set([...borne, ...referred].map(({ messageId }) => linkKey(messageId)));
  return [...idsOf.keys()].filter((key) => !others.has(key));
}

/** Returns the valid msg-ids of a message as written, by key. */
function idsByKey(message: ThreadableMessage): [string, string][] {
  return [message.messageId, ...message.inReplyTo, ...message.references]
    .filter((id) => id.includes('@'))
    .map((id) => [linkKey(id), id]);
}
