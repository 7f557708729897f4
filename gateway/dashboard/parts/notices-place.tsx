import { lazy, Suspense, useSyncExternalStore } from 'react';
import { noticesAsked } from './notify.tsx';

const Notices = lazy(async () => ({ default: (await import('./notices.tsx')).Notices }));

/** Renders notices. Loads their code with the first notice. */
export function NoticeArea() {
  const isAsked = useSyncExternalStore(noticesAsked.subscribe, noticesAsked.read);
  return isAsked ? (
    <Suspense>
      <Notices />
    </Suspense>
  ) : null;
}
