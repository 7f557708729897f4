import { graphql, type ResultOf } from '../graphql.ts';

/** The saved views that the person sees. */
export const SAVED_VIEWS = graphql(`
  query DashboardSavedViews { savedViews { id name folder search label address assigned isShared } }
`);

/** A search with filters that has a name. */
export type SavedView = ResultOf<typeof SAVED_VIEWS>['savedViews'][number];

/** Returns the path of the inbox that shows a view. */
export function pathOfSavedView({ folder, search, label, address, assigned }: SavedView): string {
  const parameters = new URLSearchParams();
  if (folder !== 'INBOX') parameters.set('in', folder.toLowerCase());
  if (search !== '') parameters.set('q', search);
  if (label !== null) parameters.set('label', label);
  if (address !== null) parameters.set('address', address);
  if (assigned !== null) parameters.set('assigned', assigned);
  const query = parameters.toString();
  return query === '' ? '/inbox' : `/inbox?${query}`;
}
