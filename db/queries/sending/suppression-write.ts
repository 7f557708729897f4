import type { ClientBase } from 'pg';
import type { SuppressionReason } from '../../../core/sending/suppression.ts';

/** An address to suppress for a user. */
export interface SuppressionRecord {
  user_id: string;
  /** id of the suppression, if it is new */
  id: string;
  /** case-insensitive */
  address: string;
  reason: Exclude<SuppressionReason, 'manual'>;
  /** text from the server or the report */
  detail: string | null;
  email_id: string;
}

/**
 * Adds addresses to their users' suppression lists, in the caller's transaction and before its events. An entry that exists stays
 * unchanged, except that a complaint replaces a bounce. Rows are locked in key order.
 */
export async function suppressAddresses(client: ClientBase, records: readonly SuppressionRecord[]): Promise<void> {
  if (records.length === 0) return;
  await client.query({ name: 'suppress-addresses', text: SUPPRESS_SQL, values: [JSON.stringify(records)] });
}

const SUPPRESS_SQL = `
  insert into suppression as s (user_id, id, address, reason, detail, email_id, created_at)
  select distinct on (g.user_id, lower(g.address)) g.user_id, g.id, lower(g.address), g.reason, g.detail, g.email_id,
    (select postroom_now())
  from json_to_recordset($1) as g (user_id text, id text, address text, reason text, detail text, email_id text)
  order by g.user_id, lower(g.address), g.reason desc
  on conflict (user_id, address) do update set reason = excluded.reason, detail = excluded.detail, email_id = excluded.email_id
  where s.reason = 'bounce' and excluded.reason = 'complaint'`;
