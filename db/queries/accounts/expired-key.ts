import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import type { KeyLimits } from './api-key.ts';

/** Keys settled at once. */
export const SETTLE_KEYS_BATCH = 100;

/** Cuts what keys set up that have expired since the last call, up to a batch of them, and returns what that changed, by user. */
export async function settleExpiredKeys(transaction: Transaction<Tables>): Promise<(KeyLimits & { userId: string })[]> {
  const { rows } = await sql<{ user_id: string; key_id: string; disabled: KeyLimits['disabledEndpoints'] }>`
    select * from settle_expired_keys(${SETTLE_KEYS_BATCH})`.execute(transaction);
  return rows.map(({ user_id: userId, key_id: keyId, disabled: disabledEndpoints }) => ({
    userId,
    keyIds: [keyId],
    disabledEndpoints,
  }));
}

/** Lets the rest of the transaction ask for the keys of this user. */
export async function askForKeysOf(transaction: Transaction<Tables>, userId: string): Promise<void> {
  await sql`select set_config('postroom.user_id', ${userId}, true)`.execute(transaction);
}
