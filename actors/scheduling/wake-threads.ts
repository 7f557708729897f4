import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { appendEvents } from '../../db/queries/events/append-events.ts';
import { returnedEvent, wakeThreads } from '../../db/queries/threads/thread-snooze.ts';
import type { ActorContext } from '../actor.ts';

export interface WakeOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'snoozes.woken' | 'snoozes.before-commit' | 'snoozes.after-commit') => void;
}

/** Threads that come back at once. */
export const SNOOZES_BATCH = 100;

/**
 * Brings back threads whose snooze is over or to which no reply came, with the events that say so in the same transaction, and announces
 * the events. Returns how many came back.
 */
export async function wakeDueThreads(context: ActorContext, { fault }: WakeOptions): Promise<number> {
  const { count, feeds } = await inTransaction(context.database, async (client) => {
    const returned = await wakeThreads(client, SNOOZES_BATCH);
    if (returned.length > 0) fault?.('snoozes.woken');
    const ends: { workspaceId: string; lastSeq: number }[] = [];
    // In the order of the users' ids, as in every transaction that writes to several feeds.
    for (const [workspaceId, ofWorkspace] of Map.groupBy(returned, (thread) => thread.workspaceId)) {
      const events = ofWorkspace.map((thread) => ({ id: newIdentifier(context, 'event'), ...returnedEvent(thread) }));
      const lastSeq = await appendEvents(client, workspaceId, events);
      if (lastSeq !== null) ends.push({ workspaceId, lastSeq });
    }
    if (returned.length > 0) fault?.('snoozes.before-commit');
    return { count: returned.length, feeds: ends };
  });
  if (count > 0) fault?.('snoozes.after-commit');
  for (const feed of feeds) context.bus.publish('event.appended', feed);
  return count;
}
