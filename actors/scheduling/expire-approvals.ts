import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { appendEvents } from '../../db/queries/events/append-events.ts';
import { takeExpiredApprovals } from '../../db/queries/sending/approval.ts';
import type { ActorContext } from '../actor.ts';

export interface ApprovalOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'approvals.expired' | 'approvals.expired-before-commit' | 'approvals.expired-after-commit') => void;
}

/** Emails rejected at once. */
export const APPROVALS_BATCH = 100;

/**
 * Rejects mail that waited for approval until its time was over, with the events that say so in the same transaction, and announces the
 * events. Returns how many emails were rejected.
 */
export async function expireApprovals(context: ActorContext, { fault }: ApprovalOptions): Promise<number> {
  const { count, feeds } = await inTransaction(context.database, async (client) => {
    const expired = await takeExpiredApprovals(client, APPROVALS_BATCH);
    if (expired.length > 0) fault?.('approvals.expired');
    const ends: { workspaceId: string; lastSeq: number }[] = [];
    // In the order of the users' ids, as in every transaction that writes to several feeds.
    for (const [workspaceId, ofWorkspace] of Map.groupBy(expired, (email) => email.workspaceId)) {
      const events = ofWorkspace.map(({ emailId }) => ({
        id: newIdentifier(context, 'event'),
        kind: 'email.rejected',
        emailId,
        data: { by: null, reason: 'expired' },
      }));
      const lastSeq = await appendEvents(client, workspaceId, events);
      if (lastSeq !== null) ends.push({ workspaceId, lastSeq });
    }
    if (expired.length > 0) fault?.('approvals.expired-before-commit');
    return { count: expired.length, feeds: ends };
  });
  if (count > 0) fault?.('approvals.expired-after-commit');
  for (const feed of feeds) context.bus.publish('event.appended', feed);
  return count;
}
