import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/**
 * Makes the deferred recipients of a sent email due now, except those being tried. Returns the ids of those that are due then, including
 * those that were due before.
 */
export async function hastenRecipients(
  transaction: Transaction<Tables>,
  userId: string,
  emailId: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update recipient r set next_attempt_at = least(r.next_attempt_at, (select postroom_now()))
    where r.user_id = ${userId} and r.email_id = ${emailId} and r.delivery_id is null and r.status = 'pending' and r.attempts > 0
      and r.next_attempt_at is not null and (r.claimed_until is null or r.claimed_until < (select postroom_now()))
    returning r.id`.execute(transaction);
  return rows.map(({ id }) => id);
}
