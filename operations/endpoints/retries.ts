import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import * as deliveries from '../../db/queries/endpoints/delivery-retry.ts';
import { invalid, isAskable, type OperationContext } from '../context.ts';
import {
  decideNow,
  deliverTo,
  emailNotFound,
  endpointNotFound,
  isHeld,
  storedMail,
  type Transaction,
} from '../routing/route-now.ts';

/** Where a received email is to go again: to one endpoint, where one delivery went, or (both null) wherever its route leads now. */
export interface RetryWish {
  endpointId: string | null;
  deliveryId: string | null;
}

/**
 * Delivers a received email again, at once, in a new delivery for each endpoint; where one is still pending, that is tried now instead.
 * Guard rules are asked unless an endpoint or a delivery is named. Answers the ids of the deliveries, at least one.
 * Throws not_found, validation, conflict, rate_limited.
 */
export async function retryEmail(context: OperationContext, emailId: string, wish: RetryWish): Promise<string[]> {
  const { bus, database, userId } = context;
  if (!isAskable(emailId)) throw emailNotFound();
  const deliveryIds = await asUser(database, userId, async (transaction) => {
    const email = await deliveries.lockReceived(transaction, userId, emailId);
    if (email === null) throw emailNotFound();
    if (email.type !== 'received')
      throw new UserError('validation', 'Only received emails can be delivered again', { isOfState: true });
    if (wish.endpointId !== null && wish.deliveryId !== null)
      throw invalid('Give either endpoint_id or delivery_id', 'delivery_id');
    if (!email.isRouted)
      throw new UserError('conflict', 'The email has just come in and is about to be delivered. Retry shortly.');
    const target = await targetOf(context, transaction, { emailId, email, wish });
    return [await deliverTo(context, transaction, emailId, email, target, 'retry')];
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
  context: OperationContext,
  transaction: Transaction,
  asked: Asked,
): Promise<deliveries.TargetEndpoint> {
  const { userId } = context;
  const { endpointId, deliveryId } = asked.wish;
  if (endpointId === null && deliveryId === null) return routeOf(context, transaction, asked);
  const wanted =
    deliveryId === null ? endpointId : await endpointOfDelivery(transaction, userId, asked.emailId, deliveryId);
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
  if (found.status === 'success') throw alreadySucceeded();
  return found.endpointId;
}

async function routeOf(
  context: OperationContext,
  transaction: Transaction,
  { emailId, email }: Asked,
): Promise<deliveries.TargetEndpoint> {
  if (isHeld(email)) throw held('The email is held back by a guard rule. Release it, or name an endpoint.');
  const mail = storedMail(transaction, context.userId, emailId, email);
  const { decision, target, rules } = await decideNow(context, transaction, mail);
  if (target !== null) return target;
  const rule = rules.find(({ id }) => id === decision.ruleId)?.name ?? '';
  switch (decision.outcome) {
    case 'endpoint':
    case 'inactive':
      throw endpointNotFound();
    case 'stored':
      throw new UserError('not_found', 'No endpoint is configured for this email');
    case 'blocked':
      throw held(
        `The guard rule “${rule}” would hold the email back now. Name an endpoint to deliver it all the same.`,
      );
    case 'review':
      throw held(`The email would be held for review now: ${decision.reason ?? ''}. Name an endpoint to deliver it.`);
    case 'asking':
      throw held(`The model of the guard rule “${rule}” would have to be asked first. Name an endpoint to deliver it.`);
  }
}

function alreadySucceeded(): UserError {
  const message = 'Delivery already succeeded. Use resend to deliver again.';
  return new UserError('validation', message, { details: [{ field: 'delivery_id', message }], isOfState: true });
}

/** Trying again does not help. */
function held(message: string): UserError {
  return new UserError('conflict', message, { reason: 'EMAIL_HELD', isFinal: true });
}
