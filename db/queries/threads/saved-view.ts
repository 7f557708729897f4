import { sql, type Transaction } from 'kysely';
import type { ViewFolder } from '../../../core/threads/saved-view.ts';
import type { Tables } from '../../entities/tables.ts';
import { lockList } from '../lock-list.ts';

/** What a view shows. */
export interface ViewConditions {
  folder: ViewFolder;
  search: string;
  label: string | null;
  /** an address or the ID of one */
  address: string | null;
  /** `me`, `none`, or the ID of a member */
  assigned: string | null;
}

/** A search with filters that a person, or with null the workspace, keeps under a name. */
export interface SavedView extends ViewConditions {
  id: string;
  personId: string | null;
  name: string;
  createdAt: Date;
}

const columns = sql`id, person_id as "personId", name, folder, search, label, address, assigned, created_at as "createdAt"`;

/** Returns the views of the workspace, then those of a person, each by name. `isShared` false: only those of the person. */
export async function listViews(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { personId, isShared }: { personId: string | null; isShared: boolean },
): Promise<SavedView[]> {
  const { rows } = await sql<SavedView>`
    select ${columns} from saved_view
    where workspace_id = ${workspaceId} and ((person_id is null and ${isShared}) or person_id = ${personId})
    order by person_id is not null, lower(name), id`.execute(transaction);
  return rows;
}

/** Stores a view; returns null if the person, or the workspace, has `most`. */
export async function insertView(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, personId, name, folder, search, label, address, assigned }: Omit<SavedView, 'createdAt'>,
  most: number,
): Promise<SavedView | null> {
  await lockList(transaction, workspaceId, 'saved_view');
  const { rows } = await sql<SavedView>`
    insert into saved_view (workspace_id, id, person_id, name, folder, search, label, address, assigned, created_at)
    select ${workspaceId}, ${id}, ${personId}, ${name}, ${folder}, ${search}, ${label}, ${address}, ${assigned}, postroom_now()
    where (select count(*) from saved_view o where o.workspace_id = ${workspaceId} and o.person_id is not distinct from ${personId}::text) < ${most}
    returning ${columns}`.execute(transaction);
  return rows[0] ?? null;
}

/** Changes a view that a person sees. Returns null if there is none with this ID. */
export async function updateView(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, personId, name, folder, search, label, address, assigned }: Omit<SavedView, 'createdAt'>,
): Promise<SavedView | null> {
  const { rows } = await sql<SavedView>`
    update saved_view set name = ${name}, folder = ${folder}, search = ${search}, label = ${label}, address = ${address}, assigned = ${assigned}
    where workspace_id = ${workspaceId} and id = ${id} and person_id is not distinct from ${personId}::text
    returning ${columns}`.execute(transaction);
  return rows[0] ?? null;
}

/** Returns whether there was one. */
export async function deleteView(transaction: Transaction<Tables>, workspaceId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    delete from saved_view where workspace_id = ${workspaceId} and id = ${id} returning 1`.execute(transaction);
  return rows.length > 0;
}
