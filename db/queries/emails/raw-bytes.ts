import { sql, type Transaction } from 'kysely';
import { type Database } from '../../connection/database.ts';
import { asUser } from '../../connection/transaction.ts';
import type { Tables } from '../../entities/tables.ts';

/**
 * Returns `length` bytes from `start` (0-based) of the message of a user's email. `missing`: the message is gone; `damaged`: its bytes do
 * not match the sha256 that was stored with them.
 */
export async function readRawBytes(
  database: Database,
  userId: string,
  emailId: string,
  { start, length }: { start: number; length: number },
): Promise<Buffer | 'missing' | 'damaged'> {
  const { rows } = await asUser(database, userId, (transaction) =>
    sql<{
      bytes: Buffer | null;
    }>`select octets as bytes from raw_octets(${userId}, ${emailId}, ${start}, ${length})`.execute(transaction),
  );
  const row = rows[0];
  return row === undefined ? 'missing' : (row.bytes ?? 'damaged');
}

/**
 * Returns the first `length` bytes of the messages of those of the emails that belong to the user, by email id; `damaged` where its bytes do
 * not match the sha256 that was stored with them.
 */
export async function findRawBeginnings(
  transaction: Transaction<Tables>,
  userId: string,
  emailIds: readonly string[],
  length: number,
): Promise<Map<string, Buffer | 'damaged'>> {
  const { rows } = await sql<{ id: string; bytes: Buffer | null }>`
    select k.id, r.octets as bytes from unnest(${emailIds}::text[]) k(id)
    cross join lateral raw_octets(${userId}, k.id, 0, ${length}) r`.execute(transaction);
  return new Map(rows.map(({ id, bytes }) => [id, bytes ?? 'damaged']));
}

/** Returns the sizes in bytes of the messages of those of the emails that belong to the user, by email id. */
export async function findRawSizes(
  transaction: Transaction<Tables>,
  userId: string,
  emailIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ email_id: string; bytes: number }>`
    select email_id, octets as bytes from raw_sizes(${userId}, ${emailIds}::text[])`.execute(transaction);
  return new Map(rows.map((row) => [row.email_id, row.bytes]));
}
