import type { Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

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
