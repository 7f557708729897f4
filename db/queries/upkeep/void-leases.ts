import type { Database } from '../../connection/database.ts';

/**
 * Ends every lease at once, for a start that knows that no other process runs: all holders are dead. Without it their work would wait until
 * the leases expire. The pool must be of the URL's own role. Returns how many there were.
 */
export function voidLeases(database: Database): Promise<number> {
  return endLeases(database, null);
}

/** Ends the leases of processes that are known to be dead, by the names that they claimed with. Returns how many there were. */
export async function voidLeasesByClaimant(database: Database, claimants: readonly string[]): Promise<number> {
  return claimants.length === 0 ? 0 : endLeases(database, claimants);
}

async function endLeases(database: Database, claimants: readonly string[] | null): Promise<number> {
  const isHeld = 'claimed_by is not null and ($1::text[] is null or claimed_by = any($1::text[]))';
  const { rows } = await database.pool.query<{ count: number }>(
    `with receptions as (
       update reception set claimed_by = null, claimed_until = null where parsed_at is null and ${isHeld} returning 1),
     deliveries as (
       update delivery set claimed_by = null, claimed_until = null where status = 'pending' and ${isHeld} returning 1),
     recipients as (
       update recipient set claimed_by = null, claimed_until = null where status = 'pending' and ${isHeld} returning 1)
     select ((select count(*) from receptions) + (select count(*) from deliveries) + (select count(*) from recipients))::integer as count`,
    [claimants],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Ends the connections of a previous run of this service, whose processes may not have noticed yet that their supervisor is dead. Work that
 * they commit afterwards would be done twice. The pool must be of the URL's own role.
 */
export async function endFormerConnections(database: Database): Promise<void> {
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'postroom %' and pid <> pg_backend_pid()`,
  );
}
