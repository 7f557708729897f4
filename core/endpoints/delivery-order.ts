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
  /** positionOfEmail or positionOfEvent */
  position: string;
  threadId: string | null;
  /** the From address of the email; null: it is about none */
  fromAddress: string | null;
}

/** Returns the turn of a new delivery; null when it waits for no other. Set once: a thread that is merged later keeps its key. */
export function readOrder(
  ordering: EndpointOrdering,
  { position, threadId, fromAddress }: OrderedSubject,
): DeliveryOrder | null {
  const key = { none: null, thread: threadId, sender: fromAddress?.toLowerCase() ?? null }[ordering];
  return key === null ? null : { key, position };
}

/** Returns the position of an email by its identifier, which begins with the time of its creation. */
export function positionOfEmail(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

/** Returns the position of an event: like that of an email by its time, and by its number among events of the same time. */
export function positionOfEvent({ at, seq }: { at: Date; seq: number }): string {
  return `${at.getTime().toString(16).padStart(12, '0')}${String(seq).padStart(20, '0')}`;
}
