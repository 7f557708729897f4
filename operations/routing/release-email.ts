import { ACCESS } from '../../core/accounts/rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { appendEvents, setFlags } from '../../db/queries/emails/email-flags.ts';
import * as deliveries from '../../db/queries/endpoints/delivery-retry.ts';
import { requireAccessNow } from '../accounts/key-grants.ts';
import { emailNotFound, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { deliverTo, normalTarget } from './current-route.ts';

/** A released email. */
export interface ReleasedEmail {
  releasedAt: Date;
  /** empty when its route has no active endpoint */
  deliveryIds: string[];
}

/**
 * Releases an email that a guard rule blocked or held for review: it is delivered as if there were no guard rules, and
 * comes to the inbox as unread. Of concurrent releases one succeeds. Throws not_found, validation.
 */
export async function releaseEmail(context: OperationContext, emailId: string): Promise<ReleasedEmail> {
  const { bus, database, workspaceId } = context;
  if (!isValidId(emailId)) throw emailNotFound();
  const { lastSeq, ...released } = await asWorkspace(database, workspaceId, async (transaction) => {
    await requireAccessNow(context, transaction, 'Releasing an email', ACCESS.endpoints);
    const email = await deliveries.lockReceived(transaction, workspaceId, emailId);
    if (email === null) throw emailNotFound();
    if (email.type !== 'received')
      throw new UserError('validation', 'Only received emails can be released', { isOfState: true });
    const releasedAt = await deliveries.markReleased(transaction, workspaceId, emailId);
    if (releasedAt === null) throw new UserError('validation', 'The email is not held back', { isOfState: true });
    await setFlags(transaction, workspaceId, [emailId], { isArchived: false, isRead: false });
    const target = await normalTarget(transaction, workspaceId, email);
    const deliveryIds =
      target === null ? [] : [await deliverTo(context, transaction, emailId, email, target, 'release')];
    const event = {
      id: newIdentifier(context, 'event'),
      kind: 'email.released',
      emailId,
      ...(email.threadId === null ? {} : { threadId: email.threadId }),
      data: { ruleId: email.ruleId, deliveryIds },
    };
    return { releasedAt, deliveryIds, lastSeq: await appendEvents(transaction, workspaceId, [event]) };
  });
  bus.publish('event.appended', { workspaceId, lastSeq });
  if (released.deliveryIds.length > 0)
    bus.wake('delivery.deliver.wake', { workspaceId, deliveryIds: released.deliveryIds });
  return released;
}
