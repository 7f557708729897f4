import { useMediaQuery } from '@mantine/hooks';
import { Notifications, notifications } from '@mantine/notifications';

/** From this width on the navigation is as wide as a notice; narrower pages have a rail of icons, or none. */
const HAS_NAVIGATION = '(min-width: 75em)';

/** Over dialogs, and under the menus and lists that are open: Mantine has 200 and 300 for these. */
const BELOW_MENUS = 290;

/** Container of notices. It covers no row and no button of the page: it is over the end of the navigation, or above the middle of the page's end. */
export function Notices() {
  const isBeside = useMediaQuery(HAS_NAVIGATION, true, { getInitialValueInEffect: false });
  return isBeside ? (
    <Notifications position="bottom-left" containerWidth={192} zIndex={BELOW_MENUS} />
  ) : (
    <Notifications position="bottom-center" containerWidth={360} mb={{ base: 112, sm: 56 }} zIndex={BELOW_MENUS} />
  );
}

/** See parts/notify.tsx. */
export const showNotification = notifications.show;

/** See parts/notify.tsx. */
export const hideNotification = notifications.hide;
