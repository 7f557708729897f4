import { type Admission, type PlannedRoute } from '../db/queries/emails/store-received.ts';
import type { DeliveryContentRow } from '../db/queries/endpoints/delivery-body.ts';

/** Received mail, as far as its route depends on it when its user has no guard rules. */
export interface MailToRoute {
  workspaceId: string;
  addressId: string | null;
  domainId: string;
  /** the address that received it */
  ownAddress: string;
  /** of its raw message */
  sizeBytes: number;
}

/** Mail that was stored with its planned route. */
export interface RoutedMail {
  mail: MailToRoute;
  route: PlannedRoute;
  /** as it would be read for the attempt */
  email: DeliveryContentRow;
  raw: Buffer;
  threadId: string;
  threadPosition: number;
  /** before the statement that stored it, on performance.now() */
  storedAt: number;
}

/**
 * What the delivery actor does for the receiving actor of the same process: it plans the routes of new mail from what it knows, and
 * attempts the deliveries that were created with them from memory.
 */
export interface DirectDelivery {
  /** Plans routes; null: the router decides, because of guard rules, an order of deliveries, or a copy by email. */
  plan(mails: readonly MailToRoute[]): Promise<(PlannedRoute | null)[]>;
  /** Starts the deliveries of mail that was stored. */
  start(routed: readonly RoutedMail[]): void;
  /** Forgets what these plans were based on: it has changed. */
  forget(mails: readonly MailToRoute[]): void;
}

/** Maximum bytes of a message whose content is held in memory until its attempt; other content is read by the attempt. */
export const MAX_CONTENT_BYTES = 262_144;

/** Returns whether a delivery holds the content of its email: it starts at once. Many others may wait for their turn. */
export function isContentKept({ sizeBytes }: MailToRoute, admission: Admission): boolean {
  return admission === 'started' && sizeBytes <= MAX_CONTENT_BYTES;
}

/** Holds the delivery actor of this process while it runs; null: there is none. */
export interface DirectDeliverySlot {
  current: DirectDelivery | null;
}
