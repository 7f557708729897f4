import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import { receivesSql } from './domain-row.ts';

/** The oldest address of the user's that mail reaches; null when there is none. */
export async function findFirstReceiving(
  transaction: Transaction<Tables>,
  userId: string,
): Promise<{ id: string; address: string } | null> {
  const { rows } = await sql<{ id: string; address: string }>`
    select a.id, a.address from email_address a join domain d on d.user_id = ${userId} and d.id = a.domain_id
    where a.user_id = ${userId} and a.is_active and ${receivesSql('d')} order by a.created_at, a.id limit 1`.execute(
    transaction,
  );
  return rows[0] ?? null;
}
