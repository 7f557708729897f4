import { UserError } from '../core/errors.ts';
import type { Page } from '../core/page.ts';
import { asUser } from '../db/database.ts';
import * as lists from '../db/queries/delivery-list.ts';
import { isAskable, type OperationContext } from './context.ts';

export const DELIVERY_STATUSES = ['pending', 'success', 'failed'] as const;

export type Delivery = lists.Delivery;

/** A page of what was delivered to an endpoint, newest first, with the exact total. Throws not_found. */
export function listEndpointDeliveries(
  context: OperationContext,
  endpointId: string,
  query: { status?: lists.DeliveryStatus | undefined },
  page: Page,
): Promise<{ deliveries: Delivery[]; total: number }> {
  return asUser(context.database, context.userId, async (transaction) => {
    const { userId } = context;
    const found = isAskable(endpointId)
      ? await transaction
          .selectFrom('endpoint')
          .select(['id', 'type'])
          .where('user_id', '=', userId)
          .where('id', '=', endpointId)
          .executeTakeFirst()
      : undefined;
    if (found === undefined) throw new UserError('not_found', 'Endpoint not found');
    return lists.listDeliveries(transaction, userId, { endpointId, type: found.type }, query.status ?? null, page);
  });
}

/** A page of the deliveries of an email, newest first, with the exact total; sent mail has none. Throws not_found. */
export function listEmailDeliveries(
  context: OperationContext,
  emailId: string,
  query: { status?: lists.DeliveryStatus | undefined },
  page: Page,
): Promise<{ deliveries: Delivery[]; total: number }> {
  return asUser(context.database, context.userId, async (transaction) => {
    const { userId } = context;
    const found = isAskable(emailId)
      ? await transaction
          .selectFrom('email')
          .select('id')
          .where('user_id', '=', userId)
          .where('id', '=', emailId)
          .executeTakeFirst()
      : undefined;
    if (found === undefined) throw new UserError('not_found', 'Email not found');
    return lists.listDeliveries(transaction, userId, { emailId }, query.status ?? null, page);
  });
}
