/** Status of a delivery to an endpoint. */
export const DELIVERY_STATUSES = ['pending', 'success', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why a delivery exists: the route of the email, a retry or replay by a user, the release of held mail, an action of a webhook, or an event. */
export const DELIVERY_CAUSES = ['route', 'retry', 'replay', 'release', 'action', 'event'] as const;
export type DeliveryCause = (typeof DELIVERY_CAUSES)[number];

/** Outcome of a delivery attempt. `interrupted`: the service stopped; the attempt does not count. */
export const DELIVERY_ATTEMPT_OUTCOMES = ['success', 'failed', 'interrupted'] as const;
export type DeliveryAttemptOutcome = (typeof DELIVERY_ATTEMPT_OUTCOMES)[number];
