import type pg from 'pg';
import { mergeParticipants } from '../../core/threads/thread-participants.ts';
import { survivorOf } from '../../core/threads/threading.ts';
import { inheritLabels } from '../../db/queries/threads/thread-labels.ts';
import { readThreads, type StoredThread } from '../../db/queries/threads/thread-lookup.ts';
import { mergeThreads as mergeRows } from '../../db/queries/threads/thread-merge.ts';
import { writeThreads } from '../../db/queries/threads/thread-row.ts';
import { readThreadEnds, renumberThreads } from '../../db/queries/threads/thread-write.ts';
import { invalid, type OperationContext } from '../context.ts';
import { type Changed, changeThreads, livingThreads } from './thread-transaction.ts';

/** Threads that one call joins. */
export const MAX_MERGED_THREADS = 20;

/**
 * Joins threads into one: the oldest stays, the ids of the others lead to it for ever, and it has the labels of all. Threads that were apart
 * are not any more. Threads that are one already stay so. Answers the id of the thread. Throws not_found, validation, conflict.
 */
export async function mergeThreads(context: OperationContext, threadIds: readonly string[]): Promise<string> {
  if (new Set(threadIds).size < 2 || threadIds.length > MAX_MERGED_THREADS)
    throw invalid(`Give 2 to ${MAX_MERGED_THREADS} threads to join`, 'threadIds');
  return changeThreads(context, async (client) => {
    const { userId } = context;
    const living = [...new Set(await livingThreads(client, userId, threadIds))];
    const threads = await readThreads(client, userId, living);
    return unite(client, userId, threads);
  });
}

/** Joins stored threads into the oldest of them, of which it answers the id, and what the feed tells. */
export async function unite(
  client: pg.ClientBase,
  userId: string,
  threads: readonly StoredThread[],
): Promise<Changed<string>> {
  const survivor = survivorOf(threads);
  const losers = threads.filter((thread) => thread !== survivor);
  if (losers.length === 0) return { answer: survivor.id, events: [] };

  const threadId = survivor.id;
  const ended = await mergeRows(
    client,
    userId,
    losers.map((loser) => ({ loserId: loser.id, survivorId: threadId })),
  );
  const from = losers.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())[0] ?? survivor;
  await renumberThreads(client, userId, [{ threadId, fromAt: from.createdAt, fromEmailId: '' }], []);
  const [ends] = await readThreadEnds(client, userId, [threadId]);
  const sum = (count: (thread: (typeof ended)[number]) => number) => ended.reduce((all, of) => all + count(of), 0);
  await inheritLabels(client, userId, new Map([[threadId, ended.flatMap(({ labels }) => labels)]]));
  await writeThreads(client, userId, [
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
  return { answer: threadId, events: [...merged, { kind: 'thread.renumbered', threadId, data: {} }] };
}
