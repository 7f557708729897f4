/**
 * The statement that changes the exact totals of lists (table email_counter), to stand in the transaction that changes the emails.
 * `source` names a relation with user_id, created_at, own_address, own_domain, type, status, is_read, is_archived and delta:
 * +1 for an email that came to bear these values, -1 for one that no longer does. Rows are locked in the order of the key, so that
 * two transactions never wait for each other in a ring.
 */
export function countEmailsSql(source: string): string {
  return `
    insert into email_counter as c (user_id, hour, own_address, own_domain, type, status, is_read, is_archived, count)
    select user_id, date_trunc('hour', created_at, 'UTC'), own_address, own_domain, type, status, is_read, is_archived, sum(delta)
    from ${source}
    group by 1, 2, 3, 4, 5, 6, 7, 8
    order by 1, 2, 3, 5, 6, 7, 8
    on conflict (user_id, hour, own_address, type, status, is_read, is_archived) do update set count = c.count + excluded.count`;
}
