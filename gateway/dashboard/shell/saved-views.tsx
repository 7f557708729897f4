import { useEffect } from 'react';
import { useQuery } from 'urql';
import { Link, useLocation, useSearch } from 'wouter';
import { readStored, SHOWN_BEFORE, writeStored } from '../parts/browser-storage.ts';
import { IconBookmark } from '../parts/icons.ts';
import style from './frame.module.css';
import { pathOfSavedView, SAVED_VIEWS } from './saved-view-documents.ts';

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
            <IconBookmark size={17} stroke={1.7} aria-hidden />
            <span className={style['label']}>{view.name}</span>
          </Link>
        );
      })}
    </div>
  );
}
