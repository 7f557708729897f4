import type pg from 'pg';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { appendEvents } from '../../db/queries/events/append-events.ts';
import type { ActorContext } from '../actor.ts';

interface DueStep<Row, Point> {
  /** Ends a batch of rows of all workspaces, and returns them in the order of the workspaces' ids. */
  take: (client: pg.ClientBase) => Promise<Row[]>;
  /** Returns the event that says so. */
  toEvent: (row: Row) => { kind: string };
  /** called after `take`, before the commit and after it, if there are rows; fault tests kill the process there */
  fault: ((point: Point) => void) | undefined;
  points: readonly [taken: Point, beforeCommit: Point, afterCommit: Point];
}

/** Ends what is due with its events in one transaction, and announces the events. Returns how many rows ended. */
export async function endDue<Row extends { workspaceId: string }, Point>(
  context: ActorContext,
  { take, toEvent, fault, points: [taken, beforeCommit, afterCommit] }: DueStep<Row, Point>,
): Promise<number> {
  const { count, feeds } = await inTransaction(context.database, async (client) => {
    const rows = await take(client);
    if (rows.length > 0) fault?.(taken);
    const ends: { workspaceId: string; lastSeq: number }[] = [];
    // In the order of the users' ids, as in every transaction that writes to several feeds.
    for (const [workspaceId, ofWorkspace] of Map.groupBy(rows, (row) => row.workspaceId)) {
      const events = ofWorkspace.map((row) => ({ id: newIdentifier(context, 'event'), ...toEvent(row) }));
      const lastSeq = await appendEvents(client, workspaceId, events);
      if (lastSeq !== null) ends.push({ workspaceId, lastSeq });
    }
    if (rows.length > 0) fault?.(beforeCommit);
    return { count: rows.length, feeds: ends };
  });
  if (count > 0) fault?.(afterCommit);
  for (const feed of feeds) context.bus.publish('event.appended', feed);
  return count;
}
