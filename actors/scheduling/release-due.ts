import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction, inTransactionFrom, shareSendRights, transactionOn } from '../../db/connection/transaction.ts';
import { isLockTimeout, isTransient } from '../../db/errors.ts';
import { scopeKeysToWorkspace } from '../../db/queries/accounts/expired-key.ts';
import { type DueKey, listDueKeys, queueReleased, takeDue } from '../../db/queries/sending/scheduled-release.ts';
import { claimUnthreaded, lockWorkspacesSql } from '../../db/queries/threads/thread-claim.ts';
import { announceLimits } from '../../operations/accounts/key-grants.ts';
import { joinThreads } from '../../operations/threads/join-threads.ts';
import { schedulingMetrics, threadingMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';
import { setAside } from '../set-aside.ts';

export interface ReleaseOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'scheduling.claimed' | 'scheduling.before-commit' | 'scheduling.after-commit') => void;
}

/** Emails in one transaction: few, so that many that are due at the same time do not lock rows for long. */
export const RELEASE_BATCH = 200;

/** How long a batch waits for the threads of its users. Milliseconds. */
const THREADS_WAIT_MS = 250;

/**
 * Moves a batch of due scheduled emails of all users to the sending queue, each into its thread, then wakes the sending actor and announces
 * the events. A cancellation competes for the same rows: the first to lock one wins. If a batch fails, each email is released alone, and one
 * that cannot be released is set aside. Emails of a user whose threads are locked wait for the next sweep. An email that its key or person may not
 * send any more is paused. Returns how many were released.
 */
export async function releaseDue(context: ActorContext, options: ReleaseOptions): Promise<number> {
  const keys = await listDueKeys(context.database.pool, RELEASE_BATCH);
  return keys.length === 0 ? 0 : releaseTogether(context, options, keys);
}

async function releaseTogether(
  context: ActorContext,
  options: ReleaseOptions,
  keys: readonly DueKey[],
): Promise<number> {
  let count = 0;
  try {
    return await release(context, options, keys);
  } catch (error) {
    if (isLockTimeout(error)) {
      const ofWorkspaces = [...Map.groupBy(keys, ({ workspaceId }) => workspaceId).values()];
      if (ofWorkspaces.length > 1)
        for (const ofWorkspace of ofWorkspaces) count += await releaseTogether(context, options, ofWorkspace);
      return count;
    }
    if (isTransient(error)) throw error;
    context.log.error({ err: error }, 'scheduling: a batch failed, its mail goes one by one');
  }
  for (const key of keys) count += await releaseAlone(context, options, key);
  return count;
}

async function releaseAlone(context: ActorContext, options: ReleaseOptions, key: DueKey): Promise<number> {
  try {
    return await release(context, options, [key]);
  } catch (error) {
    if (isLockTimeout(error)) return 0;
    if (isTransient(error)) throw error;
    await setAside(context, { workspaceId: key.workspaceId, step: 'release', subjectId: key.id, error });
    return 0;
  }
}

async function release(context: ActorContext, options: ReleaseOptions, keys: readonly DueKey[]): Promise<number> {
  const startedTick = performance.now();
  const workspaceIds = [...new Set(keys.map(({ workspaceId }) => workspaceId))];
  const locks = lockWorkspacesSql(workspaceIds, THREADS_WAIT_MS);
  const released = await inTransactionFrom(context.database, locks, async (client) => {
    const due = await takeDue(client, keys);
    if (due.length === 0) return [];
    options.fault?.('scheduling.claimed');
    const at = context.now();
    const emails = due.map((email) => ({
      ...email,
      event_id: newIdentifier(context, 'event', at),
    }));
    const users: { workspaceId: string; emailIds: string[]; lastSeq: number }[] = [];
    for (const { workspace_id: workspaceId, email_ids: emailIds, events } of await queueReleased(client, emails)) {
      const claimed = await claimUnthreaded(client, workspaceId, emailIds);
      const lastSeq = await joinThreads(context, client, workspaceId, claimed, events);
      users.push({ workspaceId, emailIds, lastSeq: lastSeq ?? 0 });
    }
    options.fault?.('scheduling.before-commit');
    return users;
  });
  const going = new Set(released.flatMap(({ emailIds }) => emailIds));
  await pauseWithoutRight(
    context,
    keys.filter(({ id }) => !going.has(id)),
  );
  if (released.length === 0) return 0;
  options.fault?.('scheduling.after-commit');
  for (const { workspaceId, emailIds, lastSeq } of released) {
    const emails = emailIds.map((emailId) => ({ workspaceId, emailId }));
    noteStage(context.database, emails, { name: 'release', startedTick });
    noteStage(context.database, emails, { name: 'thread', startedTick });
    context.bus.wake('sending.send.wake', { workspaceId, emailIds });
    context.bus.publish('event.appended', { workspaceId, lastSeq });
  }
  const count = released.reduce((sum, user) => sum + user.emailIds.length, 0);
  schedulingMetrics.released.inc(count);
  threadingMetrics.emails.inc(count);
  return count;
}

/**
 * Pauses those of the emails that whom they are sent for may not send any more. What takes a right away pauses mail at once, or within a minute; this
 * is for mail that falls due before.
 */
async function pauseWithoutRight(context: ActorContext, keys: readonly DueKey[]): Promise<void> {
  for (const [workspaceId, emails] of Map.groupBy(keys, (key) => key.workspaceId)) {
    const lastSeq = await inTransaction(context.database, async (client) => {
      const transaction = transactionOn(client);
      await scopeKeysToWorkspace(transaction, workspaceId);
      await shareSendRights(transaction, workspaceId);
      const lost = { keyIds: [], emailIds: emails.map(({ id }) => id), disabledEndpoints: [] };
      return announceLimits({ ...context, workspaceId }, transaction, lost);
    });
    if (lastSeq !== null) context.bus.publish('event.appended', { workspaceId, lastSeq });
  }
}
