import type { Database } from '../../connection/database.ts';
import { eraseRows, listErasedLately } from '../accounts/erase-account.ts';
import { forgetOldFaults } from './dead-row.ts';

/** Rows of one kind removed at once. */
export const LEFTOVERS_BATCH = 1_000;

/**
 * Removes a batch of unused rows: what `remove_leftovers` (db/migrations/0001-initial/upkeep.sql) lists, resolved faults, and what was in
 * progress for accounts when they were erased. Returns the largest number removed of one kind.
 */
export async function removeLeftovers(database: Database): Promise<number> {
  for (const workspaceId of await listErasedLately(database)) await eraseRows(database, workspaceId);
  const { rows } = await database.pool.query<{ most: number }>({
    name: 'remove-leftovers',
    text: 'select remove_leftovers($1) as most',
    values: [LEFTOVERS_BATCH],
  });
  return Math.max(rows[0]?.most ?? 0, await forgetOldFaults(database, LEFTOVERS_BATCH));
}
