import { Notifications, notifications } from '@mantine/notifications';

/** Where notices appear. */
export function Notices() {
  return <Notifications position="top-right" containerWidth={380} />;
}

/** See parts/notify.ts. */
export const showNotification = notifications.show;

/** See parts/notify.ts. */
export const hideNotification = notifications.hide;
