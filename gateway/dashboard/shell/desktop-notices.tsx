import { useClient } from 'urql';
import { useLocation } from 'wouter';
import { record } from '../graphql.ts';
import { useLive } from '../live/live-context.tsx';

const ARRIVED = record(`email { id type subject isRead from { name address } thread { id } }`);

/** Shows a notice of the system for received mail while the page is not looked at. Several tabs show one, by its tag. */
export function DesktopNotices() {
  const client = useClient();
  const [, navigate] = useLocation();
  useLive(['EMAIL_THREADED'], (event) => {
    const id = event?.emailId ?? null;
    if (id === null || document.visibilityState === 'visible' || Notification.permission !== 'granted') return;
    void client
      .query(ARRIVED, { id }, { requestPolicy: 'network-only' })
      .toPromise()
      .then(({ data }) => {
        const email = data?.email;
        if (email == null || email.type !== 'RECEIVED' || email.isRead) return;
        const notice = new Notification(email.from.name ?? email.from.address, {
          body: email.subject || '(no subject)',
          tag: email.id,
          icon: '/postroom.svg',
        });
        notice.addEventListener('click', () => {
          window.focus();
          if (email.thread !== null) navigate(`/inbox/${email.thread.id}`);
          notice.close();
        });
      });
  });
  return null;
}
