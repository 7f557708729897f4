import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import { lockList } from '../lock-list.ts';

/** A text of the workspace that the composer inserts. */
export interface Snippet {
  id: string;
  /** unique in the workspace, whatever the case */
  name: string;
  text: string;
  createdAt: Date;
  updatedAt: Date;
}

interface SnippetRow {
  id: string;
  name: string;
  text: string;
  created_at: Date;
  updated_at: Date;
}

const columns = sql`id, name, text, created_at, updated_at`;

/** Returns all snippets of the workspace, by name. */
export async function listSnippets(transaction: Transaction<Tables>, workspaceId: string): Promise<Snippet[]> {
  const { rows } = await sql<SnippetRow>`
    select ${columns} from snippet where workspace_id = ${workspaceId} order by lower(name), id`.execute(transaction);
  return rows.map(toSnippet);
}

/** Stores a snippet. Returns `taken` if another has the name, `full` if the workspace has `most`. */
export async function insertSnippet(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, name, text }: Pick<Snippet, 'id' | 'name' | 'text'>,
  most: number,
): Promise<Snippet | 'taken' | 'full'> {
  await lockList(transaction, workspaceId, 'snippet');
  const { rows } = await sql<SnippetRow>`
    insert into snippet (workspace_id, id, name, text, created_at, updated_at)
    select ${workspaceId}, ${id}, ${name}, ${text}, postroom_now(), postroom_now()
    where (select count(*) from snippet o where o.workspace_id = ${workspaceId}) < ${most}
    on conflict (workspace_id, lower(name)) do nothing returning ${columns}`.execute(transaction);
  if (rows[0] !== undefined) return toSnippet(rows[0]);
  return (await hasName(transaction, workspaceId, name, id)) ? 'taken' : 'full';
}

/** Changes a snippet; undefined stays. Returns `taken` if another has the name, null if there is none with this ID. */
export async function updateSnippet(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
  { name, text }: { name: string | undefined; text: string | undefined },
): Promise<Snippet | 'taken' | null> {
  if (name !== undefined && (await hasName(transaction, workspaceId, name, id))) return 'taken';
  const { rows } = await sql<SnippetRow>`
    update snippet set name = coalesce(${name ?? null}::text, name), text = coalesce(${text ?? null}::text, text), updated_at = postroom_now()
    where workspace_id = ${workspaceId} and id = ${id} returning ${columns}`.execute(transaction);
  return rows[0] === undefined ? null : toSnippet(rows[0]);
}

/** Returns whether there was one. */
export async function deleteSnippet(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const { rows } = await sql`
    delete from snippet where workspace_id = ${workspaceId} and id = ${id} returning 1`.execute(transaction);
  return rows.length > 0;
}

async function hasName(
  transaction: Transaction<Tables>,
  workspaceId: string,
  name: string,
  exceptId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from snippet where workspace_id = ${workspaceId} and lower(name) = lower(${name}) and id <> ${exceptId}`.execute(
    transaction,
  );
  return rows.length > 0;
}

function toSnippet({ id, name, text, created_at: createdAt, updated_at: updatedAt }: SnippetRow): Snippet {
  return { id, name, text, createdAt, updatedAt };
}
