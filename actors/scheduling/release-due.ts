import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../core/shared/identifiers.ts';
import { isConnectionLost } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { type DueKey, listDueKeys, queueReleased, takeDue } from '../../db/queries/sending/scheduled-release.ts';
import { schedulingMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';
import { setAside } from '../set-aside.ts';

export interface ReleaseOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'scheduling.claimed' | 'scheduling.before-commit' | 'scheduling.after-commit') => void;
}

/** Emails in one transaction: few, so that many that are due at the same time do not lock rows for long. */
export const RELEASE_BATCH = 200;

/**
 * Moves a batch of due scheduled emails of all users to the sending queue, then wakes the sending and the threading actor and announces the
 * events. A cancellation competes for the same rows: the first to lock one wins. If a batch fails, each email is released alone, and one
 * that cannot be released is set aside. Returns how many were released.
 */
export async function releaseDue(context: ActorContext, options: ReleaseOptions): Promise<number> {
  try {
    return await release(context, options);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    context.log.error({ err: error }, 'scheduling: a batch failed, its mail goes one by one');
  }
  let count = 0;
  for (const key of await listDueKeys(context.database, RELEASE_BATCH))
    count += await releaseAlone(context, options, key);
  return count;
}

async function releaseAlone(context: ActorContext, options: ReleaseOptions, key: DueKey): Promise<number> {
  try {
    return await release(context, options, key);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    await setAside(context, { userId: key.userId, step: 'release', subjectId: key.id, error });
    return 0;
  }
}

async function release(context: ActorContext, options: ReleaseOptions, only?: DueKey): Promise<number> {
  const startedTick = performance.now();
  const released = await inTransaction(context.database, async (client) => {
    const due = await takeDue(client, RELEASE_BATCH, only);
    if (due.length === 0) return [];
    options.fault?.('scheduling.claimed');
    const at = context.now();
    const emails = due.map((email) => ({
      ...email,
      event_id: makeIdentifier('event', at, context.random(IDENTIFIER_RANDOM_BYTES)),
    }));
    const users = await queueReleased(client, emails);
    options.fault?.('scheduling.before-commit');
    return users;
  });
  if (released.length === 0) return 0;
  options.fault?.('scheduling.after-commit');
  for (const { user_id: userId, email_ids: emailIds, last_seq: lastSeq } of released) {
    const emails = emailIds.map((emailId) => ({ userId, emailId }));
    noteStage(context.database, emails, { name: 'release', startedTick });
    context.bus.wake('sending.send.wake', { userId, emailIds });
    context.bus.wake('threading.assign.wake', { userId, emailIds });
    context.bus.publish('event.appended', { userId, lastSeq });
  }
  const count = released.reduce((sum, user) => sum + user.email_ids.length, 0);
  schedulingMetrics.released.inc(count);
  return count;
}
