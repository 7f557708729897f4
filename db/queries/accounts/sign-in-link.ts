import { randomBytes } from 'node:crypto';
import { SIGN_IN_LINK_LIFE_MS, signInLinkIdentifier, storedIdentifier } from '../../../core/accounts/auth-secret.ts';
import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../connection/database.ts';

const TOKEN_BYTES = 32;

/**
 * Creates a link that signs in once, within 24 hours, to the account with that address (in lower case), and returns its token; null when
 * there is no such account. Only the token's SHA-256 is stored. The pool must be of the URL's own role.
 */
export async function makeSignInLink(database: Database, email: string): Promise<string | null> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const now = new Date();
  const { rowCount } = await database.pool.query(
    `insert into auth_verification (id, identifier, value, expires_at)
     select $1, $2, u.id, $3 from user_account u where u.email = $4`,
    [
      makeIdentifier('verification', now, randomBytes(IDENTIFIER_RANDOM_BYTES)),
      storedIdentifier(signInLinkIdentifier(token)),
      new Date(now.getTime() + SIGN_IN_LINK_LIFE_MS),
      email,
    ],
  );
  return rowCount === 0 ? null : token;
}

/** Invalidates all unused links of the user: to sign in and to set a password. Role postroom_auth. */
export async function dropLinks(database: Database, userId: string): Promise<void> {
  await database.pool.query('delete from auth_verification where value = $1 and length(value) < 64', [userId]);
}
