import type pg from 'pg';
import type { Retention } from '../../core/retention.ts';

/** What the user chose; null: nothing, so that the defaults of the service hold. */
export async function readRetention(client: Pick<pg.ClientBase, 'query'>, userId: string): Promise<Retention | null> {
  const { rows } = await client.query<Retention>({
    name: 'retention-read',
    text: `select raw_days as "rawDays", body_days as "bodyDays", metadata_days as "metadataDays" from retention where user_id = $1`,
    values: [userId],
  });
  return rows[0] ?? null;
}

/** Writes what the user chose, which is looked at within the hour; null: nothing any more. */
export async function writeRetention(
  client: Pick<pg.ClientBase, 'query'>,
  userId: string,
  retention: Retention | null,
): Promise<void> {
  if (retention === null) {
    await client.query({
      name: 'retention-forget',
      text: 'delete from retention where user_id = $1',
      values: [userId],
    });
    return;
  }
  const { rawDays, bodyDays, metadataDays } = retention;
  await client.query({
    name: 'retention-write',
    text: `
      insert into retention (user_id, raw_days, body_days, metadata_days) values ($1, $2, $3, $4)
      on conflict (user_id) do update set raw_days = $2, body_days = $3, metadata_days = $4, updated_at = now()`,
    values: [userId, rawDays, bodyDays, metadataDays],
  });
}
