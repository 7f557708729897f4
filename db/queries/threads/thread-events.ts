import type pg from 'pg';

/** An event about a thread, or about an email in it. */
export interface ThreadEvent {
  id: string;
  kind: string;
  threadId: string;
  emailId?: string;
  data: Record<string, unknown>;
}

/** An event for the feed of its workspace, as append_events takes it. */
export interface FeedEvent {
  id: string;
  kind: string;
  emailId?: string | null;
  threadId?: string | null;
  deliveryId?: string | null;
  endpointId?: string | null;
  data?: Record<string, unknown>;
}

/** Must be last in the transaction: the event counter stays locked until the commit. Returns the last seq; null when there is no event. */
export async function appendThreadEvents(
  client: pg.ClientBase,
  workspaceId: string,
  events: readonly FeedEvent[],
): Promise<number | null> {
  const { rows } = await client.query<{ last_seq: number | null }>({
    name: 'thread-events',
    text: 'select append_events($1, $2::jsonb) as last_seq',
    values: [workspaceId, JSON.stringify(events)],
  });
  return rows[0]?.last_seq ?? null;
}
