import type { Database } from '../../connection/database.ts';

/**
 * Ends every lease at once, for a start that knows that no other process runs: all holders are dead. Without it their work would wait until
 * the leases expire. The pool must be of the URL's own role. Returns how many there were.
 */
export async function voidLeases(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `with receptions as (
       update reception set claimed_by = null, claimed_until = null where parsed_at is null and claimed_by is not null returning 1),
     deliveries as (
       update delivery set claimed_by = null, claimed_until = null where status = 'pending' and claimed_by is not null returning 1),
     recipients as (
       update recipient set claimed_by = null, claimed_until = null where status = 'pending' and claimed_by is not null returning 1)
     select (select count(*) from receptions) + (select count(*) from deliveries) + (select count(*) from recipients) as count`,
  );
  return rows[0]?.count ?? 0;
}
