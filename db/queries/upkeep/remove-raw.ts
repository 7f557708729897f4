import type pg from 'pg';

/**
 * Removes those raw messages that are no longer needed: no email has them, and no recipient that shares one waits to be parsed. They are
 * locked first, so that of two transactions that remove the last references the second one sees it.
 */
export async function removeRawMessages(client: pg.ClientBase, rawIds: readonly string[]): Promise<number> {
  if (rawIds.length === 0) return 0;
  await client.query({
    name: 'remove-raw-lock',
    text: 'select from raw_message m where m.id = any ($1::text[]) order by m.id for update',
    values: [rawIds],
  });
  const { rowCount } = await client.query({
    name: 'remove-raw',
    // Only SMTP messages are shared: sent mail and forwarded copies have their own.
    text: `
      delete from raw_message m where m.id = any ($1::text[]) and not exists (
        select from reception o left join email e on e.user_id = o.user_id and e.id = o.email_id
        where o.raw_id = m.id and (o.parsed_at is null or e.raw_id = m.id))`,
    values: [rawIds],
  });
  return rowCount ?? 0;
}
