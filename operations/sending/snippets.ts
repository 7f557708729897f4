import { findUnknownPlaceholders, SNIPPET_PLACEHOLDERS } from '../../core/sending/snippet.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { isTaken } from '../../db/errors.ts';
import * as rows from '../../db/queries/sending/snippet.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';

export type Snippet = rows.Snippet;

/** Snippets of a workspace. */
export const MAX_SNIPPETS = 200;
/** Characters. */
export const MAX_SNIPPET_NAME = 64;
export const MAX_SNIPPET_TEXT = 10_000;

/** Returns the snippets of the workspace, by name. */
export function listSnippets(context: OperationContext): Promise<Snippet[]> {
  const { database, workspaceId } = withFullAccess(context);
  return asWorkspace(database, workspaceId, (transaction) => rows.listSnippets(transaction, workspaceId));
}

/** Creates a snippet. Throws validation for a placeholder that is not known, conflict for a name that exists or too many snippets. */
export async function createSnippet(
  context: OperationContext,
  { name, text }: { name: string; text: string },
): Promise<Snippet> {
  const { database, workspaceId } = context;
  requirePlaceholders(text);
  const id = newIdentifier(context, 'snippet');
  const stored = await asWorkspace(database, workspaceId, (transaction) =>
    rows.insertSnippet(transaction, workspaceId, { id, name, text }, MAX_SNIPPETS),
  );
  if (stored === 'taken') throw nameTaken(name);
  if (stored === 'full')
    throw new UserError('conflict', `A workspace has at most ${MAX_SNIPPETS} snippets. Delete some first.`, {
      isFinal: true,
    });
  return stored;
}

/** Changes a snippet; what is omitted stays. Throws as createSnippet, and not_found. */
export async function updateSnippet(
  { database, workspaceId }: OperationContext,
  id: string,
  { name, text }: { name?: string | undefined; text?: string | undefined },
): Promise<Snippet> {
  if (name === undefined && text === undefined) throw invalid('Give at least one of: name, text', 'name');
  if (text !== undefined) requirePlaceholders(text);
  const stored = isValidId(id)
    ? await asWorkspace(database, workspaceId, (transaction) =>
        rows.updateSnippet(transaction, workspaceId, id, { name, text }),
      ).catch((error: unknown) => {
        if (isTaken(error)) return 'taken' as const;
        throw error;
      })
    : null;
  if (stored === null) throw snippetNotFound();
  if (stored === 'taken') throw nameTaken(name ?? '');
  return stored;
}

/** Deletes a snippet. Throws not_found. */
export async function deleteSnippet({ database, workspaceId }: OperationContext, id: string): Promise<void> {
  const isDeleted =
    isValidId(id) &&
    (await asWorkspace(database, workspaceId, (transaction) => rows.deleteSnippet(transaction, workspaceId, id)));
  if (!isDeleted) throw snippetNotFound();
}

function requirePlaceholders(text: string): void {
  const [unknown] = findUnknownPlaceholders(text);
  if (unknown === undefined) return;
  const known = Object.keys(SNIPPET_PLACEHOLDERS).map((name) => `{{${name}}}`);
  throw invalid(`{{${unknown}}} is not a placeholder. Use ${known.join(', ')}.`, 'text');
}

function nameTaken(name: string): UserError {
  return new UserError('conflict', `A snippet named "${name}" exists. Choose another name.`, { isFinal: true });
}

function snippetNotFound(): UserError {
  return new UserError('not_found', 'Snippet not found');
}
