import type { Database } from '../../connection/database.ts';

/** Identifies an email. */
export interface EmailKey {
  workspaceId: string;
  emailId: string;
}

/** Returns the traceparent stored with each of these emails, by email id; emails without a recorded trace are left out. */
export async function readTraceParents(database: Database, emails: readonly EmailKey[]): Promise<Map<string, string>> {
  const { rows } = await database.pool.query<{ email_id: string; trace_parent: string }>({
    name: 'email-trace-read',
    text: `
      select t.email_id, t.trace_parent from unnest($1::text[], $2::text[]) as e (workspace_id, email_id)
      join email_trace t using (workspace_id, email_id)`,
    values: [emails.map(({ workspaceId }) => workspaceId), emails.map(({ emailId }) => emailId)],
  });
  return new Map(rows.map((row) => [row.email_id, row.trace_parent]));
}

/** How long the processing of an email is recorded with its trace. */
const TRACE_AGE_DAYS = 7;

/** Removes up to that many expired trace rows, oldest first; returns how many. */
export async function removeOldTraces(database: Database, limit: number): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'email-trace-remove',
    text: `
      delete from email_trace where ctid = any (array(
        select ctid from email_trace where created_at < (select postroom_now()) - interval '${TRACE_AGE_DAYS} days'
        order by created_at limit $1 for update skip locked))`,
    values: [limit],
  });
  return rowCount ?? 0;
}
