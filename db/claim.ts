/** Maximum rows per claim. */
export const CLAIM_BATCH = 50;
/** How long a claim holds unless its work finishes first; longer than any attempt. Seconds. */
export const LEASE_SECONDS = 30;

export interface ClaimOptions {
  table: string;
  /** condition for a row to be due, besides its lease; uses only the table's own columns and should have an index */
  isDue: string;
  /** which rows come first */
  orderBy: string;
  /** columns to return */
  returning: readonly string[];
  /** more assignments, such as `tries = t.tries + 1`; the table is `t` */
  set?: string;
}

/**
 * Returns the statement that claims due rows of a table that have no current lease.
 * Parameters: $1 the claimant's name, $2 the maximum number of rows. Rows locked by another claimant are skipped.
 * The update that finishes the work is fenced with `claimed_by = $1`, so that a claimant whose lease ended changes nothing.
 */
export function claimStatement(options: ClaimOptions): string {
  const columns = options.returning.map((name) => `t.${name}`).join(', ');
  // (select postroom_now()) is evaluated once, postroom_now() for every row.
  // Rows are found by ctid, which cannot change while they are locked; a join on the key might scan the whole table.
  return `
    update ${options.table} t set claimed_by = $1, claimed_until = (select postroom_now()) + interval '${LEASE_SECONDS} seconds'
      ${options.set === undefined ? '' : `, ${options.set}`}
    where t.ctid = any (array(
      select d.ctid from ${options.table} d
      where ${options.isDue} and (d.claimed_until is null or d.claimed_until < (select postroom_now()))
      order by ${options.orderBy} limit $2 for update skip locked))
    returning ${columns}`;
}
