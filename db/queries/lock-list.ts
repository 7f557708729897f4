import { sql, type Transaction } from 'kysely';
import type { Tables } from '../entities/tables.ts';

/**
 * Waits until no other transaction adds to a list of the workspace that has a limit, and keeps others waiting until this one ends. A statement
 * after it counts all that is there: without it, requests at the same time would each count what the others have not yet committed.
 */
export async function lockList(
  transaction: Transaction<Tables>,
  workspaceId: string,
  table: 'snippet' | 'saved_view' | 'image_sender',
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`list ${table} ${workspaceId}`}, 0))`.execute(transaction);
}
