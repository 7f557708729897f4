import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DoorReason } from '../../../core/screening/door/refusal.ts';
import { OPERATOR } from '../../../core/screening/door/refusal.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';

/** A refusal, or several of the same kind within an hour. */
export interface RefusalRow {
  id: string;
  createdAt: Date;
  lastAt: Date;
  reason: DoorReason;
  clientAddress: string;
  network: string | null;
  helo: string | null;
  sender: string | null;
  recipient: string | null;
  reply: string;
  times: number;
}

/** Filters of the list; null matches all. */
export interface RefusalConditions {
  reason: DoorReason | null;
  /** part of the recipient, the sender, the client's address or its name */
  search: string | null;
  recipient: string | null;
  since: Date | null;
  until: Date | null;
}

/** Counting stops at this number. */
export const MAX_COUNTED_REFUSALS = 10_000;

/** Returns the refusals between two cursors, newest first; inverted: oldest first. */
export async function pageRefusals(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: RefusalConditions,
  page: KeysetPage,
): Promise<RefusalRow[]> {
  const { rows } = await sql<RefusalRow>`
    select ${columns} from door_refusal r where ${whereSql(workspaceId, conditions)} ${keysetConditions('r', page)}
    ${keysetOrder('r', page)} limit ${page.limit}`.execute(transaction);
  return rows;
}

/** Returns a page, newest first. */
export async function listRefusals(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: RefusalConditions,
  page: Page,
): Promise<RefusalRow[]> {
  const { rows } = await sql<RefusalRow>`
    select ${columns} from door_refusal r where ${whereSql(workspaceId, conditions)}
    order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}`.execute(transaction);
  return rows;
}

/** Returns how many refusals match, up to MAX_COUNTED_REFUSALS. */
export async function countRefusals(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: RefusalConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (
      select from door_refusal r where ${whereSql(workspaceId, conditions)} limit ${MAX_COUNTED_REFUSALS}) c`.execute(
    transaction,
  );
  return rows[0]?.total ?? 0;
}

/** Returns those of the refusals that belong to the workspace, unordered. */
export async function findRefusals(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<RefusalRow[]> {
  const { rows } = await sql<RefusalRow>`
    select ${columns} from door_refusal r where r.workspace_id = ${workspaceId} and r.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** Returns all refusals that match, of all workspaces and of none, newest first. By the owner of the database. */
export async function listAllRefusals(
  database: Database,
  search: string | null,
  limit: number,
): Promise<(RefusalRow & { workspaceId: string | null })[]> {
  const { rows } = await database.pool.query<RefusalRow & { workspaceId: string | null }>(
    `select nullif(r.workspace_id, $3) as "workspaceId", r.id, r.created_at as "createdAt", r.last_at as "lastAt", r.reason,
      r.client_address as "clientAddress", r.network, r.helo, r.sender, r.recipient, r.reply, r.times
    from door_refusal r where $1::text is null or position(lower($1) in ${SEARCHED}) > 0
    order by r.last_at desc, r.id desc limit $2`,
    [search, limit, OPERATOR],
  );
  return rows;
}

const SEARCHED = `lower(concat_ws(' ', r.recipient, r.sender, r.client_address, r.helo))`;

function whereSql(workspaceId: string, conditions: RefusalConditions): RawBuilder<unknown> {
  const { reason, search, recipient, since, until } = conditions;
  return sql`r.workspace_id = ${workspaceId}
    ${reason === null ? sql`` : sql`and r.reason = ${reason}`}
    ${search === null ? sql`` : sql`and position(lower(${search}) in ${sql.raw(SEARCHED)}) > 0`}
    ${recipient === null ? sql`` : sql`and lower(r.recipient) = lower(${recipient})`}
    ${since === null ? sql`` : sql`and r.last_at >= ${since.toISOString()}::timestamptz`}
    ${until === null ? sql`` : sql`and r.created_at < ${until.toISOString()}::timestamptz`}`;
}

const columns = sql`r.id, r.created_at as "createdAt", r.last_at as "lastAt", r.reason, r.client_address as "clientAddress", r.network,
  r.helo, r.sender, r.recipient, r.reply, r.times`;
