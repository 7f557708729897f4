import { sql, type Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { Tables } from '../../entities/tables.ts';

/**
 * Call it before anything else is locked where a grant is stored, and before a domain or an address that is deleted: what changes keys and members
 * locks the workspace first (hold_workspace in db/migrations/0001-initial/grants.sql).
 */
export async function holdWorkspace(transaction: Transaction<Tables>, workspaceId: string): Promise<void> {
  await sql`select hold_workspace(${workspaceId})`.execute(transaction);
}

/**
 * Returns the scopes that a key of the workspace has now, none when it was revoked or has expired; null: all. Changes of keys wait until the
 * transaction ends.
 */
export async function readPresentScopes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  keyId: string,
): Promise<readonly Scope[] | null> {
  const { rows } = await sql<{ scopes: Scope[] | null }>`
    select p.scopes from present_scopes(${workspaceId}, ${keyId}) p`.execute(transaction);
  const row = rows[0];
  return row === undefined ? [] : row.scopes;
}
