import type { Database } from '../database.ts';

/**
 * `length` octets from `start` (0-based) of the message behind an email of the user. `missing`: the message is gone;
 * `damaged`: its octets no longer fit the sha256 that they were stored with.
 */
export async function readRawOctets(
  database: Database,
  userId: string,
  emailId: string,
  slice: { start: number; length: number },
): Promise<Buffer | 'missing' | 'damaged'> {
  // The function takes the user itself, so that no transaction for the user's setting is needed.
  const { rows } = await database.pool.query<{ octets: Buffer | null }>({
    name: 'raw-octets',
    text: 'select octets from raw_octets($1, $2, $3, $4)',
    values: [userId, emailId, slice.start, slice.length],
  });
  const row = rows[0];
  return row === undefined ? 'missing' : (row.octets ?? 'damaged');
}
