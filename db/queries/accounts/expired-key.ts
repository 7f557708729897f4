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

/** Lets the rest of the transaction ask for the keys of this workspace. */
export async function scopeKeysToWorkspace(transaction: Transaction<Tables>, workspaceId: string): Promise<void> {
  await sql`select set_config('postroom.workspace_id', ${workspaceId}, true)`.execute(transaction);
}
