import { type Kysely, sql } from 'kysely';
import { DAY_MS } from '../../../core/shared/durations.ts';
import type { Retention } from '../../../core/upkeep/retention.ts';
import type { UnitOfWork } from '../../entities/store.ts';
import type { Tables } from '../../entities/tables.ts';
import { Retention as RetentionEntity } from '../../entities/upkeep.ts';

/** Returns the workspace's settings; null: none, so that the defaults of the service apply. */
export async function readRetention(database: Kysely<Tables>, workspaceId: string): Promise<Retention | null> {
  const { rows } = await sql<Retention>`
    select raw_days as "rawDays", body_days as "bodyDays", metadata_days as "metadataDays" from retention
    where workspace_id = ${workspaceId}`.execute(database);
  return rows[0] ?? null;
}

/** Stores the workspace's settings, which take effect within the hour; null removes them. */
export async function writeRetention(
  { entities }: UnitOfWork,
  workspaceId: string,
  retention: Retention | null,
  updatedAt: Date,
): Promise<void> {
  if (retention === null) {
    await entities.nativeDelete(RetentionEntity, { workspaceId });
    return;
  }
  const { rawDays, bodyDays, metadataDays } = retention;
  await entities.upsert(RetentionEntity, { workspaceId, rawDays, bodyDays, metadataDays, updatedAt });
}

/** Emails that are older than each period allows: to erase completely, with text to erase, with a raw message to erase. */
export interface RetentionCounts {
  emails: number;
  bodies: number;
  raws: number;
}

/** Counting stops at this number. */
export const MAX_RETENTION_COUNT = 100_000;

/** Returns what these periods erase now. Mail that is being processed is counted, although it stays for a while. */
export async function countErased(
  database: Kysely<Tables>,
  workspaceId: string,
  { rawDays, bodyDays, metadataDays }: Retention,
  now: Date,
): Promise<RetentionCounts> {
  const before = (days: number | null) =>
    days === null ? null : new Date(now.getTime() - days * DAY_MS).toISOString();
  const { rows } = await sql<RetentionCounts>`
    select
      (select count(*)::int from (select from email e where e.workspace_id = ${workspaceId}
        and e.created_at < ${before(metadataDays)}::timestamptz limit ${MAX_RETENTION_COUNT}) c) as emails,
      (select count(*)::int from (select from email e where e.workspace_id = ${workspaceId}
        and e.created_at < ${before(bodyDays)}::timestamptz and exists (select from email_content c
          where c.workspace_id = e.workspace_id and c.email_id = e.id and (c.text_body is not null or c.html_body is not null or c.body_places is not null))
        limit ${MAX_RETENTION_COUNT}) c) as bodies,
      (select count(*)::int from (select from email e where e.workspace_id = ${workspaceId}
        and e.created_at < ${before(rawDays)}::timestamptz and e.raw_id is not null limit ${MAX_RETENTION_COUNT}) c) as raws
  `.execute(database);
  return rows[0] ?? { emails: 0, bodies: 0, raws: 0 };
}
