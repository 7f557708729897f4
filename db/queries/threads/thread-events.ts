import type pg from 'pg';
import type { OutgoingEvent } from '../sending/outgoing-write.ts';

/** An event about a thread, or about an email in it. */
export interface ThreadEvent {
  id: string;
  kind: string;
  threadId: string;
  emailId?: string;
  data: Record<string, unknown>;
}

/** Must be last in the transaction: the event counter stays locked until the commit. Returns the last seq; null when there is no event. */
export async function appendThreadEvents(
  client: pg.ClientBase,
  userId: string,
  events: readonly (ThreadEvent | OutgoingEvent)[],
): Promise<number | null> {
  const { rows } = await client.query<{ last_seq: number | null }>({
    name: 'thread-events',
    text: 'select append_events($1, $2::jsonb) as last_seq',
    values: [userId, JSON.stringify(events)],
  });
  return rows[0]?.last_seq ?? null;
}
