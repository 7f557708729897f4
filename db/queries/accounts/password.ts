import type { Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';

/** Returns a text that changes with the password of the person with that address (in lower case); null without one. Role postroom_auth. */
export async function readPasswordMark(database: Database, email: string): Promise<string | null> {
  const { rows } = await database.pool.query<{ mark: string }>(
    `select encode(sha256(convert_to(c.password, 'UTF8')), 'hex') as mark from auth_credential c
     join person u on u.id = c.person_id where u.email = $1 and c.provider_id = 'credential' and c.password is not null`,
    [email],
  );
  return rows[0]?.mark ?? null;
}

/** Completes a password reset by a mailed link: see settle_password_reset. Role postroom_auth. */
export async function settlePasswordReset(database: Database, personId: string): Promise<void> {
  await database.pool.query('select settle_password_reset($1)', [personId]);
}

/**
 * Removes a passkey that was just stored if the session that added it has ended meanwhile, as a password reset ends it. Returns whether the
 * passkey stays. Role postroom_auth.
 */
export async function keepPasskey(
  database: Database,
  { passkeyId, sessionId }: { passkeyId: string; sessionId: string },
): Promise<boolean> {
  return inTransaction(database, async (client) => {
    // Waits for a reset that is ending the session; one that comes later sees the passkey.
    const { rowCount } = await client.query('select from auth_session where id = $1 for share', [sessionId]);
    if (rowCount === 1) return true;
    await client.query('delete from auth_passkey where id = $1', [passkeyId]);
    return false;
  });
}
