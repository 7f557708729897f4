import { useSyncExternalStore } from 'react';
import { later } from '../shell/loading.tsx';
import { noticesAsked } from './notify.tsx';

const Notices = later(async () => (await import('./notices.tsx')).Notices);

/** Renders notices. Loads their code with the first notice. */
export function NoticeArea() {
  const isAsked = useSyncExternalStore(noticesAsked.subscribe, noticesAsked.read);
  return isAsked && <Notices />;
}
