import type pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import { readThreadsApart } from '../../db/queries/threads/thread-apart.ts';
import { readThreads } from '../../db/queries/threads/thread-lookup.ts';
import { lockPlaces } from '../../db/queries/threads/thread-move.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from '../context.ts';
import { emailNotFound } from '../routing/route-now.ts';
import { regroup } from './regroup-messages.ts';
import { changeThreads, livingThreads } from './thread-transaction.ts';

/** Messages that one call moves. */
export const MAX_MOVED_EMAILS = 500;

/** A thread that was divided. */
export interface SplitThread {
  /** of the messages that stayed */
  threadId: string;
  /** of those that were split off */
  newThreadId: string;
}

/**
 * Makes messages of a thread a thread of their own, with the labels of the former; from then on the two are apart: answers go where what
 * they answer is, and no mail joins the two again. Asked again, answers the same. Throws not_found, validation, conflict.
 */
export async function splitThread(
  context: OperationContext,
  threadId: string,
  emailIds: readonly string[],
): Promise<SplitThread> {
  const asked = askedEmails(emailIds);
  return changeThreads(context, async (client) => {
    const { userId } = context;
    const [living = threadId] = await livingThreads(client, userId, [threadId]);
    const threadOf = await lockEmails(client, userId, asked);
    const homes = [...new Set(threadOf.values())];
    const [home = living] = homes;
    const [thread] = await readThreads(client, userId, [home]);
    if (homes.length > 1 || thread === undefined) throw notOfThread();
    const isWhole = thread.messageCount === asked.length;
    if (home !== living) {
      const apart = await readThreadsApart(client, userId, [living]);
      if (!isWhole || apart.get(living)?.has(home) !== true) throw notOfThread();
      return { answer: { threadId: living, newThreadId: home }, events: [] };
    }
    if (isWhole) throw invalid('At least one message must stay in the thread', 'emailIds');
    const newThreadId = newIdentifier(context, 'thread');
    const events = await regroup(client, userId, {
      emailIds: asked,
      targetId: newThreadId,
      target: 'made',
      reason: 'manual',
    });
    return { answer: { threadId: living, newThreadId }, events };
  });
}

/**
 * Moves messages, of whatever threads, into another; those threads and that one are apart from then on. A thread that is left without
 * messages ends in it: its id leads there for ever. Answers the id of the thread. Throws not_found, validation, conflict.
 */
export async function moveEmails(
  context: OperationContext,
  emailIds: readonly string[],
  toThreadId: string,
): Promise<string> {
  const asked = askedEmails(emailIds);
  return changeThreads(context, async (client) => {
    const { userId } = context;
    const [targetId = toThreadId] = await livingThreads(client, userId, [toThreadId]);
    const threadOf = await lockEmails(client, userId, asked);
    const moving = asked.filter((emailId) => threadOf.get(emailId) !== targetId);
    if (moving.length === 0) return { answer: targetId, events: [] };
    return {
      answer: targetId,
      events: await regroup(client, userId, { emailIds: moving, targetId, target: 'stored', reason: 'manual' }),
    };
  });
}

function askedEmails(emailIds: readonly string[]): string[] {
  if (emailIds.length === 0 || emailIds.length > MAX_MOVED_EMAILS)
    throw invalid(`Give 1 to ${MAX_MOVED_EMAILS} messages`, 'emailIds');
  if (!emailIds.every(isAskable)) throw emailNotFound();
  return [...new Set(emailIds)];
}

/** The thread of each email, for as long as the transaction lasts. */
async function lockEmails(
  client: pg.ClientBase,
  userId: string,
  emailIds: readonly string[],
): Promise<Map<string, string>> {
  const places = await lockPlaces(client, userId, emailIds);
  if (places.length < emailIds.length) throw emailNotFound();
  return new Map(
    places.map(({ id, type, threadId }) => {
      if (threadId !== null) return [id, threadId];
      if (type === 'scheduled') throw invalid('Scheduled emails get a thread when they are sent', 'emailIds');
      throw new UserError('conflict', 'An email has no thread yet; try again in a moment', { retryAfterSeconds: 1 });
    }),
  );
}

function notOfThread(): UserError {
  return invalid('All messages must be of the thread', 'emailIds');
}
