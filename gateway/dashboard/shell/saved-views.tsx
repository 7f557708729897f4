import { useEffect } from 'react';
import { useQuery } from 'urql';
import { Link, useLocation, useSearch } from 'wouter';
import { graphql, type ResultOf } from '../graphql.ts';
import { readStored, SHOWN_BEFORE, writeStored } from '../parts/browser-storage.ts';
import { Icon } from '../parts/icons.ts';
import style from './frame.module.css';

const TYPES = { additionalTypenames: ['SavedView', 'DeleteSavedViewPayload'] };

/** The saved views in the navigation; nothing without any. */
export function SavedViews() {
  const [{ data, error }] = useQuery({ query: SAVED_VIEWS, requestPolicy: 'cache-and-network', context: TYPES });
  const [location] = useLocation();
  const search = useSearch();
  const views = data?.savedViews ?? [];
  const isComing = data === undefined && error === undefined;
  const shown = isComing ? Number(readStored(SHOWN_BEFORE.views) ?? 0) : views.length;
  useEffect(() => {
    if (data !== undefined) writeStored(SHOWN_BEFORE.views, String(data.savedViews.length));
  }, [data]);
  if (shown === 0) return null;
  const current = location.startsWith('/inbox') ? `/inbox${search === '' ? '' : `?${search}`}` : '';
  return (
    <div>
      <div className={style['heading']}>Views</div>
      {isComing && Array.from({ length: shown }, (_, at) => <div key={at} className={style['place']} aria-hidden />)}
      {views.map((view) => {
        const path = pathOfSavedView(view);
        return (
          <Link
            key={view.id}
            href={path}
            className={style['place'] ?? ''}
            tabIndex={-1}
            aria-current={path === current ? 'page' : undefined}
            title={view.isShared ? `${view.name}, shared with all members` : view.name}
          >
            <Icon name="bookmark" size={17} stroke={1.7} />
            <span className={style['label']}>{view.name}</span>
          </Link>
        );
      })}
    </div>
  );
}

/** The saved views that the person sees. */
export const SAVED_VIEWS = graphql(`
  query DashboardSavedViews { savedViews { id name folder search label address assigned isShared } }
`);

/** A search with filters that has a name. */
type SavedView = ResultOf<typeof SAVED_VIEWS>['savedViews'][number];

/** Returns the path of the inbox that shows a view. */
function pathOfSavedView({ folder, search, label, address, assigned }: SavedView): string {
  const parameters = new URLSearchParams();
  if (folder !== 'INBOX') parameters.set('in', folder.toLowerCase());
  if (search !== '') parameters.set('q', search);
  if (label !== null) parameters.set('label', label);
  if (address !== null) parameters.set('address', address);
  if (assigned !== null) parameters.set('assigned', assigned);
  const query = parameters.toString();
  return query === '' ? '/inbox' : `/inbox?${query}`;
}
