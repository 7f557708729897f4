import { useQuery } from 'urql';
import { Link, useLocation, useSearch } from 'wouter';
import { IconBookmark } from '../parts/icons.ts';
import style from './frame.module.css';
import { pathOfSavedView, SAVED_VIEWS } from './saved-view-documents.ts';

const TYPES = { additionalTypenames: ['SavedView', 'DeleteSavedViewPayload'] };

/** The saved views in the navigation; nothing without any. */
export function SavedViews() {
  const [{ data }] = useQuery({ query: SAVED_VIEWS, requestPolicy: 'cache-and-network', context: TYPES });
  const [location] = useLocation();
  const search = useSearch();
  const views = data?.savedViews ?? [];
  if (views.length === 0) return null;
  const current = location.startsWith('/inbox') ? `/inbox${search === '' ? '' : `?${search}`}` : '';
  return (
    <div>
      <div className={style['heading']}>Views</div>
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
