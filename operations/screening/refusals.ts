import type { DoorReason } from '../../core/screening/door/refusal.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as refusals from '../../db/queries/screening/refusal-list.ts';
import { isValidId, type OperationContext } from '../context.ts';

/** Mail to the workspace that was refused before it was accepted, or several of the same kind within an hour. */
export type DoorRefusal = refusals.RefusalRow;

export const { MAX_COUNTED_REFUSALS } = refusals;

/** Filters of the list; omitted filters match all. */
export interface RefusalQuery {
  reason?: DoorReason | undefined;
  search?: string | undefined;
  recipient?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Returns a page of refusals, newest first; inverted: oldest first. */
export function pageRefusals(
  { database, workspaceId }: OperationContext,
  query: RefusalQuery,
  page: KeysetPage,
): Promise<DoorRefusal[]> {
  return asWorkspace(database, workspaceId, (transaction) =>
    refusals.pageRefusals(transaction, workspaceId, conditionsFrom(query), page),
  );
}

/** Returns how many refusals match, up to MAX_COUNTED_REFUSALS. */
export function countRefusals({ database, workspaceId }: OperationContext, query: RefusalQuery): Promise<number> {
  return asWorkspace(database, workspaceId, (transaction) =>
    refusals.countRefusals(transaction, workspaceId, conditionsFrom(query)),
  );
}

/** Returns a page, newest first, with the total up to MAX_COUNTED_REFUSALS. */
export function listRefusals(
  { database, workspaceId }: OperationContext,
  query: RefusalQuery,
  page: Page,
): Promise<{ rows: DoorRefusal[]; total: number }> {
  const conditions = conditionsFrom(query);
  return asWorkspace(database, workspaceId, async (transaction) => ({
    rows: await refusals.listRefusals(transaction, workspaceId, conditions, page),
    total: await refusals.countRefusals(transaction, workspaceId, conditions),
  }));
}

/** Throws not_found. */
export async function readRefusal(context: OperationContext, id: string): Promise<DoorRefusal> {
  const [refusal] = await loadRefusals(context, [id]);
  if (refusal == null) throw new UserError('not_found', 'Refusal not found');
  return refusal;
}

/** Returns one refusal per id, null where the user has none. */
export async function loadRefusals(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(DoorRefusal | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    refusals.findRefusals(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((refusal) => [refusal.id, refusal]));
  return ids.map((id) => byId.get(id) ?? null);
}

function conditionsFrom(query: RefusalQuery): refusals.RefusalConditions {
  return {
    reason: query.reason ?? null,
    search: query.search?.trim() || null,
    recipient: query.recipient?.trim() || null,
    since: query.since ?? null,
    until: query.until ?? null,
  };
}
