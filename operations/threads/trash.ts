import type pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import { readThreads } from '../../db/queries/threads/thread-lookup.ts';
import { setThreadReason } from '../../db/queries/threads/thread-rejoin.ts';
import * as trash from '../../db/queries/threads/thread-trash.ts';
import { requireReachedEmails, withFullAccess } from '../accounts/key-reach.ts';
import { emailNotFound, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { regroup } from './regroup-messages.ts';
import { restoreLocked, withoutMessages } from './restore-threads.ts';
import { MAX_THREADS } from './thread-changes.ts';
import {
  type Changed,
  changeThreads,
  resolveReachedThreads,
  selectReached,
  type ThreadContext,
} from './thread-transaction.ts';
import { trashLocked } from './trash-threads.ts';
import { type ChangedThreads, createChangeRecord } from './undo-change.ts';

/** Maximum emails per call. */
const MAX_EMAILS = 100;
/** Time limit of the removal of mail; milliseconds. */
const REMOVE_MS = 25_000;
/** Milliseconds before the end of the request that are left for its response. */
const SPARE_MS = 2_000;

type Events = Changed<unknown>['events'];

/**
 * Moves whole threads to the trash: all of them or none. Lists, totals and searches leave them out, and they are removed after 30 days. A
 * new message brings its thread back. Returns the ids of the existing threads. Throws not_found, validation, conflict.
 */
export async function trashThreads(context: OperationContext, threadIds: readonly string[]): Promise<ChangedThreads> {
  requireThreads(threadIds);
  return changed(context, async (client) => {
    const { workspaceId } = context;
    const living = [...new Set(await resolveReachedThreads(client, context, threadIds, 'anywhere'))];
    const record = createChangeRecord();
    const events = await trashLocked(client, workspaceId, living);
    for (const { threadId } of events) if (threadId != null) record.add(threadId, { trashed: { to: true } });
    const undoId = await record.store(client, context);
    return { result: { threadIds: living, undoId }, events };
  });
}

/**
 * Moves threads back from the trash: all of them or none. Returns the threads that have the messages now. A message that returns to its thread
 * stays there when the change is undone. Throws as trashThreads.
 */
export async function restoreThreads(context: OperationContext, threadIds: readonly string[]): Promise<ChangedThreads> {
  requireThreads(threadIds);
  return changed(context, async (client) => {
    const { workspaceId } = context;
    const living = [...new Set(await resolveReachedThreads(client, context, threadIds, 'anywhere'))];
    const { result: outcome, events } = await restoreLocked(client, workspaceId, living);
    const record = createChangeRecord();
    for (const [id, now] of outcome) if (id === now) record.add(id, { trashed: { to: false } });
    const undoId = await record.store(client, context);
    const now = [...new Set(living.map((id) => outcome.get(id) ?? id))];
    return { result: { threadIds: await selectReached(client, context, now), undoId }, events };
  });
}

/** A message in the trash. */
export interface TrashedEmail {
  emailId: string;
  /** its thread in the trash, which restores it */
  threadId: string;
}

/**
 * Moves emails that have arrived or left to the trash: all of them or none. An email that leaves others behind in its thread gets a thread
 * of its own, from which it returns when it is restored. Returns them in the order of the ids. Throws not_found, validation, conflict.
 */
export async function trashEmails(context: OperationContext, emailIds: readonly string[]): Promise<TrashedEmail[]> {
  const asked = requireEmails(emailIds);
  return waitUntilParsed(context, asked, async () => {
    await requireReachedEmails(context, asked);
    return changed(context, async (client) => {
      const { threadOf, events } = await moveToTrash(client, context, asked);
      return { result: asked.map((id) => ({ emailId: id, threadId: threadOf.get(id) ?? '' })), events };
    });
  });
}

/** The same in a transaction of changeThreads. Returns the thread of each there, and the events. */
export async function moveToTrash(
  client: pg.ClientBase,
  context: ThreadContext,
  emailIds: readonly string[],
): Promise<{ threadOf: Map<string, string>; events: Events }> {
  const { workspaceId } = context;
  const emails = await trash.lockTrashable(client, workspaceId, emailIds);
  if (emails.length < emailIds.length) throw emailNotFound();
  const moving = emails.filter(({ isTrashed }) => !isTrashed).map(requireSettled);
  const byThread = Map.groupBy(moving, ({ threadId }) => threadId);
  const threads = await readThreads(client, workspaceId, [...byThread.keys()]);
  const threadOf = new Map(emails.map(({ id, threadId }) => [id, threadId ?? '']));
  const events: Events = [];
  const whole = threads.filter(({ id, messageCount }) => byThread.get(id)?.length === messageCount).map(({ id }) => id);
  events.push(...(await trashLocked(client, workspaceId, whole)));
  for (const { id, threadId, threadReason } of moving) {
    if (whole.includes(threadId)) continue;
    const ownId = newIdentifier(context, 'thread');
    const regrouped = await regroup(client, workspaceId, {
      emailIds: [id],
      targetId: ownId,
      target: 'made',
      reason: 'new',
    });
    await setThreadReason(client, workspaceId, id, threadReason ?? 'new');
    events.push(...withoutMessages(regrouped), ...(await trashLocked(client, workspaceId, [ownId], threadId)));
    threadOf.set(id, ownId);
  }
  return { threadOf, events };
}

/** Moves emails back from the trash, each with its thread there. Returns the threads that they are in now. Throws as trashEmails. */
export async function restoreEmails(context: OperationContext, emailIds: readonly string[]): Promise<TrashedEmail[]> {
  const asked = requireEmails(emailIds);
  await requireReachedEmails(context, asked);
  return changed(context, async (client) => {
    const { workspaceId } = context;
    const emails = await trash.lockTrashable(client, workspaceId, asked);
    if (emails.length < asked.length) throw emailNotFound();
    const threadIds = [...new Set(emails.flatMap(({ threadId, isTrashed }) => (isTrashed ? (threadId ?? []) : [])))];
    const { result: outcome, events } = await restoreLocked(client, workspaceId, threadIds);
    const threadOf = new Map(emails.map(({ id, threadId }) => [id, threadId ?? '']));
    return {
      result: asked.map((id) => {
        const threadId = threadOf.get(id) ?? '';
        return { emailId: id, threadId: outcome.get(threadId) ?? threadId };
      }),
      events,
    };
  });
}

/** How many messages were removed, and how many stay in the trash because Postroom still works on them. */
export interface RemovedMail {
  removed: number;
  inWork: number;
}

/**
 * Removes threads forever, whether they are in the trash or not: they are moved there first, so that nothing shows half a thread. Threads
 * that are gone are left out. Throws validation, conflict, and unavailable when the removal takes too long: the rest is in the trash then.
 */
export async function removeThreads(context: OperationContext, threadIds: readonly string[]): Promise<RemovedMail> {
  const { threadIds: ids } = await trashThreads(context, threadIds);
  return remove(context, ids);
}

/** Like removeThreads, for emails. */
export async function removeEmails(context: OperationContext, emailIds: readonly string[]): Promise<RemovedMail> {
  const trashed = await trashEmails(context, emailIds);
  return remove(context, [...new Set(trashed.map(({ threadId }) => threadId))], emailIds);
}

async function remove(
  context: OperationContext,
  threadIds: readonly string[],
  emailIds: readonly string[] | null = null,
): Promise<RemovedMail> {
  const { bus, workspaceId, respondBy } = context;
  const limitMs = Math.max(1, Math.min(REMOVE_MS, respondBy - SPARE_MS - performance.now()));
  const request = { workspaceId, threadIds: [...threadIds], emailIds: emailIds === null ? null : [...emailIds] };
  return bus.ask('scheduling.trash.remove', request, { limitMs }).catch((cause: unknown) => {
    throw new UserError(
      'unavailable',
      'The mail is in the trash and is not removed yet. Delete it again in a moment.',
      {
        retryAfterSeconds: 5,
        cause,
      },
    );
  });
}

/** Runs the change, with the points at which fault tests kill the process. */
function changed<T>(context: OperationContext, work: (client: pg.ClientBase) => Promise<Changed<T>>): Promise<T> {
  return changeThreads(withFullAccess(context), async (client) => {
    const done = await work(client);
    context.fault?.('trash.before-commit');
    return done;
  }).then((outcome) => {
    context.fault?.('trash.after-commit');
    return outcome;
  });
}

/** Throws unless the email has arrived or left, and has its thread. */
function requireSettled(email: trash.TrashableEmail): trash.TrashableEmail & { threadId: string } {
  const { type, status, threadId } = email;
  if (type === 'scheduled')
    throw new UserError('validation', 'A scheduled email cannot be moved to the trash. Cancel it instead.', {
      isOfState: true,
    });
  if (status === 'pending')
    throw new UserError('conflict', 'This email is being sent. It can be deleted once it has left.', {
      retryAfterSeconds: 5,
    });
  if (threadId === null)
    throw new UserError('conflict', 'This email has no thread yet. Try again in a moment.', { retryAfterSeconds: 1 });
  return { ...email, threadId };
}

function requireThreads(threadIds: readonly string[]): void {
  if (threadIds.length === 0 || threadIds.length > MAX_THREADS)
    throw invalid(`Between 1 and ${MAX_THREADS} threads can be changed at once`, 'threadIds');
}

function requireEmails(emailIds: readonly string[]): string[] {
  if (emailIds.length === 0 || emailIds.length > MAX_EMAILS)
    throw invalid(`Give 1 to ${MAX_EMAILS} emails`, 'emailIds');
  if (!emailIds.every(isValidId)) throw emailNotFound();
  return [...new Set(emailIds)];
}
