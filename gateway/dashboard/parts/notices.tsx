import { Notifications, notifications } from '@mantine/notifications';

/** Where notices appear. */
export function Notices() {
  // Over the end of the navigation: elsewhere it would lie over what one may want to press next.
  return <Notifications position="bottom-left" containerWidth={380} />;
}

/** See parts/notify.ts. */
export const showNotification = notifications.show;

/** See parts/notify.ts. */
export const hideNotification = notifications.hide;
