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
     select $1, $2, u.id, $3 from person u where u.email = $4 and u.erase_at is null`,
    [
      makeIdentifier('verification', now, randomBytes(IDENTIFIER_RANDOM_BYTES)),
      storedIdentifier(signInLinkIdentifier(token)),
      new Date(now.getTime() + SIGN_IN_LINK_LIFE_MS),
      email,
    ],
  );
  return rowCount === 0 ? null : token;
}

/** Returns the person whom a link signs in, or signed in until it expired; null: there is none, or it was used. Role postroom_auth. */
export async function findLinkOwner(database: Database, token: string): Promise<string | null> {
  const { rows } = await database.pool.query<{ value: string }>(
    'select value from auth_verification where identifier = $1',
    [storedIdentifier(signInLinkIdentifier(token))],
  );
  return rows[0]?.value ?? null;
}

/** Returns the person who has a passkey; null: no one has it. Role postroom_auth. */
export async function findPasskeyOwner(database: Database, credentialId: string): Promise<string | null> {
  const { rows } = await database.pool.query<{ person_id: string }>(
    'select person_id from auth_passkey where credential_id = $1',
    [credentialId],
  );
  return rows[0]?.person_id ?? null;
}

/** Invalidates all unused links of the user: to sign in and to set a password. Role postroom_auth. */
export async function dropLinks(database: Database, personId: string): Promise<void> {
  await database.pool.query('delete from auth_verification where value = $1 and length(value) < 64', [personId]);
}

interface TryLimit {
  /** tries within the window */
  most: number;
  windowSeconds: number;
}

/**
 * Counts a try for every key, or for none when one of them has reached its limit. Returns the seconds after which to try again; 0 when it
 * was counted. The counts survive restarts and are shared by all gateways of the database. Concurrent tries cannot exceed the limit. Role
 * postroom_auth.
 */
export async function takeAuthTry(database: Database, keys: readonly string[], limit: TryLimit): Promise<number> {
  const { rows } = await database.pool.query<{ wait: number }>({
    name: 'take-auth-try',
    text: `select take_auth_try($1, $2, make_interval(secs => $3)) as wait`,
    values: [keys, limit.most, limit.windowSeconds],
  });
  return rows[0]?.wait ?? limit.windowSeconds;
}

/** After a success: deletes all tries of `cleared`, and the last one of `givenBack`. */
export async function forgiveAuthTries(
  database: Database,
  cleared: readonly string[],
  givenBack: readonly string[],
): Promise<void> {
  await database.pool.query('select forgive_auth_tries($1, $2)', [cleared, givenBack]);
}
