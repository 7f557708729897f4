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

/** Options of a batch. */
interface SweepOptions extends ReleaseOptions {
  /** emails of this sweep that may not be sent and could not be paused; none by default */
  unpaused?: DueKey[];
}

/** Emails in one transaction: few, so that many that are due at the same time do not lock rows for long. */
export const RELEASE_BATCH = 200;

/** How long a batch waits for the threads of its users. Milliseconds. */
const THREADS_WAIT_MS = 250;

/**
 * Moves a batch of due scheduled emails of all users to the sending queue, each into its thread, then wakes the sending actor and announces
 * the events. A cancellation competes for the same rows: the first to lock one wins. If a batch fails, each email is released alone, and one
 * that cannot be released is set aside. Emails of a user whose threads are locked wait for the next sweep. An email that its key or person may not
 * send any more is paused; one that cannot be paused is added to `unpaused`, whose emails are passed over. Returns how many were released or refused.
 */
export async function releaseDue(context: ActorContext, options: SweepOptions): Promise<number> {
  const keys = await listDueKeys(context.database.pool, RELEASE_BATCH, options.unpaused);
  return keys.length === 0 ? 0 : releaseTogether(context, options, keys);
}

async function releaseTogether(context: ActorContext, options: SweepOptions, keys: readonly DueKey[]): Promise<number> {
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

async function releaseAlone(context: ActorContext, options: SweepOptions, key: DueKey): Promise<number> {
  try {
    return await release(context, options, [key]);
  } catch (error) {
    if (isLockTimeout(error)) return 0;
    if (isTransient(error)) throw error;
    await setAside(context, { workspaceId: key.workspaceId, step: 'release', subjectId: key.id, error });
    return 0;
  }
}

async function release(context: ActorContext, options: SweepOptions, keys: readonly DueKey[]): Promise<number> {
  const startedTick = performance.now();
  const workspaceIds = [...new Set(keys.map(({ workspaceId }) => workspaceId))];
  const locks = lockWorkspacesSql(workspaceIds, THREADS_WAIT_MS);
  const { released, refused } = await inTransactionFrom(context.database, locks, async (client) => {
    const due = await takeDue(client, keys);
    const users: { workspaceId: string; emailIds: string[]; lastSeq: number }[] = [];
    if (due.taken.length === 0) return { released: users, refused: due.refused };
    options.fault?.('scheduling.claimed');
    const at = context.now();
    const emails = due.taken.map((email) => ({
      ...email,
      event_id: newIdentifier(context, 'event', at),
    }));
    for (const { workspace_id: workspaceId, email_ids: emailIds, events } of await queueReleased(client, emails)) {
      const claimed = await claimUnthreaded(client, workspaceId, emailIds);
      const lastSeq = await joinThreads(context, client, workspaceId, claimed, events);
      users.push({ workspaceId, emailIds, lastSeq: lastSeq ?? 0 });
    }
    options.fault?.('scheduling.before-commit');
    return { released: users, refused: due.refused };
  });
  if (released.length > 0) options.fault?.('scheduling.after-commit');
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
  await pauseRefused(context, refused, options.unpaused ?? []);
  return count + refused.length;
}

/**
 * Pauses the emails, which whom they are sent for may not send any more. What takes a right away pauses mail at once, or within a minute; this is for
 * mail that falls due before. Mail that could not be paused is added to `unpaused`: the sweep goes on behind them.
 */
async function pauseRefused(context: ActorContext, refused: readonly DueKey[], unpaused: DueKey[]): Promise<void> {
  for (const [workspaceId, emails] of Map.groupBy(refused, (key) => key.workspaceId)) {
    // Each try may wait for a lock, while mail of others is due.
    const hasFailed = unpaused.some((key) => key.workspaceId === workspaceId);
    const lastSeq = hasFailed ? null : await pauseEmails(context, workspaceId, emails);
    if (lastSeq === null) unpaused.push(...emails);
    else context.bus.publish('event.appended', { workspaceId, lastSeq });
  }
}

/** Returns the last number of the workspace's feed; null when nothing was paused. */
async function pauseEmails(
  context: ActorContext,
  workspaceId: string,
  emails: readonly DueKey[],
): Promise<number | null> {
  try {
    return await inTransaction(context.database, async (client) => {
      const transaction = transactionOn(client);
      await scopeKeysToWorkspace(transaction, workspaceId);
      await shareSendRights(transaction, workspaceId);
      const lost = { keyIds: [], emailIds: emails.map(({ id }) => id), disabledEndpoints: [] };
      return announceLimits({ ...context, workspaceId }, transaction, lost);
    });
  } catch (error) {
    context.log.error({ err: error, workspaceId }, 'scheduling: mail that may not be sent was not paused');
    return null;
  }
}
