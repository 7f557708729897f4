import { readWebhookConfig } from '../core/endpoint-config.ts';
import { UserError } from '../core/errors.ts';
import { chooseRoute } from '../core/route.ts';
import { asUser } from '../db/database.ts';
import * as deliveries from '../db/queries/delivery-retry.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from './context.ts';

/** Where a received email is to go again: to one endpoint, where one delivery went, or (both null) wherever its route leads now. */
export interface RetryWish {
  endpointId: string | null;
  deliveryId: string | null;
}

type Transaction = Parameters<typeof deliveries.lockReceived>[0];

/**
 * Delivers a received email again, at once, in a new delivery for each endpoint; where one is still pending, that is tried now instead.
 * Answers the ids of the deliveries, at least one. Throws not_found, validation, conflict.
 */
export async function retryEmail(context: OperationContext, emailId: string, wish: RetryWish): Promise<string[]> {
  const { bus, database, userId } = context;
  if (!isAskable(emailId)) throw emailNotFound();
  const deliveryIds = await asUser(database, userId, async (transaction) => {
    const email = await deliveries.lockReceived(transaction, userId, emailId);
    if (email === null) throw emailNotFound();
    if (email.type !== 'received') throw new UserError('validation', 'Only received emails can be delivered again');
    if (wish.endpointId !== null && wish.deliveryId !== null)
      throw invalid('Give either endpoint_id or delivery_id', 'delivery_id');
    if (!email.isRouted)
      throw new UserError('conflict', 'The email has just come in and is about to be delivered. Retry shortly.');
    const target = await targetOf(context, transaction, { emailId, email, wish });
    if (target.type !== 'webhook')
      throw invalid(`Endpoints of type ${target.type} cannot deliver yet. Only webhooks can.`, 'endpoint_id');
    const { threadId, threadPosition } = email;
    const id = newIdentifier(context, 'delivery');
    const attemptsAllowed = 1 + readWebhookConfig(target.config).retryAttempts;
    const { id: endpointId, type } = target;
    const delivery = { id, emailId, endpointId, type, threadId, threadPosition, attemptsAllowed };
    return [await deliveries.deliverNow(transaction, userId, delivery)];
  });
  bus.wake('delivery.deliver.wake', { userId, deliveryIds });
  return deliveryIds;
}

interface Asked {
  emailId: string;
  email: deliveries.LockedReceived;
  wish: RetryWish;
}

/** The active endpoint that the wish means. */
async function targetOf(
  { userId }: OperationContext,
  transaction: Transaction,
  { emailId, email, wish }: Asked,
): Promise<deliveries.TargetEndpoint> {
  const { endpointId, deliveryId } = wish;
  if (endpointId === null && deliveryId === null) return routeOf(transaction, userId, email);
  const wanted = deliveryId === null ? endpointId : await endpointOfDelivery(transaction, userId, emailId, deliveryId);
  const [target] =
    wanted === null || !isAskable(wanted) ? [] : await deliveries.findTargets(transaction, userId, [wanted]);
  if (target === undefined || !target.isActive) throw endpointNotFound();
  return target;
}

async function endpointOfDelivery(
  transaction: Transaction,
  userId: string,
  emailId: string,
  deliveryId: string,
): Promise<string> {
  const found = isAskable(deliveryId) ? await deliveries.findDelivery(transaction, userId, emailId, deliveryId) : null;
  if (found === null) throw new UserError('not_found', 'Delivery not found for this email');
  if (found.status === 'success')
    throw invalid('Delivery already succeeded. Use resend to deliver again.', 'delivery_id');
  return found.endpointId;
}

async function routeOf(
  transaction: Transaction,
  userId: string,
  { facts }: deliveries.LockedReceived,
): Promise<deliveries.TargetEndpoint> {
  const { address, domain } = facts;
  const ids = [address?.endpointId, address?.webhookId, domain?.catchAllEndpointId].filter((id) => id != null);
  const targets = new Map(
    (await deliveries.findTargets(transaction, userId, ids)).map((target) => [target.id, target]),
  );
  const route = chooseRoute(facts, (id) => targets.get(id));
  const target = route.kind === 'endpoint' ? targets.get(route.endpointId) : undefined;
  if (target !== undefined) return target;
  if (route.kind === 'inactive') throw endpointNotFound();
  throw new UserError('not_found', 'No endpoint is configured for this email');
}

/** wire facts "retry errors" */
function endpointNotFound(): UserError {
  return new UserError('not_found', 'Endpoint not found or is inactive');
}

function emailNotFound(): UserError {
  return new UserError('not_found', 'Email not found');
}
