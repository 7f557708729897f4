import type pg from 'pg';

/**
 * Removes those raw messages that nobody has a right to any more: no email bears them, and none of the recipients that share one waits to be
 * parsed. They are locked first, so that of two transactions that take the last rights of a message the second one sees that.
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
    // Only what came by SMTP is shared: of mail that was sent, and of copies that were forwarded, each has its own.
    text: `
      delete from raw_message m where m.id = any ($1::text[]) and not exists (
        select from reception o left join email e on e.user_id = o.user_id and e.id = o.email_id
        where o.raw_id = m.id and (o.parsed_at is null or e.raw_id = m.id))`,
    values: [rawIds],
  });
  return rowCount ?? 0;
}
