import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { appendEvents } from '../../db/queries/events/append-events.ts';
import { releasedEvent, takeExpiredClaims } from '../../db/queries/threads/reply-claim.ts';
import type { ActorContext } from '../actor.ts';

export interface ClaimOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'claims.removed' | 'claims.before-commit' | 'claims.after-commit') => void;
}

/** Claims ended at once. */
export const CLAIMS_BATCH = 100;

/**
 * Removes claims of threads that expired, with the events that say so in the same transaction, and announces the events. Returns how many
 * were removed.
 */
export async function releaseExpiredClaims(context: ActorContext, { fault }: ClaimOptions): Promise<number> {
  const { count, feeds } = await inTransaction(context.database, async (client) => {
    const expired = await takeExpiredClaims(client, CLAIMS_BATCH);
    if (expired.length > 0) fault?.('claims.removed');
    const byWorkspace = Map.groupBy(expired, ({ workspaceId }) => workspaceId);
    const ends: { workspaceId: string; lastSeq: number }[] = [];
    // In the order of the users' ids, as in every transaction that writes to several feeds.
    for (const [workspaceId, ofWorkspace] of byWorkspace) {
      const events = ofWorkspace.map(({ threadId, holder, end }) => ({
        id: newIdentifier(context, 'event'),
        ...releasedEvent(threadId, holder, end),
      }));
      const lastSeq = await appendEvents(client, workspaceId, events);
      if (lastSeq !== null) ends.push({ workspaceId, lastSeq });
    }
    if (expired.length > 0) fault?.('claims.before-commit');
    return { count: expired.length, feeds: ends };
  });
  if (count > 0) fault?.('claims.after-commit');
  for (const feed of feeds) context.bus.publish('event.appended', feed);
  return count;
}
