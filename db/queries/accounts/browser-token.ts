import { sql, type Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';

/** Names a workspace, which is the transaction's or one that it keeps for a customer, and addresses there. */
export interface TokenTarget {
  workspaceId: string;
  /** lower case */
  addresses: readonly string[];
}

/** Returns those of the addresses that a workspace has; null when it is neither that of the transaction nor a customer's, or is closed. */
export async function findTokenAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { workspaceId: targetId, addresses }: TokenTarget,
): Promise<string[] | null> {
  const { rows } = await sql<{ found: string[] | null }>`
    select token_addresses(${workspaceId}, ${targetId}, ${addresses}::text[]) as found`.execute(transaction);
  return rows[0]?.found ?? null;
}

/** What a browser token may still do. */
export interface TokenParent {
  /** of the key that created it, null: full rights */
  scopes: readonly Scope[] | null;
  /** those of the token that the workspace still has */
  addresses: readonly string[];
  isSuspended: boolean;
  mayHaveQuotas: boolean;
}

/** Returns what is left of a browser token; null when the key that created it is not valid any more, or the workspace is closed. */
export async function findTokenParent(
  database: Database,
  { keyId, parentId, workspaceId, addresses }: TokenTarget & { keyId: string; parentId: string },
): Promise<TokenParent | null> {
  const { rows } = await database.pool.query<{
    scopes: Scope[] | null;
    addresses: string[];
    is_suspended: boolean;
    has_quotas: boolean;
  }>({
    name: 'token-parent',
    text: 'select scopes, addresses, is_suspended, has_quotas from token_parent($1, $2, $3, $4)',
    values: [keyId, parentId, workspaceId, addresses],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    scopes: row.scopes,
    addresses: row.addresses,
    isSuspended: row.is_suspended,
    mayHaveQuotas: row.has_quotas,
  };
}
