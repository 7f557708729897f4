import { ACCESS } from '../../core/accounts/rights.ts';
import { readWebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as deliveries from '../../db/queries/endpoints/delivery-retry.ts';
import type { DeliverySummary } from '../../db/queries/endpoints/delivery-row.ts';
import { requireAccessNow } from '../accounts/key-grants.ts';
import { emailNotFound, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import {
  decideCurrentRoute,
  deliverTo,
  endpointNotFound,
  isHeld,
  storedMail,
  type Transaction,
} from '../routing/current-route.ts';

/** The target of a retry: an endpoint, the endpoint of a delivery, or (both null) the current route. */
export interface RetryInput {
  endpointId: string | null;
  deliveryId: string | null;
}

/**
 * Delivers a received email again at once, as a new delivery; a delivery that is still pending there is attempted now
 * instead. Guard rules apply unless an endpoint or delivery is given. Returns the delivery ids, at least one. Throws
 * not_found, validation, conflict, rate_limited.
 */
export async function retryEmail(context: OperationContext, emailId: string, input: RetryInput): Promise<string[]> {
  const { bus, database, workspaceId } = context;
  if (!isValidId(emailId)) throw emailNotFound();
  const retry = () =>
    asWorkspace(database, workspaceId, async (transaction) => {
      await requireAccessNow(context, transaction, 'Delivering an email again', ACCESS.sendAndReadAccount);
      const email = await deliveries.lockReceived(transaction, workspaceId, emailId);
      if (email === null) throw emailNotFound();
      if (email.type !== 'received')
        throw new UserError('validation', 'Only received emails can be delivered again', { isOfState: true });
      if (input.endpointId !== null && input.deliveryId !== null)
        throw invalid('Give either endpoint_id or delivery_id', 'delivery_id');
      if (!email.isRouted)
        throw new UserError('conflict', 'The email has just come in and is about to be delivered. Retry shortly.');
      const target = await readTarget(context, transaction, { emailId, email, input });
      return [await deliverTo(context, transaction, emailId, email, target, 'retry')];
    });
  const deliveryIds = await waitUntilParsed(context, [emailId], retry);
  bus.wake('delivery.deliver.wake', { workspaceId, deliveryIds });
  return deliveryIds;
}

/** Posts the event of an unsuccessful delivery again, like retryEmail. Returns the delivery id. Throws not_found, validation. */
export async function retryEvent(
  context: OperationContext,
  { id: deliveryId, endpointId, status }: Pick<DeliverySummary, 'id' | 'endpointId' | 'status'>,
): Promise<string> {
  const { bus, database, workspaceId } = context;
  if (status === 'success') throw alreadySucceeded();
  const again = await asWorkspace(database, workspaceId, async (transaction) => {
    await requireAccessNow(context, transaction, 'Delivering an event again', ACCESS.sendAndReadAccount);
    const [target] = await deliveries.findTargets(transaction, workspaceId, [endpointId]);
    if (target === undefined || !(await deliveries.holdTarget(transaction, workspaceId, endpointId)))
      throw endpointNotFound();
    return deliveries.deliverEventNow(transaction, workspaceId, deliveryId, {
      id: newIdentifier(context, 'delivery'),
      attemptsAllowed: 1 + readWebhookConfig(target.config).retryAttempts,
    });
  });
  bus.wake('delivery.deliver.wake', { workspaceId, deliveryIds: [again] });
  return again;
}

interface Asked {
  emailId: string;
  email: deliveries.LockedReceived;
  input: RetryInput;
}

/** Returns the active endpoint that the input selects. */
async function readTarget(
  context: OperationContext,
  transaction: Transaction,
  asked: Asked,
): Promise<deliveries.TargetEndpoint> {
  const { workspaceId } = context;
  const { endpointId, deliveryId } = asked.input;
  if (endpointId === null && deliveryId === null) return readRoute(context, transaction, asked);
  const wanted =
    deliveryId === null ? endpointId : await endpointOfDelivery(transaction, workspaceId, asked.emailId, deliveryId);
  const [target] =
    wanted === null || !isValidId(wanted) ? [] : await deliveries.findTargets(transaction, workspaceId, [wanted]);
  if (target === undefined || !target.isActive) throw endpointNotFound();
  return target;
}

async function endpointOfDelivery(
  transaction: Transaction,
  workspaceId: string,
  emailId: string,
  deliveryId: string,
): Promise<string> {
  const found = isValidId(deliveryId)
    ? await deliveries.findDelivery(transaction, workspaceId, emailId, deliveryId)
    : null;
  if (found === null) throw new UserError('not_found', 'Delivery not found for this email');
  if (found.status === 'success') throw alreadySucceeded();
  return found.endpointId;
}

async function readRoute(
  context: OperationContext,
  transaction: Transaction,
  { emailId, email }: Asked,
): Promise<deliveries.TargetEndpoint> {
  if (isHeld(email)) throw held('The email is held back by a guard rule. Release it, or name an endpoint.');
  const mail = storedMail(transaction, context.workspaceId, emailId, email);
  const { decision, target, rules } = await decideCurrentRoute(context, transaction, mail);
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

/** A retry does not help. */
function held(message: string): UserError {
  return new UserError('conflict', message, { reason: 'EMAIL_HELD', isFinal: true });
}
