import {
  decryptSecret,
  encryptSecret,
  NONCE_BYTES,
  type SecretPurpose,
  secretKeyId,
} from '../../../core/shared/secret-box.ts';
import type { Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';

/** A column with values that are encrypted under SECRET_KEY. */
interface EncryptedColumn {
  table: string;
  column: string;
  /** the primary key */
  key: readonly string[];
  purpose: SecretPurpose;
}

/** Every encrypted column, except the canary, which says which key is in use. */
export const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  { table: 'endpoint', column: 'secret_ciphertext', key: ['workspace_id', 'id'], purpose: 'webhook-secret' },
  {
    table: 'dkim_key',
    column: 'private_key_ciphertext',
    key: ['workspace_id', 'domain_id', 'selector'],
    purpose: 'dkim-key',
  },
  { table: 'sign_in_provider', column: 'secret_ciphertext', key: ['workspace_id'], purpose: 'provider-secret' },
  { table: 'auth_totp', column: 'secret_ciphertext', key: ['person_id'], purpose: 'totp-secret' },
];

/** Values that are read at once. */
const BATCH = 100;

export interface Rotation {
  /** keeps the previous key, see core/shared/previous-key.ts */
  secretKey: Uint8Array;
  random: (bytes: number) => Uint8Array;
  /** called after each value was stored */
  rewritten?: (table: string) => void;
}

/**
 * Encrypts what the previous SECRET_KEY encrypted with the present one, value by value, while the service runs: a value that was changed
 * meanwhile keeps the change. It can be ended at any point, and continues when it is run again. Then only the present key fits the database.
 * Returns how many values of each table were rewritten. Throws SecretBoxError for a value of neither key. The pool must be of the owner.
 */
export async function rotateSecretKey(database: Database, rotation: Rotation): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const column of ENCRYPTED_COLUMNS) counts[column.table] = await rewriteColumn(database, column, rotation);
  await forgetPreviousCanary(database, rotation.secretKey);
  return counts;
}

async function rewriteColumn(
  database: Database,
  { table, column, key, purpose }: EncryptedColumn,
  { secretKey, random, rewritten }: Rotation,
): Promise<number> {
  const own = `v1.${secretKeyId(secretKey)}.%`;
  const keys = key.join(', ');
  const isRow = key.map((name, at) => `${name} = $${at + 3}`).join(' and ');
  for (let count = 0; ; ) {
    const { rows } = await database.pool.query<Record<string, string>>(
      `select ${keys}, ${column} as ciphertext from ${table} where ${column} not like $1 order by ${keys} limit ${BATCH}`,
      [own],
    );
    if (rows.length === 0) return count;
    for (const row of rows) {
      const { ciphertext = '' } = row;
      const renewed = encryptSecret(
        secretKey,
        purpose,
        decryptSecret(secretKey, purpose, ciphertext),
        random(NONCE_BYTES),
      );
      const { rowCount } = await database.pool.query(
        `update ${table} set ${column} = $1 where ${column} = $2 and ${isRow}`,
        [renewed, ciphertext, ...key.map((name) => row[name])],
      );
      count += rowCount ?? 0;
      rewritten?.(table);
    }
  }
}

/** Makes the present key the only one that fits. Refuses while values of another one are left. */
function forgetPreviousCanary(database: Database, secretKey: Uint8Array): Promise<void> {
  return inTransaction(database, async (client) => {
    await client.query('lock table secret_canary in exclusive mode');
    const { rowCount } = await client.query('select from secret_canary where key_id = $1', [secretKeyId(secretKey)]);
    if (rowCount !== 1)
      throw new Error('The service has not been started with this SECRET_KEY. Start it, then run this again');
    await client.query('delete from secret_canary where key_id <> $1', [secretKeyId(secretKey)]);
  });
}
