import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as reads from '../../db/queries/threads/thread-read.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { whileAllowed } from '../caller.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import type { ReadByMember } from './read-state-hub.ts';
import { MAX_THREADS } from './thread-changes.ts';
import { threadNotFound } from './thread-transaction.ts';
import { loadThreads } from './threads.ts';

/** What a member reads, or marks as unread. */
export interface ReadChange {
  /** null: everything that has come until now */
  threadIds: readonly string[] | null;
  isRead: boolean;
  /** the last message that is read, or the first that is unread, of a single thread; null: all of them */
  emailId: string | null;
}

/**
 * Marks threads as read or unread by the person of the request, and by no one else: `is_read` of emails stays. Repeating it changes nothing.
 * Throws forbidden for requests without a person, validation, not_found.
 */
export async function setReadByMe(context: OperationContext, change: ReadChange): Promise<ReadByMember> {
  const { workspaceId, rights, readStates } = context;
  const { personId } = rights;
  if (personId === null)
    throw new UserError(
      'forbidden',
      'Only persons have a read state of their own. Use a session, or an API key that a member created; is_read belongs to the workspace.',
    );
  const { database } = withFullAccess(context);
  const { isRead, emailId } = change;
  if (change.threadIds === null) {
    if (!isRead) throw invalid('Everything can be marked as read, but not as unread. Give `thread_ids`.', 'threadIds');
    if (emailId !== null)
      throw invalid('An email needs its thread beside it. Give `thread_ids` with one ID.', 'emailId');
    await asWorkspace(database, workspaceId, (transaction) => reads.markAllRead(transaction, workspaceId, personId));
    readStates.announce(workspaceId, personId, { threadIds: null, isRead });
    return { threadIds: null, isRead };
  }
  if (change.threadIds.length === 0 || change.threadIds.length > MAX_THREADS)
    throw invalid(`Between 1 and ${MAX_THREADS} threads can be marked at once`, 'threadIds');
  if (emailId !== null && change.threadIds.length > 1)
    throw invalid('An email can be given for a single thread only', 'emailId');
  const found = await loadThreads(context, change.threadIds);
  const threadIds = [...new Set(found.flatMap((thread) => thread?.id ?? []))];
  if (found.some((thread) => thread === null)) throw threadNotFound();
  const mark = { personId, threadIds, isRead, emailId };
  const changed = await asWorkspace(database, workspaceId, async (transaction) => {
    const [threadId = ''] = threadIds;
    const isKnown =
      emailId === null || (isValidId(emailId) && (await reads.isOfThread(transaction, workspaceId, emailId, threadId)));
    if (!isKnown) throw invalid('`email_id` is no message of the thread', 'emailId');
    return reads.markThreadsRead(transaction, workspaceId, mark);
  });
  if (changed.length > 0) readStates.announce(workspaceId, personId, { threadIds: changed, isRead });
  return { threadIds, isRead };
}

/** Returns for each thread whether the person of the request has read it; null for requests without a person. */
export async function loadReadByMe(
  { database, workspaceId, rights: { personId } }: OperationContext,
  threadIds: readonly string[],
): Promise<(boolean | null)[]> {
  if (personId === null) return threadIds.map(() => null);
  const unread = await asWorkspace(database, workspaceId, (transaction) =>
    reads.findUnreadBy(transaction, workspaceId, personId, threadIds),
  );
  return threadIds.map((id) => !unread.has(id));
}

/** Returns for each thread until when the person of the request has read it; null for requests without a person. */
export async function loadReadUntil(
  { database, workspaceId, rights: { personId } }: OperationContext,
  threadIds: readonly string[],
): Promise<(Date | null)[]> {
  if (personId === null) return threadIds.map(() => null);
  const until = await asWorkspace(database, workspaceId, (transaction) =>
    reads.findReadUntil(transaction, workspaceId, personId, threadIds),
  );
  return threadIds.map((id) => until.get(id) ?? null);
}

/** Yields what the person of the request marks as read or unread, in all sessions, until the request ends. Throws forbidden, rate_limited, unavailable. */
export function followReadByMe({
  workspaceId,
  rights,
  caller,
  readStates,
}: OperationContext): AsyncIterable<ReadByMember> {
  const { personId } = rights;
  if (personId === null) throw new UserError('forbidden', 'Only persons have a read state of their own.');
  return whileAllowed(caller, (signal) => readStates.follow(workspaceId, personId, signal));
}
