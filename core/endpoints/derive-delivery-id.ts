import { createHash } from 'node:crypto';
import { makeIdentifier } from '../shared/identifiers.ts';

/**
 * Returns the ID of the first delivery of an event to an endpoint. It is derived from both, so that a program that pulls the requests of
 * an endpoint gets the `webhook-id` with which the event is posted there, whether or not the delivery is stored yet.
 */
export function deriveDeliveryId(endpointId: string, { id, at }: { id: string; at: Date }): string {
  return makeIdentifier('delivery', at, createHash('sha256').update(`${endpointId} ${id}`).digest());
}
