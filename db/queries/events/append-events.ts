import type pg from 'pg';

/**
 * Appends entries to the event feed of a workspace. Call it last in a transaction: the counter of the feed stays locked until the commit.
 * Returns the last sequence number; null when there is no entry.
 */
export async function appendEvents(
  client: pg.ClientBase,
  workspaceId: string,
  events: readonly { id: string; kind: string }[],
): Promise<number | null> {
  const { rows } = await client.query<{ last_seq: number | null }>({
    name: 'append-events',
    text: 'select append_events($1, $2::jsonb) as last_seq',
    values: [workspaceId, JSON.stringify(events)],
  });
  return rows[0]?.last_seq ?? null;
}
