import type { AuditActor, Origin } from '../../core/accounts/audit.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetCursor, KeysetPage, Page } from '../../core/shared/page.ts';
import type { Database } from '../../db/connection/database.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as entries from '../../db/queries/accounts/audit-entry.ts';
import { isValidId, type OperationContext } from '../context.ts';

/** An entry of the account's audit log. */
export type AuditEntry = entries.AuditEntryRow;

export const { MAX_COUNTED_ENTRIES } = entries;

/** Filters of the list; omitted filters match all. */
export interface AuditQuery {
  actorKind?: AuditActor | undefined;
  /** ID or name of the person or key */
  actor?: string | undefined;
  /** such as `endpoint.updated`, or `endpoint` for all actions on endpoints */
  action?: string | undefined;
  objectKind?: string | undefined;
  objectId?: string | undefined;
  isDenied?: boolean | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Returns a page of entries, newest first; inverted: oldest first. */
export async function pageAuditEntries(
  context: OperationContext,
  query: AuditQuery,
  page: KeysetPage,
): Promise<AuditEntry[]> {
  const { database, workspaceId } = context;
  await context.storeAuditNotes();
  return asWorkspace(database, workspaceId, (transaction) =>
    entries.pageAuditEntries(transaction, workspaceId, toConditions(query), page),
  );
}

/** Returns how many entries match, up to MAX_COUNTED_ENTRIES. */
export function countAuditEntries({ database, workspaceId }: OperationContext, query: AuditQuery): Promise<number> {
  return asWorkspace(database, workspaceId, (transaction) =>
    entries.countAuditEntries(transaction, workspaceId, toConditions(query)),
  );
}

/** Returns a page, newest first, with the total up to MAX_COUNTED_ENTRIES. */
export async function listAuditEntries(
  context: OperationContext,
  query: AuditQuery,
  page: Page,
): Promise<{ rows: AuditEntry[]; total: number }> {
  const { database, workspaceId } = context;
  const conditions = toConditions(query);
  await context.storeAuditNotes();
  return asWorkspace(database, workspaceId, async (transaction) => ({
    rows: await entries.listAuditEntries(transaction, workspaceId, conditions, page),
    total: await entries.countAuditEntries(transaction, workspaceId, conditions),
  }));
}

/** Throws not_found. */
export async function readAuditEntry(context: OperationContext, id: string): Promise<AuditEntry> {
  const [entry] = await loadAuditEntries(context, [id]);
  if (entry == null) throw new UserError('not_found', 'Audit entry not found');
  return entry;
}

/** Returns one entry per id, null where the user has none. */
export async function loadAuditEntries(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(AuditEntry | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    entries.findAuditEntries(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((entry) => [entry.id, entry]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Entries that an export reads at once. */
const EXPORTED_AT_ONCE = 200;

/**
 * Returns all entries that match, newest first, in pieces; nothing that happens after the first one. The export has an entry of its own.
 */
export async function* exportAuditEntries(context: OperationContext, query: AuditQuery): AsyncGenerator<AuditEntry[]> {
  const { database, workspaceId, origin, now, caller } = context;
  await context.storeAuditNotes();
  await recordExport(database, { workspaceId, origin, at: now(), kind: 'audit' });
  const conditions = toConditions(query);
  let after: KeysetCursor | null = null;
  for (;;) {
    // A client may take its time to read, and lose the right meanwhile.
    if (after !== null && !(await caller.isAllowed())) throw new UserError('unauthorized', 'The access has ended');
    const page: KeysetPage = { after, before: null, limit: EXPORTED_AT_ONCE, isInverted: false };
    const rows = await asWorkspace(database, workspaceId, (transaction) =>
      entries.pageAuditEntries(transaction, workspaceId, conditions, page),
    );
    if (rows.length > 0) yield rows;
    const last: AuditEntry | undefined = rows.at(-1);
    if (last === undefined || rows.length < EXPORTED_AT_ONCE) return;
    after = { at: last.createdAt, id: last.id };
  }
}

/** Stores the entry of an export: of the audit log, or of the account. */
export async function recordExport(
  database: Database,
  {
    workspaceId,
    origin,
    at,
    kind,
  }: { workspaceId: string; origin?: Origin | undefined; at: Date; kind: 'account' | 'audit' },
): Promise<void> {
  const { kind: actorKind, id: actorId, ...from } = origin ?? SYSTEM;
  const object = { objectKind: kind, objectId: null, objectName: null };
  const note = { workspaceId, at, actorKind, actorId, ...from, action: `${kind}.exported`, ...object };
  await entries.storeAuditNotes(database, [{ ...note, isDenied: false, reason: null, times: 1 }]);
}

const SYSTEM: Origin = { kind: 'system', id: null, address: null, agent: null, request: null };

function toConditions(query: AuditQuery): entries.AuditConditions {
  return {
    actorKind: query.actorKind ?? null,
    actor: query.actor ?? null,
    action: query.action ?? null,
    objectKind: query.objectKind ?? null,
    objectId: query.objectId ?? null,
    isDenied: query.isDenied ?? null,
    since: query.since ?? null,
    until: query.until ?? null,
  };
}
