import { lazy, Suspense, useSyncExternalStore } from 'react';
import { noticesAsked } from './notify.ts';

const Notices = lazy(async () => ({ default: (await import('./notices.tsx')).Notices }));

/** Keeps a place for notices; it is empty until there is one. */
export function NoticesPlace() {
  const isAsked = useSyncExternalStore(noticesAsked.subscribe, noticesAsked.read);
  return isAsked ? (
    <Suspense>
      <Notices />
    </Suspense>
  ) : null;
}
