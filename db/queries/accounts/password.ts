import type { Database } from '../../connection/database.ts';

/** Returns a text that changes with the password of the person with that address (in lower case); null without one. Role postroom_auth. */
export async function readPasswordMark(database: Database, email: string): Promise<string | null> {
  const { rows } = await database.pool.query<{ mark: string }>(
    `select encode(sha256(convert_to(c.password, 'UTF8')), 'hex') as mark from auth_credential c
     join person u on u.id = c.person_id where u.email = $1 and c.provider_id = 'credential' and c.password is not null`,
    [email],
  );
  return rows[0]?.mark ?? null;
}

/**
 * Completes a password reset by a mailed link: ends the sessions that began meanwhile, and counts the address as proved. If it was not proved
 * before, someone else may have signed up with it, so the passkeys that were added until now end, too. Role postroom_auth.
 */
export async function settlePasswordReset(database: Database, personId: string): Promise<void> {
  await database.pool.query(
    `with ended as (delete from auth_session where person_id = $1),
       proved as (update person set email_verified = true where id = $1 and not email_verified returning id)
     delete from auth_passkey p using proved where p.person_id = proved.id`,
    [personId],
  );
}
