import { type Kysely, sql } from 'kysely';
import type { Retention } from '../../../core/upkeep/retention.ts';
import type { UnitOfWork } from '../../entities/store.ts';
import type { Tables } from '../../entities/tables.ts';
import { Retention as RetentionEntity } from '../../entities/upkeep.ts';

/** Returns the user's settings; null: none, so that the defaults of the service apply. */
export async function readRetention(database: Kysely<Tables>, userId: string): Promise<Retention | null> {
  const { rows } = await sql<Retention>`
    select raw_days as "rawDays", body_days as "bodyDays", metadata_days as "metadataDays" from retention
    where user_id = ${userId}`.execute(database);
  return rows[0] ?? null;
}

/** Stores the user's settings, which take effect within the hour; null removes them. */
export async function writeRetention(
  { entities }: UnitOfWork,
  userId: string,
  retention: Retention | null,
  updatedAt: Date,
): Promise<void> {
  if (retention === null) {
    await entities.nativeDelete(RetentionEntity, { userId });
    return;
  }
  const { rawDays, bodyDays, metadataDays } = retention;
  await entities.upsert(RetentionEntity, { userId, rawDays, bodyDays, metadataDays, updatedAt });
}
