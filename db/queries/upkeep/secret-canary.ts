import { acceptedKeys } from '../../../core/shared/previous-key.ts';
import {
  decryptSecret,
  encryptSecret,
  NONCE_BYTES,
  SecretBoxError,
  secretKeyId,
} from '../../../core/shared/secret-box.ts';
import { type Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';

/**
 * Whether this SECRET_KEY is the one that encrypted the secrets in the database. The first key becomes that one: a canary text is stored
 * encrypted with it. So does a key that replaces it, until rotateSecretKey has run: then both are. The pool must be of the URL's own role.
 */
export function fitsSecretKey(
  database: Database,
  secretKey: Uint8Array,
  random: (bytes: number) => Uint8Array,
): Promise<boolean> {
  return inTransaction(database, async (client) => {
    // Two services that start at the same time must not store two keys.
    await client.query('lock table secret_canary in exclusive mode');
    const { rows } = await client.query<{ key_id: string; ciphertext: string }>(
      'select key_id, ciphertext from secret_canary',
    );
    const [, previous] = acceptedKeys(secretKey);
    const isReplacement = previous !== undefined && rows.some((row) => opens(previous, row.ciphertext));
    const isKnown = rows.some((row) => row.key_id === secretKeyId(secretKey) && opens(secretKey, row.ciphertext));
    if (rows.length === 0 || (isReplacement && !isKnown)) {
      const ciphertext = encryptSecret(secretKey, 'canary', CANARY, random(NONCE_BYTES));
      await client.query('insert into secret_canary (key_id, ciphertext) values ($1, $2)', [
        secretKeyId(secretKey),
        ciphertext,
      ]);
      return true;
    }
    return isKnown;
  });
}

const CANARY = 'canary';

function opens(secretKey: Uint8Array, ciphertext: string): boolean {
  try {
    return decryptSecret(secretKey, 'canary', ciphertext) === CANARY;
  } catch (error) {
    if (error instanceof SecretBoxError) return false;
    throw error;
  }
}
