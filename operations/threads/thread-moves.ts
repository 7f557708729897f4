import type pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import { mergeParticipants } from '../../core/threads/thread-participants.ts';
import { chooseSurvivor } from '../../core/threads/threading.ts';
import { inheritLabels } from '../../db/queries/threads/thread-labels.ts';
import { readThreads, type StoredThread } from '../../db/queries/threads/thread-lookup.ts';
import { mergeThreads as mergeRows, readThreadsApart } from '../../db/queries/threads/thread-merge.ts';
import { lockPlaces } from '../../db/queries/threads/thread-move.ts';
import { copyReads } from '../../db/queries/threads/thread-read.ts';
import { readThreadEnds, renumberThreads, writeThreads } from '../../db/queries/threads/thread-write.ts';
import { emailNotFound, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { regroup } from './regroup-messages.ts';
import { type Changed, changeThreads, requireOutOfTrash, resolveLivingThreads } from './thread-transaction.ts';

/** Maximum messages per call. */
export const MAX_MOVED_EMAILS = 500;

/** The two threads after a split. */
export interface SplitThread {
  /** the thread of the remaining messages */
  threadId: string;
  /** the thread of the messages that were split off */
  newThreadId: string;
}

/**
 * Splits messages off into a new thread with the labels of the old one. From then on the two stay apart: replies join the thread of the
 * message they reply to, and no message merges the two. A repeated call returns the same result. Throws not_found, validation, conflict.
 */
export async function splitThread(
  context: OperationContext,
  threadId: string,
  emailIds: readonly string[],
): Promise<SplitThread> {
  const asked = askedEmails(emailIds);
  return changeThreads(context, async (client) => {
    const { workspaceId } = context;
    const [living = threadId] = await resolveLivingThreads(client, workspaceId, [threadId]);
    const threadOf = await lockEmails(client, workspaceId, asked);
    const homes = [...new Set(threadOf.values())];
    await requireOutOfTrash(client, workspaceId, homes);
    const [home = living] = homes;
    const [thread] = await readThreads(client, workspaceId, [home]);
    if (homes.length > 1 || thread === undefined) throw notOfThread();
    const isWhole = thread.messageCount === asked.length;
    if (home !== living) {
      const apart = await readThreadsApart(client, workspaceId, [living]);
      if (!isWhole || apart.get(living)?.has(home) !== true) throw notOfThread();
      return { result: { threadId: living, newThreadId: home }, events: [] };
    }
    if (isWhole) throw invalid('At least one message must stay in the thread', 'emailIds');
    const newThreadId = newIdentifier(context, 'thread');
    const events = await regroup(client, workspaceId, {
      emailIds: asked,
      targetId: newThreadId,
      target: 'made',
      reason: 'manual',
    });
    await copyReads(client, workspaceId, living, newThreadId);
    return { result: { threadId: living, newThreadId }, events };
  });
}

/**
 * Moves messages of any threads into another thread; from then on their old threads and this one stay apart. A thread without messages is
 * merged into it, and its id leads there forever. Returns the thread's id. Throws not_found, validation, conflict.
 */
export async function moveEmails(
  context: OperationContext,
  emailIds: readonly string[],
  toThreadId: string,
): Promise<string> {
  const asked = askedEmails(emailIds);
  const move = () =>
    changeThreads<string>(context, async (client) => {
      const { workspaceId } = context;
      const [targetId = toThreadId] = await resolveLivingThreads(client, workspaceId, [toThreadId]);
      const threadOf = await lockEmails(client, workspaceId, asked);
      await requireOutOfTrash(client, workspaceId, [...new Set(threadOf.values())]);
      const moving = asked.filter((emailId) => threadOf.get(emailId) !== targetId);
      if (moving.length === 0) return { result: targetId, events: [] };
      return {
        result: targetId,
        events: await regroup(client, workspaceId, { emailIds: moving, targetId, target: 'stored', reason: 'manual' }),
      };
    });
  return waitUntilParsed(context, asked, move);
}

function askedEmails(emailIds: readonly string[]): string[] {
  if (emailIds.length === 0 || emailIds.length > MAX_MOVED_EMAILS)
    throw invalid(`Give 1 to ${MAX_MOVED_EMAILS} messages`, 'emailIds');
  if (!emailIds.every(isValidId)) throw emailNotFound();
  return [...new Set(emailIds)];
}

/** Locks the emails until the end of the transaction and returns their threads. */
async function lockEmails(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, string>> {
  const places = await lockPlaces(client, workspaceId, emailIds);
  if (places.length < emailIds.length) throw emailNotFound();
  return new Map(
    places.map(({ id, type, threadId }) => {
      if (threadId !== null) return [id, threadId];
      if (type === 'scheduled') throw invalid('Scheduled emails get a thread when they are sent', 'emailIds');
      throw new UserError('conflict', 'An email has no thread yet. Try again in a moment.', { retryAfterSeconds: 1 });
    }),
  );
}

function notOfThread(): UserError {
  return invalid('All messages must belong to the thread', 'emailIds');
}

/** Maximum threads that one call merges. */
export const MAX_MERGED_THREADS = 20;

/**
 * Merges threads: the oldest stays, the ids of the others lead to it forever, and it has the labels of all. Threads that were apart no
 * longer are. Threads that are already merged stay so. Returns the thread's id. Throws not_found, validation, conflict.
 */
export async function mergeThreads(context: OperationContext, threadIds: readonly string[]): Promise<string> {
  if (new Set(threadIds).size < 2 || threadIds.length > MAX_MERGED_THREADS)
    throw invalid(`Give 2 to ${MAX_MERGED_THREADS} threads to merge`, 'threadIds');
  return changeThreads(context, async (client) => {
    const { workspaceId } = context;
    const living = [...new Set(await resolveLivingThreads(client, workspaceId, threadIds))];
    const threads = await readThreads(client, workspaceId, living);
    return unite(client, workspaceId, threads);
  });
}

/** Merges stored threads into the oldest of them. Returns its id and the events for the feed. */
export async function unite(
  client: pg.ClientBase,
  workspaceId: string,
  threads: readonly StoredThread[],
): Promise<Changed<string>> {
  const survivor = chooseSurvivor(threads);
  const losers = threads.filter((thread) => thread !== survivor);
  if (losers.length === 0) return { result: survivor.id, events: [] };

  const threadId = survivor.id;
  const ended = await mergeRows(
    client,
    workspaceId,
    losers.map((loser) => ({ loserId: loser.id, survivorId: threadId })),
  );
  const from = losers.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())[0] ?? survivor;
  await renumberThreads(client, workspaceId, [{ threadId, fromAt: from.createdAt, fromEmailId: '' }], []);
  const [ends] = await readThreadEnds(client, workspaceId, [threadId]);
  const sum = (count: (thread: (typeof ended)[number]) => number) => ended.reduce((all, of) => all + count(of), 0);
  await inheritLabels(client, workspaceId, new Map([[threadId, ended.flatMap(({ labels }) => labels)]]));
  await writeThreads(client, workspaceId, [
    {
      id: threadId,
      createdAt: ends?.createdAt ?? survivor.createdAt,
      rootMessageId: ends?.rootMessageId ?? survivor.rootMessageId,
      normalizedSubject: ends?.baseSubject ?? survivor.normalizedSubject,
      latestEmailId: ends?.latestEmailId ?? survivor.latestEmailId,
      lastMessageAt: ends?.lastMessageAt ?? survivor.lastMessageAt,
      participants: losers.reduce((all, loser) => mergeParticipants(all, loser.participants), survivor.participants),
      counters: {
        messageCount: sum((thread) => thread.messageCount),
        receivedCount: sum((thread) => thread.receivedCount),
        unreadCount: sum((thread) => thread.unreadCount),
        archivedCount: sum((thread) => thread.archivedCount),
      },
    },
  ]);
  const merged = losers.map(({ id }) => ({ kind: 'thread.merged', threadId, data: { alias: id, thread: threadId } }));
  return { result: threadId, events: [...merged, { kind: 'thread.renumbered', threadId, data: {} }] };
}
