import type { EndpointOrdering } from './endpoint-events.ts';

/**
 * The turn of a delivery. Deliveries to one endpoint with the same key are attempted one after another, in the order of their positions.
 */
export interface DeliveryOrder {
  key: string;
  /** sorts by the time of the email or event that is delivered */
  position: string;
}

/** What the turn of a delivery depends on. */
export interface OrderedSubject {
  /** of the email or event that is delivered */
  id: string;
  threadId: string | null;
  /** the From address of the email; null: it is about none */
  fromAddress: string | null;
}

/** Returns the turn of a new delivery; null when it waits for no other. Set once: a thread that is merged later keeps its key. */
export function orderOf(
  ordering: EndpointOrdering,
  { id, threadId, fromAddress }: OrderedSubject,
): DeliveryOrder | null {
  const key = { none: null, thread: threadId, sender: fromAddress?.toLowerCase() ?? null }[ordering];
  // The identifier without its prefix: emails and events share threads.
  return key === null ? null : { key, position: id.slice(id.indexOf('_') + 1) };
}
