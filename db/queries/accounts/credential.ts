import type { Transaction } from 'kysely';
import type { Reach, Scope } from '../../../core/accounts/key-rights.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';

/** An active API key. */
export interface CredentialRow {
  keyId: string;
  userId: string;
  /** null: never */
  expiresAt: Date | null;
  /** null: full rights */
  scopes: readonly Scope[] | null;
  /** the only mail that it can access; null: all */
  reach: Reach | null;
}

/** Returns the active key with this SHA-256 and its user; null when there is none. */
export async function findCredentialOwner(database: Database, secretSha256: Buffer): Promise<CredentialRow | null> {
  const { rows } = await database.pool.query<CredentialColumns>({
    name: 'credential-owner',
    text: 'select key_id, user_id, expires_at, scopes, reach from credential_owner($1)',
    values: [secretSha256],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { key_id: keyId, user_id: userId, expires_at: expiresAt, scopes, reach } = row;
  return { keyId, userId, expiresAt, scopes, reach };
}

interface CredentialColumns {
  key_id: string;
  user_id: string;
  expires_at: Date | null;
  scopes: Scope[] | null;
  reach: Reach | null;
}

/** A use of a key. */
export interface KeyUse {
  at: Date;
  /** address of the client; null: not known */
  from: string | null;
}

/** Records when and from where keys were last used. */
export async function noteKeyUses(database: Database, uses: readonly (KeyUse & { id: string })[]): Promise<void> {
  await database.pool.query('select note_key_uses($1)', [JSON.stringify(uses)]);
}

/** Whether the email, or the batch, with that id is visible in the transaction. */
export async function findReached(
  transaction: Transaction<Tables>,
  userId: string,
  kind: 'email' | 'batch',
  id: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom(kind)
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}
