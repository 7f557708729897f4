import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { AuditActor } from '../../../core/accounts/audit.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';

/** An entry of the audit log. It holds no secrets. */
export interface AuditEntryRow {
  id: string;
  createdAt: Date;
  actorKind: AuditActor;
  actorId: string | null;
  /** at that time */
  actorName: string | null;
  clientAddress: string | null;
  userAgent: string | null;
  requestId: string | null;
  action: string;
  objectKind: string;
  objectId: string | null;
  objectName: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  isDenied: boolean;
  reason: string | null;
  times: number;
}

/** Filters of the log; null matches all. */
export interface AuditConditions {
  actorKind: AuditActor | null;
  /** ID or name of the person or key */
  actor: string | null;
  /** an action, or the beginning of actions up to the dot */
  action: string | null;
  objectKind: string | null;
  objectId: string | null;
  isDenied: boolean | null;
  since: Date | null;
  until: Date | null;
}

/** Counting stops at this number. */
export const MAX_COUNTED_ENTRIES = 10_000;

/** Returns the entries between two cursors, newest first; inverted: oldest first. */
export async function pageAuditEntries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: AuditConditions,
  page: KeysetPage,
): Promise<AuditEntryRow[]> {
  const { rows } = await sql<AuditEntryRow>`
    select ${columns} from audit_entry a where ${whereSql(workspaceId, conditions)} ${keysetConditions('a', page)}
    ${keysetOrder('a', page)} limit ${page.limit}`.execute(transaction);
  return rows;
}

/** Returns a page, newest first. */
export async function listAuditEntries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: AuditConditions,
  page: Page,
): Promise<AuditEntryRow[]> {
  const { rows } = await sql<AuditEntryRow>`
    select ${columns} from audit_entry a where ${whereSql(workspaceId, conditions)}
    order by a.created_at desc, a.id desc limit ${page.limit} offset ${page.offset}`.execute(transaction);
  return rows;
}

/** Returns how many entries match, up to MAX_COUNTED_ENTRIES. */
export async function countAuditEntries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: AuditConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (
      select from audit_entry a where ${whereSql(workspaceId, conditions)} limit ${MAX_COUNTED_ENTRIES}) c`.execute(
    transaction,
  );
  return rows[0]?.total ?? 0;
}

/** Returns those of the entries that belong to the workspace, unordered. */
export async function findAuditEntries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<AuditEntryRow[]> {
  const { rows } = await sql<AuditEntryRow>`
    select ${columns} from audit_entry a where a.workspace_id = ${workspaceId} and a.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows;
}

/** Something that changed nothing: a refused request, or mail that was read. */
export interface AuditNote {
  workspaceId: string;
  at: Date;
  actorKind: AuditActor;
  actorId: string | null;
  address: string | null;
  agent: string | null;
  request: string | null;
  action: string;
  objectKind: string;
  objectId: string | null;
  objectName: string | null;
  isDenied: boolean;
  reason: string | null;
  times: number;
}

/** Stores notes of any workspaces. Those of erased accounts are left out. */
export async function storeAuditNotes(database: Database, notes: readonly AuditNote[]): Promise<void> {
  const rows = notes.map(
    ({ workspaceId, actorKind, actorId, objectKind, objectId, objectName, isDenied, ...rest }) => ({
      ...rest,
      workspace_id: workspaceId,
      actor_kind: actorKind,
      actor_id: actorId,
      object_kind: objectKind,
      object_id: objectId,
      object_name: objectName,
      is_denied: isDenied,
    }),
  );
  await database.pool.query({
    name: 'store-audit-entries',
    text: 'select store_audit_entries($1::json)',
    values: [JSON.stringify(rows)],
  });
}

/** An attempt to sign in that was refused. */
export interface FailedSignIn {
  /** email address or ID of the account */
  account: string;
  action: string;
  reason: string;
  address: string;
  agent: string | null;
}

/** Stores a refused attempt to sign in, if the account exists. By role postroom_auth. */
export async function noteFailedSignIn(database: Database, attempt: FailedSignIn): Promise<void> {
  const { account, action, reason, address, agent } = attempt;
  await database.pool.query('select note_failed_sign_in($1, $2, $3, $4, $5)', [
    account,
    action,
    reason,
    address,
    agent,
  ]);
}

/** Removes up to `limit` entries that are older than that many days; returns how many. */
export async function removeOldAuditEntries(database: Database, days: number, limit: number): Promise<number> {
  const { rows } = await database.pool.query<{ removed: number }>({
    name: 'remove-old-audit-entries',
    text: 'select remove_old_audit_entries($1, $2) as removed',
    values: [days, limit],
  });
  return rows[0]?.removed ?? 0;
}

function whereSql(workspaceId: string, conditions: AuditConditions): RawBuilder<unknown> {
  const { actorKind, actor, action, objectKind, objectId, isDenied, since, until } = conditions;
  return sql`a.workspace_id = ${workspaceId}
    ${actorKind === null ? sql`` : sql`and a.actor_kind = ${actorKind}`}
    ${actor === null ? sql`` : sql`and (a.actor_id = ${actor} or a.actor_name = ${actor})`}
    ${action === null ? sql`` : sql`and (a.action = ${action} or starts_with(a.action, ${action} || '.'))`}
    ${objectKind === null ? sql`` : sql`and a.object_kind = ${objectKind}`}
    ${objectId === null ? sql`` : sql`and a.object_id = ${objectId}`}
    ${isDenied === null ? sql`` : sql`and a.is_denied = ${isDenied}`}
    ${since === null ? sql`` : sql`and a.created_at >= ${since.toISOString()}::timestamptz`}
    ${until === null ? sql`` : sql`and a.created_at < ${until.toISOString()}::timestamptz`}`;
}

const columns = sql`a.id, a.created_at as "createdAt", a.actor_kind as "actorKind", a.actor_id as "actorId", a.actor_name as "actorName",
  a.client_address as "clientAddress", a.user_agent as "userAgent", a.request_id as "requestId", a.action, a.object_kind as "objectKind",
  a.object_id as "objectId", a.object_name as "objectName", a.before, a.after, a.is_denied as "isDenied", a.reason, a.times`;
