import { type Kysely, sql } from 'kysely';
import type { Retention } from '../../../core/upkeep/retention.ts';
import type { Tables } from '../../entities/tables.ts';

/** Returns the user's settings; null: none, so that the defaults of the service apply. */
export async function readRetention(database: Kysely<Tables>, userId: string): Promise<Retention | null> {
  const { rows } = await sql<Retention>`
    select raw_days as "rawDays", body_days as "bodyDays", metadata_days as "metadataDays" from retention
    where user_id = ${userId}`.execute(database);
  return rows[0] ?? null;
}

/** Stores the user's settings, which take effect within the hour; null removes them. */
export async function writeRetention(
  database: Kysely<Tables>,
  userId: string,
  retention: Retention | null,
): Promise<void> {
  if (retention === null) {
    await sql`delete from retention where user_id = ${userId}`.execute(database);
    return;
  }
  const { rawDays, bodyDays, metadataDays } = retention;
  await sql`
    insert into retention (user_id, raw_days, body_days, metadata_days) values (${userId}, ${rawDays}, ${bodyDays}, ${metadataDays})
    on conflict (user_id) do update set raw_days = excluded.raw_days, body_days = excluded.body_days,
      metadata_days = excluded.metadata_days, updated_at = now()`.execute(database);
}
