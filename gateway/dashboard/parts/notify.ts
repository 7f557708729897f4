import type { NotificationData } from '@mantine/notifications';
import type { hideNotification, showNotification } from './notices.tsx';

interface Shower {
  showNotification: typeof showNotification;
  hideNotification: typeof hideNotification;
}

let shower: Promise<Shower> | null = null;
const listeners = new Set<() => void>();
let isAsked = false;

/** Shows a notice. The code that renders notices loads with the first one. */
export function notify(notice: NotificationData): void {
  void load().then(({ showNotification }) => showNotification(notice));
}

/** Hides a notice by its id. */
export function hideNotice(id: string): void {
  void load().then(({ hideNotification }) => hideNotification(id));
}

/** Calls the listener when the first notice is shown. */
export const noticesAsked = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  read: (): boolean => isAsked,
};

function load(): Promise<Shower> {
  if (shower === null) {
    shower = import('./notices.tsx');
    isAsked = true;
    for (const listener of listeners) listener();
  }
  return shower;
}
