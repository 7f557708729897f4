/** How far a delivery to an endpoint came. */
export const DELIVERY_STATUSES = ['pending', 'success', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why there is a delivery: the mail's route, a retry or a replay that a user asked for, or the release of held mail. */
export const DELIVERY_CAUSES = ['route', 'retry', 'replay', 'release'] as const;
export type DeliveryCause = (typeof DELIVERY_CAUSES)[number];

/** How an attempt at a delivery ended. `interrupted`: it ended with the service, and does not count. */
export const DELIVERY_ATTEMPT_OUTCOMES = ['success', 'failed', 'interrupted'] as const;
export type DeliveryAttemptOutcome = (typeof DELIVERY_ATTEMPT_OUTCOMES)[number];
