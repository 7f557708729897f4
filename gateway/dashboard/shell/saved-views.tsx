import { useEffect } from 'react';
import { useQuery } from 'urql';
import { Link, useLocation, useSearch } from 'wouter';
import { readStored, writeStored } from '../parts/browser-storage.ts';
import { IconBookmark } from '../parts/icons.ts';
import style from './frame.module.css';
import { pathOfSavedView, SAVED_VIEWS } from './saved-view-documents.ts';

const TYPES = { additionalTypenames: ['SavedView', 'DeleteSavedViewPayload'] };

/** How many views this browser showed last: what is below them does not move when they are loaded. */
const SHOWN = 'postroom-saved-views';

/** The saved views in the navigation; nothing without any. */
export function SavedViews() {
  const [{ data }] = useQuery({ query: SAVED_VIEWS, requestPolicy: 'cache-and-network', context: TYPES });
  const [location] = useLocation();
  const search = useSearch();
  const views = data?.savedViews ?? [];
  const shown = data === undefined ? Number(readStored(SHOWN) ?? 0) : views.length;
  useEffect(() => {
    if (data !== undefined) writeStored(SHOWN, String(data.savedViews.length));
  }, [data]);
  if (shown === 0) return null;
  const current = location.startsWith('/inbox') ? `/inbox${search === '' ? '' : `?${search}`}` : '';
  return (
    <div>
      <div className={style['heading']}>Views</div>
      {data === undefined &&
        Array.from({ length: shown }, (_, at) => <div key={at} className={style['place']} aria-hidden />)}
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
            <IconBookmark size={17} stroke={1.7} aria-hidden />
            <span className={style['label']}>{view.name}</span>
          </Link>
        );
      })}
    </div>
  );
}
