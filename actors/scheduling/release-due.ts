import { makeIdentifier } from '../../core/identifiers.ts';
import { inTransaction } from '../../db/database.ts';
import { queueReleased, takeDue } from '../../db/queries/scheduled-release.ts';
import { schedulingMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';

export interface ReleaseOptions {
  /** told of the points at which fault tests end the process */
  fault?: (point: 'scheduling.claimed' | 'scheduling.before-commit' | 'scheduling.after-commit') => void;
}

/** Emails of one transaction: small, so that a crowd that falls due at once keeps nobody from his rows for long. */
export const RELEASE_BATCH = 200;

/**
 * Hands a batch of scheduled emails that are due to the queue, whoever's they are, then tells the sending and the threading actor and
 * the live feed. A cancellation competes for the same rows: whoever locks one first has it. Answers how many went.
 */
export async function releaseDue(context: ActorContext, options: ReleaseOptions): Promise<number> {
  const released = await inTransaction(context.database, async (client) => {
    const due = await takeDue(client, RELEASE_BATCH);
    if (due.length === 0) return [];
    options.fault?.('scheduling.claimed');
    const at = context.now();
    const emails = due.map((email) => ({ ...email, event_id: makeIdentifier('event', at, context.random(10)) }));
    const users = await queueReleased(client, emails);
    options.fault?.('scheduling.before-commit');
    return users;
  });
  if (released.length === 0) return 0;
  options.fault?.('scheduling.after-commit');
  for (const { user_id: userId, email_ids: emailIds, last_seq: lastSeq } of released) {
    context.bus.wake('sending.send.wake', { userId, emailIds });
    context.bus.wake('threading.assign.wake', { userId, emailIds });
    context.bus.publish('event.appended', { userId, lastSeq });
  }
  const count = released.reduce((sum, user) => sum + user.email_ids.length, 0);
  schedulingMetrics.released.inc(count);
  return count;
}
