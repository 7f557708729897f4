import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../../core/shared/durations.ts';

/**
 * Returns the statement that updates the exact totals of lists (table email_counter), for the transaction that changes the emails. `source`
 * names a relation with workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived and delta: +1 for an email that
 * now has these values, -1 for one that no longer has. Rows are locked in key order, to prevent deadlocks. All writers of a workspace's mail
 * share the rows of whole domains, so run it late in its transaction.
 */
export function countEmailsSql(source: string): string {
  return `
    insert into email_counter as c (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived, count)
    select workspace_id, a.counted_address, g.grain, g.begins_at, own_domain, type, status, is_read, is_archived, sum(delta)
    from ${source}
    cross join lateral (values (own_address), ('${WHOLE_DOMAIN}')) as a(counted_address)
    cross join lateral (values ('all', '-infinity'::timestamptz), ('day', date_trunc('day', created_at, 'UTC')),
      ('hour', date_trunc('hour', created_at, 'UTC'))) as g(grain, begins_at)
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    having sum(delta) <> 0
    order by 1, 2, 3, 4, 5, 6, 7, 8, 9
    on conflict (workspace_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived)
      do update set count = c.count + excluded.count`;
}

/** The addresses of other domains that the transaction is limited to (limitedTo in db/connection/transaction.ts); none without a limit. */
const reachedAddresses = sql`string_to_array(current_setting('postroom.address', true), chr(10))`;

/**
 * The `own_address` of rows of email_counter that together count all mail which the transaction may see: each email once. Row-level security
 * shows the sums of its domains, and its addresses are of other domains.
 */
export const countedOwners = sql`array_append(coalesce(${reachedAddresses}, '{}'), '*')`;

/** Selects the emails to count. */
export interface CountedEmails {
  /** an expression: an address of the workspace; null counts all addresses */
  address: RawBuilder<string> | null;
  /** conditions on columns own_domain, type, status, is_read and is_archived of `c` */
  conditions: readonly RawBuilder<SqlBool>[];
  /** created in an hour that begins then or later; null: at any time */
  since: Date | null;
}

/** Returns an expression for the count. */
export function countedEmails(workspaceId: string, { address, conditions, since }: CountedEmails): RawBuilder<number> {
  const sumRows = (owner: RawBuilder<SqlBool>, ofGrain: readonly RawBuilder<SqlBool>[]) => sql<number>`(
    select coalesce(sum(c.count), 0)::bigint from email_counter c where c.workspace_id = ${workspaceId}
      and ${owner} and ${sql.join([...ofGrain, ...conditions], sql` and `)})`;
  // Apart from each other, so that the count of one domain among many uses the index of domains.
  const sum = (...ofGrain: RawBuilder<SqlBool>[]) =>
    address === null
      ? sql<number>`(${sumRows(sql`c.own_address = ${WHOLE_DOMAIN}`, ofGrain)} + ${sumRows(sql`c.own_address = any (${reachedAddresses})`, ofGrain)})`
      : sumRows(sql`c.own_address = ${address}`, ofGrain);
  if (since === null) return sum(sql`c.grain = 'all'`);
  const sums = listWholeHours(since).map(({ grain, from, until }) =>
    sum(sql`c.grain = ${grain}`, sql`c.begins_at >= ${from}`, until === null ? sql`true` : sql`c.begins_at < ${until}`),
  );
  return sql<number>`(${sql.join(sums, sql` + `)})`;
}

/**
 * The rows that count what was created in an hour that begins at that instant or later: whole days, and the hours before the first of them.
 */
export function listWholeHours(since: Date): { grain: 'day' | 'hour'; from: Date; until: Date | null }[] {
  const nextDay = nextWhole(since, DAY_MS);
  return [
    { grain: 'day', from: nextDay, until: null },
    { grain: 'hour', from: nextWhole(since, HOUR_MS), until: nextDay },
  ];
}

/** Returns the start of the first hour that is completely after the instant; the instant itself if it starts an hour. */
export function nextHour(at: Date): Date {
  return nextWhole(at, HOUR_MS);
}

/** All days of UTC have the same number of milliseconds. */
function nextWhole(at: Date, lengthMs: number): Date {
  return new Date(Math.ceil(at.getTime() / lengthMs) * lengthMs);
}

/** Means all addresses of the domain. */
export const WHOLE_DOMAIN = '*';
