import { Alert } from '@mantine/core';

/** What failed or is wrong. */
export const ErrorAlert = Alert.withProps({ color: 'red', variant: 'outline' });
/** What its reader should do something about. */
export const WarningAlert = Alert.withProps({ color: 'yellow', variant: 'outline' });
/** What may be harmful, or not as it seems. */
export const CautionAlert = Alert.withProps({ color: 'orange', variant: 'outline' });
