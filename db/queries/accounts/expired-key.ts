import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import type { KeyLimits } from './api-key.ts';

/** Keys settled at once. */
export const SETTLE_KEYS_BATCH = 100;

/** Cuts what keys set up that have expired since the last call, up to a batch of them, and returns what that changed, by workspace. */
export async function settleExpiredKeys(
  transaction: Transaction<Tables>,
): Promise<(KeyLimits & { workspaceId: string })[]> {
  const { rows } = await sql<{ workspace_id: string; key_id: string; disabled: KeyLimits['disabledEndpoints'] }>`
    select * from settle_expired_keys(${SETTLE_KEYS_BATCH})`.execute(transaction);
  return rows.map(({ workspace_id: workspaceId, key_id: keyId, disabled: disabledEndpoints }) => ({
    workspaceId,
    keyIds: [keyId],
    disabledEndpoints,
  }));
}

/**
 * Returns the workspaces of customers in which mail is scheduled that browser tokens of these keys of the parent sent, and keeps more from being
 * stored with the rights that the keys had.
 */
export async function lockCustomersSentFrom(
  transaction: Transaction<Tables>,
  parentId: string,
  keyIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select w.id, pg_advisory_xact_lock(send_rights_lock(w.id)) from (
      select w.id from workspace w where w.parent_id = ${parentId} and exists (
        select from email e where e.workspace_id = w.id and e.type = 'scheduled' and e.scheduled_by_key_id = any (${keyIds}::text[]))
      order by send_rights_lock(w.id)) w`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Lets the rest of the transaction ask for the keys of this workspace. */
export async function scopeKeysToWorkspace(transaction: Transaction<Tables>, workspaceId: string): Promise<void> {
  await sql`select set_config('postroom.workspace_id', ${workspaceId}, true)`.execute(transaction);
}
