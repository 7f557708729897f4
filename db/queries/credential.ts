import type { Database } from '../database.ts';

/** The living key with this SHA-256 and whose it is; null when there is none. */
export async function findCredentialOwner(
  database: Database,
  secretSha256: Buffer,
): Promise<{ keyId: string; userId: string; expiresAt: Date | null } | null> {
  const { rows } = await database.pool.query<{ key_id: string; user_id: string; expires_at: Date | null }>({
    name: 'credential-owner',
    text: 'select key_id, user_id, expires_at from credential_owner($1)',
    values: [secretSha256],
  });
  const row = rows[0];
  return row === undefined ? null : { keyId: row.key_id, userId: row.user_id, expiresAt: row.expires_at };
}

/** Writes when keys were last used. */
export async function noteKeyUses(database: Database, uses: readonly { id: string; at: Date }[]): Promise<void> {
  await database.pool.query('select note_key_uses($1)', [JSON.stringify(uses)]);
}
