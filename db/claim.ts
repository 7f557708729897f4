/** Rows taken at once. */
export const CLAIM_BATCH = 50;
/** How long a claim holds unless its work finishes first; longer than any attempt. Seconds. */
export const LEASE_SECONDS = 30;

export interface ClaimOptions {
  table: string;
  /** what makes a row wait for work besides its lease, on the table's own columns; an index should answer it */
  isDue: string;
  /** which rows come first */
  orderBy: string;
  /** columns to answer */
  returning: readonly string[];
  /** further assignments, as `tries = t.tries + 1`; the table is `t` */
  set?: string;
}

/**
 * The statement by which an actor takes due rows of a table whose lease nobody holds.
 * Parameters: $1 the claimant's name, $2 the most rows. Rows locked by another claimant are skipped, not awaited.
 * Work is finished by an update fenced with `claimed_by = $1`, so that a claimant that came late changes nothing.
 */
export function claimStatement(options: ClaimOptions): string {
  const columns = options.returning.map((name) => `t.${name}`).join(', ');
  // (select postroom_now()) is asked once, postroom_now() for every row.
  // Rows are taken by their place (ctid), which cannot change while they are locked: a join over the key might walk the whole table.
  return `
    update ${options.table} t set claimed_by = $1, claimed_until = (select postroom_now()) + interval '${LEASE_SECONDS} seconds'
      ${options.set === undefined ? '' : `, ${options.set}`}
    where t.ctid = any (array(
      select d.ctid from ${options.table} d
      where ${options.isDue} and (d.claimed_until is null or d.claimed_until < (select postroom_now()))
      order by ${options.orderBy} limit $2 for update skip locked))
    returning ${columns}`;
}
