import { parseSearch } from '../../core/search/search-query.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as views from '../../db/queries/threads/saved-view.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { invalid, newIdentifier, type OperationContext } from '../context.ts';

/** A view as a request sees it. */
export interface SavedView extends views.SavedView {
  /** whether all members see it */
  isShared: boolean;
}

/** Views of one person, and of a workspace. */
const MAX_VIEWS = 100;
/** Characters. */
export const MAX_VIEW_NAME = 64;

/**
 * Returns the views of the workspace and those of the person of the request, by name. Requests that are limited to domains or addresses see
 * only the person's own.
 */
export async function listViews(context: OperationContext): Promise<SavedView[]> {
  const { database, workspaceId } = withFullAccess(context);
  const seen = { personId: context.rights.personId, isShared: context.database.limit === undefined };
  return (
    await asWorkspace(database, workspaceId, (transaction) => views.listViews(transaction, workspaceId, seen))
  ).map(show);
}

/** What a request says about a view; what is omitted has its default, or in a change stays. */
export type ViewInput = { [Field in keyof views.ViewConditions]?: views.ViewConditions[Field] | undefined } & {
  name?: string | undefined;
};

/** Saves a view, for the person of the request or for all members. Throws validation, forbidden, conflict. */
export async function createView(
  context: OperationContext,
  { name, isShared, ...given }: ViewInput & { name: string; isShared: boolean },
): Promise<SavedView> {
  const { database, workspaceId } = withFullAccess(context);
  const { personId } = context.rights;
  if (isShared) requireWhole(context);
  else if (personId === null)
    throw invalid('This request is of no person, so its view must be shared: `is_shared`: true', 'isShared');
  const conditions = {
    folder: 'inbox' as const,
    search: '',
    label: null,
    address: null,
    assigned: null,
    ...defined(given),
  };
  parseSearch(conditions.search, context.now());
  const view = { id: newIdentifier(context, 'savedView'), personId: isShared ? null : personId, name, ...conditions };
  const stored = await asWorkspace(database, workspaceId, (transaction) =>
    views.insertView(transaction, workspaceId, view, MAX_VIEWS),
  );
  if (stored !== null) return show(stored);
  throw new UserError('conflict', `There can be at most ${MAX_VIEWS} saved views. Delete some first.`, {
    isFinal: true,
  });
}

/** Changes a view; what is omitted stays. Throws as createView, and not_found. */
export async function updateView(context: OperationContext, id: string, input: ViewInput): Promise<SavedView> {
  const { database, workspaceId } = withFullAccess(context);
  const before = await requireView(context, id);
  const next = { ...before, ...defined(input) };
  parseSearch(next.search, context.now());
  const stored = await asWorkspace(database, workspaceId, (transaction) =>
    views.updateView(transaction, workspaceId, next),
  );
  if (stored === null) throw viewNotFound();
  return show(stored);
}

/** Deletes a view. Throws not_found. */
export async function deleteView(context: OperationContext, id: string): Promise<void> {
  const { database, workspaceId } = withFullAccess(context);
  await requireView(context, id);
  if (!(await asWorkspace(database, workspaceId, (transaction) => views.deleteView(transaction, workspaceId, id))))
    throw viewNotFound();
}

async function requireView(context: OperationContext, id: string): Promise<SavedView> {
  const found = (await listViews(context)).find((view) => view.id === id);
  if (found === undefined) throw viewNotFound();
  return found;
}

/** Throws forbidden for requests that are limited to domains or addresses. */
function requireWhole({ database: { limit } }: OperationContext): void {
  if (limit === undefined) return;
  throw new UserError(
    'forbidden',
    'Views of all members need access to all domains and addresses. Save it for yourself.',
  );
}

function defined<Fields extends object>(
  fields: Fields,
): { [Field in keyof Fields]: Exclude<Fields[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function show(view: views.SavedView): SavedView {
  return { ...view, isShared: view.personId === null };
}

function viewNotFound(): UserError {
  return new UserError('not_found', 'Saved view not found');
}
