import type { OperationContext } from '../../../operations/context.ts';
import type { Delivery } from '../../../operations/endpoints/deliveries.ts';
import { deliveryResource } from '../../../operations/endpoints/delivery-capability.ts';
import { plainWireObject } from '../wire-object.ts';

const { shape, writeRow } = plainWireObject(deliveryResource, 'camel');

/** A delivery with all its attempts, as a part of other objects. */
export const deliveryBody = shape;

export function writeDelivery(context: OperationContext, delivery: Delivery): Record<string, unknown> {
  return writeRow(context, delivery);
}
