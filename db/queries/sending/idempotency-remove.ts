import type { Database } from '../../connection/database.ts';

/** How long a response is replayed for its Idempotency-Key. */
const KEY_AGE_HOURS = 24;

/** Keys removed at once. */
export const REMOVE_KEYS_BATCH = 2_000;

/** Removes a batch of idempotency keys that have expired; returns how many. */
export async function removeOldIdempotencyKeys(database: Database): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'remove-old-keys',
    text: `
      delete from idempotency_key where ctid = any (array(
        select ctid from idempotency_key where created_at < (select postroom_now()) - interval '${KEY_AGE_HOURS} hours'
        order by created_at limit ${REMOVE_KEYS_BATCH} for update skip locked))`,
  });
  return rowCount ?? 0;
}
