import type { Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
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
  /** the only domain that it can access; null: all */
  domain: { id: string; name: string } | null;
}

/** Returns the active key with this SHA-256 and its user; null when there is none. */
export async function findCredentialOwner(database: Database, secretSha256: Buffer): Promise<CredentialRow | null> {
  const { rows } = await database.pool.query<CredentialColumns>({
    name: 'credential-owner',
    text: 'select key_id, user_id, expires_at, scopes, domain_id, domain_name from credential_owner($1)',
    values: [secretSha256],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { key_id: keyId, user_id: userId, expires_at: expiresAt, scopes, domain_id: id, domain_name: name } = row;
  return { keyId, userId, expiresAt, scopes, domain: id === null || name === null ? null : { id, name } };
}

interface CredentialColumns {
  key_id: string;
  user_id: string;
  expires_at: Date | null;
  scopes: Scope[] | null;
  domain_id: string | null;
  domain_name: string | null;
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
