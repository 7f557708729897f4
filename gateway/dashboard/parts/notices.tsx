import { Notifications, notifications } from '@mantine/notifications';

/** Container of notices. */
export function Notices() {
  // Over the end of the navigation, where it does not cover buttons that the user may need next.
  return <Notifications position="bottom-left" containerWidth={380} />;
}

/** See parts/notify.ts. */
export const showNotification = notifications.show;

/** See parts/notify.ts. */
export const hideNotification = notifications.hide;
